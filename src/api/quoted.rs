//! Members that every quote has.

use serde_json::{Value, json};

use crate::app::App;
use crate::domain::render::Render;

/// Whether the browser of this service works, by its latest use or check; absent where there is none. Without it the plain
/// page is sold.
pub fn add_rendering(app: &App, body: &mut Value, render: Option<Render>) {
    if app.outside.renderer.is_none() {
        return;
    }
    body["rendering"] = json!({"available": app.health.renderer().trouble.is_none()});
    if let Some(render) = render {
        body["rendering"]["render"] = json!(render);
    }
}

//! Signing in to the operator's console: whoever shows the token is given a cookie that stands for it.

use crate::app::Shared;
use crate::outside::chance;

/// A cookie for whoever has shown this; `None` when it is not the token, or there is none.
pub fn open(app: &Shared, shown: &str) -> Option<String> {
    let sessions = app.config.operator.as_ref()?;
    if !sessions.is_token(shown) {
        tracing::warn!("somebody tried to sign in to the console with a wrong token");
        return None;
    }
    Some(sessions.open(app.now().0, chance::bytes()))
}

//! Signing in to the operator's console and out of it: anyone who shows the token is given a cookie that stands for it,
//! until it expires or is signed out.

use crate::app::Shared;
use crate::outside::chance;
use crate::signing::session::Session;
use crate::store::StoreError;

/// A cookie for anyone who has shown this; `None` when it is not the token, or there is none.
pub fn open(app: &Shared, shown: &str) -> Option<String> {
    let sessions = app.config.operator.as_ref()?;
    if !sessions.is_token(shown) {
        tracing::warn!("somebody tried to sign in to the console with a wrong token");
        return None;
    }
    Some(sessions.open(app.now().0, chance::bytes()))
}

/// The session that a cookie stands for. `None` when the cookie is none of ours, has expired, or was signed out.
pub async fn session(app: &Shared, cookie: &str) -> Result<Option<Session>, StoreError> {
    let sessions = app.config.operator.as_ref();
    let Some(session) = sessions.and_then(|sessions| sessions.read(cookie, app.now().0)) else {
        return Ok(None);
    };
    let id = session.id;
    let is_ended = app
        .store
        .read(move |snapshot| snapshot.is_session_ended(id));
    Ok((!is_ended.await?).then_some(session))
}

/// Ends a session: its cookie opens nothing from now on, after a restart neither.
pub async fn close(app: &Shared, session: &Session) -> Result<(), StoreError> {
    let (id, expires_at, now) = (session.id, session.expires_at, app.now());
    app.store
        .write(move |tables| tables.end_session(id, expires_at, now))
        .await
}

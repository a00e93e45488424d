//! Sign-in and sign-out of the operator's console. A correct token yields a session cookie that is valid until it expires
//! or is signed out.

use crate::app::Shared;
use crate::domain::time::UnixSeconds;
use crate::outside::chance;
use crate::signing::session::Session;
use crate::store::StoreError;

/// A session cookie for the token; `None` if the token is wrong or none is configured.
pub fn open(app: &Shared, shown: &str) -> Option<String> {
    let sessions = app.config.operator.as_ref()?;
    if !sessions.is_token(shown) {
        tracing::warn!("console sign-in failed: wrong token");
        return None;
    }
    Some(sessions.open(app.now().0, chance::bytes()))
}

/// The address of a new one-time link and when it expires; `None` if the console is disabled.
pub fn issue_link(app: &Shared, lasts_seconds: u64) -> Option<(String, UnixSeconds)> {
    app.config.operator.as_ref()?;
    let links = &app.sign_in_links;
    let (code, expires_at) = links.issue(chance::bytes(), app.now(), lasts_seconds);
    Some((
        format!("{}/operator?link={code}", app.config.base_url),
        expires_at,
    ))
}

/// A session cookie for the code of a one-time link, which is used up.
pub fn open_by_link(app: &Shared, code: &str) -> Option<String> {
    let sessions = app.config.operator.as_ref()?;
    if !app.sign_in_links.take(code, app.now()) {
        tracing::warn!("console sign-in failed: the link is unknown, used or expired");
        return None;
    }
    Some(sessions.open(app.now().0, chance::bytes()))
}

/// The session of a cookie. `None` if the cookie is invalid, expired or signed out.
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

/// Ends a session permanently, also across restarts.
pub async fn close(app: &Shared, session: &Session) -> Result<(), StoreError> {
    let (id, expires_at, now) = (session.id, session.expires_at, app.now());
    app.store
        .write(move |tables| tables.end_session(id, expires_at, now))
        .await
}

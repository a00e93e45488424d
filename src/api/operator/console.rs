//! The operator's console: sign-in, views and forms. Views and forms use the same functions as the operator's JSON API.
//! Only this module decides access: a session cookie stands for the token, and changes must be posted from our own pages.

mod acts;
mod daily_ledger;
mod limits;
mod live;
mod payments;
mod sales;
mod show;
mod today;
mod upkeep;

use std::collections::HashMap;

use serde_json::json;

use crate::api::operator::export;
use crate::api::{failure, frame};
use crate::app::{App, Shared};
use crate::domain::code::Code;
use crate::domain::refusal::Refusal;
use crate::flows::operations::sign_in;
use crate::http::call::Query;
use crate::http::{Call, Reply};
use crate::pages::console::{
    BACK_FIELD, Block, ConsoleView, DISABLED, HOME_PATH, TOKEN_FIELD, Tone, VIEWS_PATH,
    closed_page, is_view, link_page, login_page, page,
};
use crate::signing::session::{SESSION_SECONDS, Session};
use crate::state::sign_in_links::SIGN_IN_LINK_SECONDS;

const COOKIE: &str = "context402_operator";
/// The view that returns a file.
const EXPORT: &str = "export";
/// The act that only redirects, so that no e-mail address stands in a form's action.
const LOOK_UP: &str = "look-up";
/// Maximum number of fields in a form.
const FIELDS_MAX: usize = 32;

/// A view's title and contents.
struct View {
    title: String,
    blocks: Vec<Block>,
}

impl View {
    fn new(title: impl Into<String>, blocks: Vec<Block>) -> View {
        View {
            title: title.into(),
            blocks,
        }
    }
}

/// GET /operator: the Today view, or the sign-in form.
pub async fn home(app: Shared, call: Call) -> Reply {
    match session(&app, &call).await {
        Ok(session) => show_page(&app, &call, &session, "today", None).await,
        // The page exists and says why the console is disabled.
        Err(NoSession::Disabled) => disabled_page(&app, 200),
        // A link is used up by a click only: mail programs and chats open the links they show.
        Err(NoSession::SignedOut) => match call.query.get("link") {
            Some(code) => operators_page(Reply::html(
                200,
                link_page(frame::site(&app, &frame::Texts::of(&app)), &code),
            )),
            None => {
                let back = call.query.get(BACK_FIELD).unwrap_or_default();
                login(&app, 200, None, known_place(&back))
            }
        },
        Err(NoSession::Failed(refusal)) => failure::page(&app, &refusal, &call),
    }
}

/// POST /operator/sign-in-link: a one-time link, for who has the socket or the token.
pub async fn link(app: Shared, call: Call) -> Reply {
    match sign_in::issue_link(&app, SIGN_IN_LINK_SECONDS) {
        Some((url, expires_at)) => Reply::json(
            200,
            json!({"url": url, "expires_at": expires_at.0}).to_string(),
        )
        .no_store(),
        None => {
            let refusal = Refusal::new(Code::NotFound, DISABLED);
            failure::reply(&app, &refusal, &call)
        }
    }
}

/// GET /operator/console/{name}.
pub async fn view(app: Shared, call: Call) -> Reply {
    match session(&app, &call).await {
        Ok(session) => {
            show_page(
                &app,
                &call,
                &session,
                call.param("name").unwrap_or_default(),
                None,
            )
            .await
        }
        Err(NoSession::Disabled) => disabled_page(&app, 404),
        Err(NoSession::SignedOut) => Reply::redirect(303, &sign_in_for(&here(&call))).no_store(),
        Err(NoSession::Failed(refusal)) => failure::page(&app, &refusal, &call),
    }
}

/// The sign-in form that leads on to a view.
fn sign_in_for(path: &str) -> String {
    let path: String = url::form_urlencoded::byte_serialize(path.as_bytes()).collect();
    format!("{HOME_PATH}?{BACK_FIELD}={path}")
}

/// POST /operator/login.
pub async fn sign_in(app: Shared, call: Call) -> Reply {
    if app.config.operator.is_none() {
        return disabled_page(&app, 404);
    }
    if !is_from_here(&app, &call) {
        return failure::page(&app, &foreign(), &call);
    }
    let mut fields = fields(&call);
    let back = fields.remove(BACK_FIELD).unwrap_or_default();
    let (cookie, trouble) = match fields.remove("link") {
        Some(code) => (
            sign_in::open_by_link(&app, &code),
            "The link was used before or has expired. Create another with `context402 console`, or use the token.",
        ),
        None => {
            let shown = fields.remove("token").unwrap_or_default();
            (sign_in::open(&app, shown.trim()), "Wrong token.")
        }
    };
    match cookie {
        None => login(&app, 401, Some(trouble), known_place(&back)),
        Some(cookie) => Reply::redirect(303, known_place(&back))
            .no_store()
            .header("set-cookie", &set_cookie(&app, &cookie, SESSION_SECONDS)),
    }
}

/// POST /operator/logout: ends the session on the server too.
pub async fn sign_out(app: Shared, call: Call) -> Reply {
    if !is_from_here(&app, &call) {
        return failure::page(&app, &foreign(), &call);
    }
    let ended = match session(&app, &call).await {
        Ok(session) if !is_form_of(&app, &session, &fields(&call)) => Err(foreign()),
        Ok(session) => sign_in::close(&app, &session).await.map_err(Refusal::from),
        Err(NoSession::Failed(refusal)) => Err(refusal),
        Err(NoSession::Disabled | NoSession::SignedOut) => Ok(()),
    };
    match ended {
        Ok(()) => Reply::redirect(303, HOME_PATH)
            .no_store()
            .header("set-cookie", &set_cookie(&app, "", 0)),
        Err(refusal) => failure::page(&app, &refusal, &call),
    }
}

/// POST /operator/console/{name}: performs the form's act and redirects back.
pub async fn act(app: Shared, call: Call) -> Reply {
    let session = match session(&app, &call).await {
        Ok(session) => session,
        Err(NoSession::Disabled) => return disabled_page(&app, 404),
        Err(NoSession::SignedOut) => return Reply::redirect(303, HOME_PATH).no_store(),
        Err(NoSession::Failed(refusal)) => return failure::page(&app, &refusal, &call),
    };
    let fields = fields(&call);
    let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
    if !is_form_of(&app, &session, &fields) || !is_from_here(&app, &call) {
        return failure::page(&app, &foreign(), &call);
    }
    let name = call.param("name").unwrap_or_default();
    if name == LOOK_UP {
        return Reply::redirect(303, &person(field("email"))).no_store();
    }
    match acts::run(&app, name, &fields).await {
        Ok(()) => Reply::redirect(303, &back(field(BACK_FIELD), name)).no_store(),
        Err(refusal) => refused_form(&app, &call, &session, &fields, &refusal).await,
    }
}

/// A form whose act was refused.
struct RefusedForm<'a> {
    act: &'a str,
    fields: &'a HashMap<String, String>,
    /// Why, as a sentence.
    message: &'a str,
}

impl RefusedForm<'_> {
    /// What was typed.
    fn field(&self, name: &str) -> &str {
        self.fields
            .get(name)
            .map(|text| text.trim())
            .unwrap_or_default()
    }
}

/// The view that the form stands in, with the reason. What was typed stays in the fields of settings.
async fn refused_form(
    app: &Shared,
    call: &Call,
    session: &Session,
    fields: &HashMap<String, String>,
    refusal: &Refusal,
) -> Reply {
    let back = fields.get(BACK_FIELD).map(String::as_str);
    let (path, query) = split_query(back.unwrap_or_default());
    let view = match path.strip_prefix(VIEWS_PATH) {
        Some(name) if is_view(name) => name,
        _ => "today",
    };
    let refused = RefusedForm {
        act: call.param("name").unwrap_or_default(),
        fields,
        message: &refusal.message,
    };
    let shown = Call {
        path: crate::pages::console::path(view),
        query: Query(query.to_owned()),
        ..call.clone()
    };
    let mut reply = show_page(app, &shown, session, view, Some(&refused)).await;
    reply.status = failure::status(refusal.code);
    reply
}

async fn show_page(
    app: &Shared,
    call: &Call,
    session: &Session,
    name: &str,
    refused: Option<&RefusedForm<'_>>,
) -> Reply {
    if name == EXPORT {
        return exported(app, call);
    }
    let made = match name {
        "today" => today::today(app).await,
        "payments" => payments::payments(app, call).await,
        "ledger" => daily_ledger::ledger(app).await,
        "leads" => sales::leads(app, call).await,
        "orders" => sales::orders(app, call).await,
        "events" => sales::events(app, call).await,
        "reports" => upkeep::reports(app, call).await,
        "outbox" => upkeep::outbox(app, call).await,
        "data" => upkeep::data(app, call).await,
        "limits" => limits::limits(app, refused).await,
        "health" => upkeep::health(app).await,
        "config" => Ok(upkeep::config(app, call, refused)),
        "changes" => upkeep::changes(app).await,
        _ => Err(Refusal::of(Code::NotFound)),
    };
    match made {
        Ok(view) => framed(app, call, session, name, view, refused),
        Err(refusal) => {
            let note = Block::Note {
                text: refusal.message.clone(),
                tone: Tone::Bad,
            };
            let title = match refusal.code {
                Code::NotFound => "Not found",
                _ => "Not possible",
            };
            let view = View::new(title, vec![note]);
            let mut reply = framed(app, call, session, name, view, None);
            reply.status = failure::status(refusal.code);
            reply
        }
    }
}

fn framed(
    app: &App,
    call: &Call,
    session: &Session,
    name: &str,
    view: View,
    refused: Option<&RefusedForm<'_>>,
) -> Reply {
    let Some(sessions) = &app.config.operator else {
        return disabled_page(app, 404);
    };
    let done = call.query.get("done");
    let done = done.as_deref();
    let done = done.and_then(|act| acts::confirmation(app, act));
    let html = page(&ConsoleView {
        site: frame::site(app, &frame::Texts::of(app)),
        view: name,
        path: &here(call),
        title: &view.title,
        done,
        trouble: refused.map(|refused| refused.message),
        paused_since: app.health.paused_since(),
        form_token: &sessions.form_token(session),
        blocks: view.blocks,
    });
    operators_page(Reply::html(200, html))
}

fn exported(app: &Shared, call: &Call) -> Reply {
    let text = |name: &str| call.query.get(name).map(|text| text.into_owned());
    let what = text("what").unwrap_or_default();
    match export::exported(app, &what, text("format").as_deref()) {
        Ok(file) => file.no_store(),
        Err(refusal) => failure::page(app, &refusal, call),
    }
}

/// The view with all data about a person.
fn person(email: &str) -> String {
    let email: String = url::form_urlencoded::byte_serialize(email.trim().as_bytes()).collect();
    format!("{VIEWS_PATH}data?email={email}")
}

/// The path of this view, without the result of the last act.
fn here(call: &Call) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in url::form_urlencoded::parse(call.query.0.as_bytes()) {
        if name != "done" {
            query.append_pair(&name, &value);
        }
    }
    match query.finish() {
        query if query.is_empty() => call.path.clone(),
        query => format!("{}?{query}", call.path),
    }
}

fn split_query(path: &str) -> (&str, &str) {
    path.split_once('?').unwrap_or((path, ""))
}

/// A view of the console, or its home for anything else.
fn known_place(path: &str) -> &str {
    let (whole, _) = split_query(path);
    let is_here = whole == HOME_PATH || whole.strip_prefix(VIEWS_PATH).is_some_and(is_view);
    if is_here { path } else { HOME_PATH }
}

/// Redirects only to views of the console.
fn back(path: &str, done: &str) -> String {
    let path = known_place(path);
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}done={done}")
}

/// Why access is refused.
enum NoSession {
    /// No token is configured.
    Disabled,
    /// Not signed in, or the session has ended.
    SignedOut,
    /// The sign-in could not be checked.
    Failed(Refusal),
}

/// Maximum number of cookies read per request.
const COOKIES_MAX: usize = 4;

async fn session(app: &Shared, call: &Call) -> Result<Session, NoSession> {
    if app.config.operator.is_none() {
        return Err(NoSession::Disabled);
    }
    let cookies = call.headers.get_all("cookie").iter();
    let cookies = cookies.filter_map(|value| value.to_str().ok());
    let values = cookies
        .flat_map(|text| text.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE)
        .take(COOKIES_MAX);
    for (_, value) in values {
        let found = sign_in::session(app, value).await;
        if let Some(session) = found.map_err(|error| NoSession::Failed(error.into()))? {
            return Ok(session);
        }
    }
    Err(NoSession::SignedOut)
}

/// Whether a form carries this session's CSRF token.
fn is_form_of(app: &App, session: &Session, fields: &HashMap<String, String>) -> bool {
    let shown = fields.get(TOKEN_FIELD).map(String::as_str);
    let sessions = app.config.operator.as_ref();
    sessions.is_some_and(|sessions| sessions.is_form_token(session, shown.unwrap_or_default()))
}

/// Limited to the console's path, HttpOnly, SameSite=Strict.
fn set_cookie(app: &App, value: &str, seconds: u64) -> String {
    let secure = if app.config.base_url.starts_with("https://") {
        "; Secure"
    } else {
        ""
    };
    format!(
        "{COOKIE}={value}; Path={HOME_PATH}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
    )
}

/// Whether the browser reports that a form was posted from our own page.
fn is_from_here(app: &App, call: &Call) -> bool {
    call.header("origin") == Some(app.config.base_url.as_str())
}

fn foreign() -> Refusal {
    Refusal::new(
        Code::InvalidRequest,
        "The form was not sent from the console, or the session has expired. Open the console at base_url and try again.",
    )
}

fn fields(call: &Call) -> HashMap<String, String> {
    url::form_urlencoded::parse(&call.body)
        .take(FIELDS_MAX)
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

fn disabled_page(app: &App, status: u16) -> Reply {
    let page = closed_page(frame::site(app, &frame::Texts::of(app)));
    operators_page(Reply::html(status, page))
}

fn login(app: &App, status: u16, trouble: Option<&str>, back: &str) -> Reply {
    operators_page(Reply::html(
        status,
        login_page(frame::site(app, &frame::Texts::of(app)), trouble, back),
    ))
}

/// Browsers send the Origin of a form only if the page's referrer policy allows it.
fn operators_page(reply: Reply) -> Reply {
    frame::with_page_headers(reply)
        .no_store()
        .fixed("referrer-policy", "same-origin")
        .fixed("x-robots-tag", "noindex")
}

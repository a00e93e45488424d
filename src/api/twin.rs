//! The markdown twin of every page: made from the page itself by the converter that is for sale, so that the two never say
//! different things.

use crate::api::failure;
use crate::app::Shared;
use crate::flows::{page, twin};
use crate::http::service::PageAsked;
use crate::http::{Answer, Reply};

/// The same answer with the page's main part as markdown.
pub fn as_markdown(app: Shared, asked: PageAsked, page: Reply) -> Answer {
    Box::pin(async move {
        let html = String::from_utf8_lossy(&page.body).into_owned();
        match twin::markdown(&app, &asked.path, html).await {
            Ok(markdown) => dressed(page, markdown),
            Err(refusal) => failure::plain(&app, &refusal, &asked.request_id),
        }
    })
}

fn dressed(html: Reply, markdown: String) -> Reply {
    let tokens = page::tokens(&markdown);
    let tag = html.headers.get("etag").and_then(|tag| tag.to_str().ok());
    let tag = tag.map(|tag| format!("{}-markdown\"", tag.trim_end_matches('"')));
    let mut reply = html
        .fixed("content-type", "text/markdown; charset=utf-8")
        .header("x-markdown-tokens", &tokens.to_string());
    reply.body = markdown.into();
    reply.headers.remove("content-security-policy");
    match tag {
        Some(tag) => reply.header("etag", &tag),
        None => reply,
    }
}

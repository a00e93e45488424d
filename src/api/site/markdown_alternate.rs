//! The markdown alternate of every page, made from the page by the converter. For a constant page it is made once and
//! shared by all responses.

use crate::api::failure;
use crate::app::Shared;
use crate::flows::content::markdown_alternate;
use crate::http::hooks::PageAsked;
use crate::http::{Answer, Bytes, Reply};
use crate::state::markdown_alternates::Markdown;

/// The same response with the page's main content as markdown.
pub fn as_markdown(app: Shared, asked: PageAsked, page: Reply) -> Answer {
    Box::pin(async move {
        let made = match page.is_shared {
            true => {
                markdown_alternate::alternate(&app, asked.pattern, &asked.path, page.body.clone())
                    .await
            }
            false => markdown_alternate::markdown(&app, &asked.path, page.body.clone()).await,
        };
        match made {
            Ok(markdown) => dressed(page, markdown),
            Err(refusal) => failure::plain(&app, &refusal, &asked.request_id),
        }
    })
}

fn dressed(html: Reply, markdown: Markdown) -> Reply {
    let Markdown { text, tokens } = markdown;
    let tag = html.headers.get("etag").and_then(|tag| tag.to_str().ok());
    let tag = tag.map(|tag| format!("{}-markdown\"", tag.trim_end_matches('"')));
    let mut reply = html
        .fixed("content-type", "text/markdown; charset=utf-8")
        .header("x-markdown-tokens", &tokens.to_string());
    reply.body = Bytes::from_owner(text);
    reply.headers.remove("content-security-policy");
    match tag {
        Some(tag) => reply.header("etag", &tag),
        None => reply,
    }
}

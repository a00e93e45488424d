//! A part of a page as the JSON members under which it is sold. The page itself stays as it is: it is what is cached, and
//! what a Proof Pack cites.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::domain::excerpt::Excerpt;
use crate::domain::words;
use crate::evidence::excerpt::{estimated, excerpt};
use crate::evidence::{Depth, Source};
use crate::markdown::{self, has_text, without};
use crate::state::page::{PageGoods, object, tokens};

/// How the tokens of an excerpt are counted, by name.
pub const TOKEN_METHOD: &str = "upper_estimate_v2";

/// Why there is nothing to sell.
#[derive(Debug)]
pub enum NoExcerpt {
    /// Nothing readable is left without what the buyer leaves out.
    Empty,
    /// Not one passage fits into the budget.
    TooSmall,
    /// The page's members are no JSON.
    Json(serde_json::Error),
}

impl From<serde_json::Error> for NoExcerpt {
    fn from(error: serde_json::Error) -> Self {
        NoExcerpt::Json(error)
    }
}

/// The part of a page that is asked for, as goods of its own.
pub fn excerpt_goods(
    page: &PageGoods,
    wanted: &Excerpt,
    depth: Depth,
) -> Result<PageGoods, NoExcerpt> {
    let mut members = object(&page.members)?;
    let Value::String(markdown) = members["markdown"].take() else {
        return Err(NoExcerpt::Empty);
    };
    let whole_sha256 = page.content_sha256.clone();
    let (text, facts) = part(&members, markdown, wanted, depth)?;
    let content_sha256 = hex::encode(Sha256::digest(&text));
    members["links"] = kept_links(&members["links"], &text, wanted);
    if let Some(headings) = facts.headings {
        members["headings"] = headings;
    }
    let stats = &mut members["stats"];
    stats["word_count"] = words::count(&text).into();
    stats["token_count"] = tokens(&text).into();
    stats["markdown_bytes"] = text.len().into();
    members["content_sha256"] = content_sha256.as_str().into();
    members["excerpt"] = json!({
        "query": wanted.query,
        "max_tokens": wanted.budget().and_then(|budget| budget.tokens),
        "max_characters": wanted.max_characters,
        "include_links": !wanted.omitted.links,
        "include_images": !wanted.omitted.images,
        "include_tables": !wanted.omitted.tables,
        "selector": wanted.selectors.include,
        "exclude_selector": wanted.selectors.exclude,
        "characters": text.chars().count(),
        "estimated_tokens": estimated(&text),
        "token_method": TOKEN_METHOD,
        "blocks_kept": facts.blocks_kept,
        "blocks_total": facts.blocks_total,
        "truncated": facts.is_truncated,
        "ranked_by_query": facts.is_ranked,
        "page_content_sha256": whole_sha256,
    });
    let tokens = tokens(&text);
    members["markdown"] = text.into();
    Ok(PageGoods::of(
        serde_json::to_vec(&members)?,
        content_sha256,
        tokens,
    ))
}

/// What was done to the text.
struct Facts {
    /// Absent where no heading was left out.
    headings: Option<Value>,
    blocks_kept: Option<usize>,
    blocks_total: Option<usize>,
    is_truncated: bool,
    is_ranked: bool,
}

fn part(
    page: &Value,
    markdown: String,
    wanted: &Excerpt,
    depth: Depth,
) -> Result<(String, Facts), NoExcerpt> {
    let text = match wanted.omitted.is_nothing() {
        true => markdown,
        false => without(
            &markdown,
            markdown::Omitted {
                links: wanted.omitted.links,
                images: wanted.omitted.images,
                tables: wanted.omitted.tables,
            },
        ),
    };
    if !has_text(&text) {
        return Err(NoExcerpt::Empty);
    }
    let Some(budget) = wanted.budget() else {
        let facts = Facts {
            headings: None,
            blocks_kept: None,
            blocks_total: None,
            is_truncated: false,
            is_ranked: false,
        };
        return Ok((text, facts));
    };
    let source = Source {
        title: page["metadata"]["title"].as_str(),
        language: page["metadata"]["language"].as_str(),
        text: &text,
    };
    let found = excerpt(&source, wanted.query.as_deref(), budget, depth);
    let found = found.ok_or(NoExcerpt::TooSmall)?;
    let headings = found.headings.iter();
    let headings = headings.map(|(level, text)| json!({"level": level, "text": text}));
    let facts = Facts {
        headings: found.is_truncated.then(|| headings.collect()),
        blocks_kept: Some(found.blocks_kept),
        blocks_total: Some(found.blocks_total),
        is_truncated: found.is_truncated,
        is_ranked: found.is_ranked,
    };
    Ok((found.text, facts))
}

/// The links of a page whose addresses stand in its part.
fn kept_links(links: &Value, text: &str, wanted: &Excerpt) -> Value {
    let Value::Array(links) = links else {
        return Value::Null;
    };
    if wanted.omitted.links {
        return json!([]);
    }
    if wanted.budget().is_none() {
        return links.clone().into();
    }
    let is_there = |link: &&Value| link["url"].as_str().is_some_and(|url| text.contains(url));
    links.iter().filter(is_there).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::excerpt::Omitted;
    use crate::domain::time::UnixSeconds;
    use crate::state::page::unfetched_page;

    const HTML: &str = "<html lang=en><head><title>Acme</title></head><body><main><h1>Acme</h1><p>Acme sells \
        <a href=https://a.example/kettles>kettles</a> and <a href=https://a.example/cups>cups</a> to people in the town.</p>\
        <h2>Returns</h2><p>Kettles are taken back within 30 days after they were delivered to the buyer.</p></main></body></html>";

    fn page() -> PageGoods {
        unfetched_page("https://a.example/", HTML, UnixSeconds(1_000))
            .expect("a page")
            .1
    }

    fn sold(wanted: &Excerpt) -> Value {
        excerpt_goods(&page(), wanted, Depth::Quick)
            .expect("an excerpt")
            .value()
            .expect("JSON")
    }

    #[test]
    fn an_excerpt_says_what_was_done() {
        let wanted = Excerpt {
            query: Some("When are kettles taken back?".to_owned()),
            max_characters: Some(110),
            ..Excerpt::default()
        };
        let sold = sold(&wanted);
        let text = "# Acme\n\n[…]\n\n## Returns\n\nKettles are taken back within 30 days after they were delivered to the buyer.";
        assert_eq!(sold["markdown"], text);
        let excerpt = &sold["excerpt"];
        assert_eq!(excerpt["characters"], text.chars().count());
        assert_eq!(excerpt["estimated_tokens"], estimated(text));
        assert_eq!(
            (&excerpt["blocks_kept"], &excerpt["blocks_total"]),
            (&json!(3), &json!(4))
        );
        assert_eq!(
            (&excerpt["truncated"], &excerpt["ranked_by_query"]),
            (&json!(true), &json!(true))
        );
        assert_eq!(excerpt["page_content_sha256"], page().content_sha256);
        assert_eq!(sold["content_sha256"], hex::encode(Sha256::digest(text)));
        assert_eq!(sold["links"], json!([]));
        assert_eq!(sold["headings"][1], json!({"level": 2, "text": "Returns"}));
        assert_eq!(sold["stats"]["markdown_bytes"], text.len());
    }

    #[test]
    fn links_are_left_out_of_text_and_list() {
        let wanted = Excerpt {
            omitted: Omitted {
                links: true,
                ..Omitted::default()
            },
            ..Excerpt::default()
        };
        let sold = sold(&wanted);
        assert!(
            sold["markdown"]
                .as_str()
                .is_some_and(|text| text.contains("sells kettles and cups to"))
        );
        assert_eq!(sold["links"], json!([]));
        assert_eq!(sold["excerpt"]["truncated"], false);
    }

    #[test]
    fn what_leaves_nothing_is_not_sold() {
        let tiny = Excerpt {
            max_characters: Some(3),
            ..Excerpt::default()
        };
        assert!(matches!(
            excerpt_goods(&page(), &tiny, Depth::Quick),
            Err(NoExcerpt::TooSmall)
        ));
    }
}

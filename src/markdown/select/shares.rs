//! Leaves out the links that pass a page on: they lead to a network's form, with the page's address in it. Reads where
//! links lead, never their texts alone.

use super::super::outline::{Kind, Outline};

/// "Share this page:" and the like, beside the links or above them.
const LABEL_WORDS_MAX: u32 = 4;

/// Where such links lead: host and path, without `www.` and `m.`.
const FORMS: [&str; 34] = [
    "addtoany.com/share",
    "addtoany.com/add_to",
    "api.whatsapp.com/send?text",
    "b.hatena.ne.jp/entry",
    "bsky.app/intent/",
    "buffer.com/add",
    "bufferapp.com/add",
    "connect.ok.ru/offer",
    "digg.com/submit",
    "facebook.com/dialog/feed",
    "facebook.com/dialog/send",
    "facebook.com/dialog/share",
    "facebook.com/share.php",
    "facebook.com/sharer",
    "getpocket.com/edit",
    "getpocket.com/save",
    "linkedin.com/cws/share",
    "linkedin.com/sharearticle",
    "linkedin.com/sharing/",
    "news.ycombinator.com/submitlink",
    "pinterest.com/pin/create",
    "plus.google.com/share",
    "reddit.com/submit",
    "service.weibo.com/share",
    "share.flipboard.com/",
    "stumbleupon.com/submit",
    "t.me/share",
    "telegram.me/share",
    "threads.net/intent/",
    "tumblr.com/share",
    "twitter.com/intent/tweet",
    "twitter.com/share",
    "vk.com/share.php",
    "x.com/intent/",
];

pub(super) fn drop_shares(outline: &Outline, is_kept: &mut [bool]) {
    // By block: links to forms, and to anything else.
    let mut counts = vec![(0_u32, 0_u32); outline.blocks.len()];
    for link in &outline.links {
        let (shares, others) = &mut counts[link.block as usize];
        match passes_on(&outline.text[link.url.range()]) {
            true => *shares += 1,
            false => *others += 1,
        }
    }
    for (at, (shares, others)) in counts.into_iter().enumerate() {
        let block = &outline.blocks[at];
        if shares == 0
            || others > 0
            || block.kind.is_code()
            || block.words > block.link_words + LABEL_WORDS_MAX
        {
            continue;
        }
        is_kept[at] = false;
        let above = is_kept[..at].iter().rposition(|is_kept| *is_kept);
        if let Some(above) = above.filter(|&above| above + 1 == at && is_label(outline, above)) {
            is_kept[above] = false;
        }
    }
}

/// Whether a line or heading only announces such links.
fn is_label(outline: &Outline, at: usize) -> bool {
    let block = &outline.blocks[at];
    let text = outline.markdown(block).to_lowercase();
    let is_line = matches!(block.kind, Kind::Paragraph | Kind::Heading(2..=6, _));
    let announces = [
        "share",
        "teilen",
        "partager",
        "compart",
        "condividi",
        "delen",
        "分享",
    ];
    is_line
        && block.words <= LABEL_WORDS_MAX
        && announces
            .iter()
            .any(|word| text.trim_start_matches('*').starts_with(word))
}

/// Whether a link leads to a form that passes a page on.
fn passes_on(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or(url.strip_prefix("http://"));
    let Some(rest) = rest else {
        return url.starts_with("mailto:?") || url.starts_with("whatsapp://send?text");
    };
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let rest = rest.strip_prefix("m.").unwrap_or(rest);
    FORMS.iter().any(|form| {
        rest.get(..form.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(form))
    })
}

#[cfg(test)]
mod tests {
    use super::passes_on;

    #[test]
    fn links_that_pass_a_page_on_are_known_by_their_form() {
        for url in [
            "https://www.facebook.com/sharer/sharer.php?u=https%3A%2F%2Fa.example",
            "http://m.facebook.com/sharer.php?u=x",
            "https://twitter.com/intent/tweet?text=x",
            "https://www.linkedin.com/shareArticle?mini=true",
            "mailto:?subject=x",
            "whatsapp://send?text=x",
        ] {
            assert!(passes_on(url), "{url}");
        }
        for url in [
            "https://twitter.com/ferry",
            "https://a.example/facebook.com/sharer",
            "https://www.facebook.com/ferry",
            "mailto:a@a.example",
            "whatsapp://send?phone=1",
            "https://t.me/ferry",
            "",
        ] {
            assert!(!passes_on(url), "{url}");
        }
    }
}

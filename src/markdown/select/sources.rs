//! Keeps the list under a heading that says that a text's sources follow, or what to read further. Its items are links, so
//! the model takes it for a menu.

use super::super::outline::{Kind, NodeId, Outline, PAGE, Shape};
use super::repair::is_apart;

/// What such a heading says, whole and in lower case.
const NAMES: [&str; 62] = [
    "additional reading",
    "anmerkungen",
    "bibliografia",
    "bibliografía",
    "bibliographie",
    "bibliography",
    "bronnen",
    "bronnen en referenties",
    "citations",
    "cited sources",
    "einzelnachweise",
    "enlaces externos",
    "external links",
    "fontes",
    "footnotes",
    "fuentes",
    "further information",
    "further reading",
    "further resources",
    "kaynakça",
    "kaynaklar",
    "kilder",
    "källor",
    "liens externes",
    "ligações externas",
    "literatur",
    "literature",
    "lähteet",
    "notes and references",
    "notes et références",
    "przypisy",
    "quellen",
    "quellenverzeichnis",
    "quellen und weiterführende links",
    "reading list",
    "references",
    "references and further reading",
    "referencias",
    "referenser",
    "referenties",
    "referenzen",
    "referências",
    "riferimenti",
    "références",
    "source(s)",
    "sources",
    "sources and further reading",
    "sources et références",
    "source list",
    "weblinks",
    "weiterführende links",
    "works cited",
    "zdroje",
    "źródła",
    "источники",
    "литература",
    "примечания",
    "参考文献",
    "参考资料",
    "參考資料",
    "参考資料",
    "참고문헌",
];
const ITEMS_MAX: usize = 300;
/// How far up the element is looked for that holds the text, too.
const LEVELS_MAX: usize = 3;

pub(super) fn keep_sources(outline: &Outline, is_kept: &mut [bool]) {
    let mut kept_words = vec![0_u64; outline.nodes.len()];
    for (block, _) in outline.blocks.iter().zip(&*is_kept).filter(|(_, is)| **is) {
        kept_words[block.node as usize] += u64::from(block.words);
    }
    for id in (1..outline.nodes.len()).rev() {
        kept_words[outline.nodes[id].parent as usize] += kept_words[id];
    }
    let all_words = kept_words[PAGE as usize];
    for at in 0..outline.blocks.len().saturating_sub(1) {
        if !announces_sources(outline, at) {
            continue;
        }
        let Some(list) = list_of(outline, at + 1) else {
            continue;
        };
        // What holds most of the text stands around it, or not far above.
        let above = std::iter::successors(Some(outline.node(list).parent), |&id| {
            (id != PAGE).then(|| outline.node(id).parent)
        });
        let mut above = above.take(LEVELS_MAX).filter(|&id| id != PAGE);
        let is_in_text = above.any(|id| kept_words[id as usize] * 2 >= all_words.max(1));
        if is_apart(outline, list) || !(is_kept[at] || is_in_text) {
            continue;
        }
        let items =
            (at + 1..outline.blocks.len()).take_while(|&at| list_of(outline, at) == Some(list));
        let end = items.take(ITEMS_MAX).last().unwrap_or(at);
        is_kept[at..=end].fill(true);
    }
}

fn announces_sources(outline: &Outline, at: usize) -> bool {
    let block = &outline.blocks[at];
    let text = match block.kind {
        Kind::Heading(level, label) if level > 1 => outline.label(label),
        Kind::Paragraph if block.link_words == 0 => outline.markdown(block),
        _ => return false,
    };
    let name = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | ':' | '：'));
    // No name is longer.
    name.len() <= 64 && NAMES.contains(&name.to_lowercase().as_str())
}

/// The outermost list that a block is an item of.
fn list_of(outline: &Outline, at: usize) -> Option<NodeId> {
    let mut chain = Vec::new();
    outline.containers(outline.blocks[at].node, &mut chain);
    let is_list = |node: &&NodeId| matches!(outline.node(**node).shape, Shape::List { .. });
    chain.iter().find(is_list).copied()
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    #[test]
    fn the_list_of_a_texts_sources_is_kept() {
        let kept = |html: &str| kept_by(keep_sources, html).len();
        let text = "<p>The gate squeaks when the rain has come.</p>".repeat(2);
        let list = "<ul><li><a href=https://a.example/>Gates</a><li><a href=https://b.example/>Rain</a></ul>";
        for heading in [
            "<h3>References:</h3>",
            "<h2>Further reading</h2>",
            "<p><b>Weblinks</b></p>",
            "<h2>参考文献</h2>",
        ] {
            assert_eq!(
                kept(&format!("<div>{text}{heading}{list}</div>")),
                5,
                "{heading}"
            );
        }
        // Something else; no list; in a menu; apart from the text.
        for other in [
            format!("<div>{text}<h3>Related</h3>{list}</div>"),
            format!("<div>{text}<p>Sources</p><p><a href=/a>Gates</a></p></div>"),
            format!("<div>{text}<nav><p>Sources</p>{list}</nav></div>"),
            format!("<div>{text}</div><div><div><p>Sources</p>{list}</div></div>"),
        ] {
            assert!(kept(&other) <= 3, "{other}");
        }
    }
}

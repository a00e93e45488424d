//! Which blocks of a page are its content. A first, plain answer from what pages say themselves: landmarks, hidden
//! elements, consent notices. It reads the outline and gives block numbers, nothing more, so that a learned
//! selection can take its place.

use super::outline::{Kind, Outline, PAGE, Role, Shape};

/// Fewer words than this are almost nothing: the whole page is taken instead.
const WORDS_MIN: u64 = 25;

/// Numbers of the blocks to keep, in document order. `title` is the page's own, if it has one.
pub(super) fn select(outline: &Outline, full: bool, title: Option<&str>) -> Vec<usize> {
    let all = 0..outline.blocks.len();
    if full {
        return all.collect();
    }
    let view = View::new(outline);
    let mut kept: Vec<usize> = all
        .clone()
        .filter(|&block| !view.dropped[outline.blocks[block].node as usize])
        .collect();
    if let Some(container) = view.main(words(outline, &kept)) {
        let inside = view.inside(container);
        kept.retain(|&block| inside[outline.blocks[block].node as usize]);
        keep_title(outline, &view, title, &mut kept);
    }
    if words(outline, &kept) < WORDS_MIN && words(outline, &kept) * 4 < view.words[PAGE as usize] {
        let is_visible = |&block: &usize| !view.hidden[outline.blocks[block].node as usize];
        kept = all.clone().filter(is_visible).collect();
        if words(outline, &kept) < WORDS_MIN {
            return all.collect();
        }
    }
    kept
}

fn words(outline: &Outline, blocks: &[usize]) -> u64 {
    let words = blocks.iter().map(|&block| outline.blocks[block].words);
    words.map(u64::from).sum()
}

/// The page's title often stands above its `<main>`.
fn keep_title(outline: &Outline, view: &View<'_>, title: Option<&str>, kept: &mut Vec<usize>) {
    let is_title = |block: usize| matches!(outline.blocks[block].kind, Kind::Heading(1, _));
    if kept.iter().any(|&block| is_title(block)) {
        return;
    }
    let Some(title) = title.map(str::to_lowercase) else {
        return;
    };
    let before = kept.first().copied().unwrap_or(0);
    let found = (0..before).find(|&block| match outline.blocks[block].kind {
        Kind::Heading(1, plain) => {
            let heading = outline.label(plain).to_lowercase();
            !view.hidden[outline.blocks[block].node as usize]
                && !heading.is_empty()
                && title.contains(&heading)
        }
        _ => false,
    });
    if let Some(block) = found {
        kept.insert(0, block);
    }
}

/// What the nodes of an outline amount to, by node.
struct View<'a> {
    outline: &'a Outline,
    /// Words in the whole subtree.
    words: Vec<u64>,
    dropped: Vec<bool>,
    hidden: Vec<bool>,
}

impl View<'_> {
    fn new(outline: &Outline) -> View<'_> {
        let mut words = vec![0u64; outline.nodes.len()];
        let mut link_words = words.clone();
        for block in &outline.blocks {
            words[block.node as usize] += u64::from(block.words);
            link_words[block.node as usize] += u64::from(block.link_words);
        }
        // Parents stand before their children, so one walk backwards sums everything up.
        for id in (1..outline.nodes.len()).rev() {
            let parent = outline.nodes[id].parent as usize;
            words[parent] += words[id];
            link_words[parent] += link_words[id];
        }
        let total = words[PAGE as usize];
        let mut view = View {
            outline,
            dropped: vec![false; words.len()],
            hidden: vec![false; words.len()],
            words,
        };
        let mut in_content = vec![false; view.words.len()];
        for (id, node) in outline.nodes.iter().enumerate().skip(1) {
            let parent = node.parent as usize;
            in_content[id] = in_content[parent] || matches!(node.role, Role::Main | Role::Article);
            // Nothing that holds most of the page is beside the page, whatever it calls itself: some sites wrap all
            // of it in a form, others forget an end tag.
            let is_most = view.words[id] * 5 > total * 3;
            let is_dropped = match node.role {
                Role::None | Role::Main | Role::Article => false,
                Role::Header | Role::Footer | Role::Aside => !in_content[parent],
                Role::Hidden | Role::Consent | Role::Navigation | Role::Form => true,
            };
            let is_menu = matches!(node.shape, Shape::List { .. })
                && !in_content[parent]
                && link_words[id] * 10 >= view.words[id] * 9;
            view.dropped[id] = view.dropped[parent] || ((is_dropped || is_menu) && !is_most);
            view.hidden[id] = view.hidden[parent]
                || (!is_most && matches!(node.role, Role::Hidden | Role::Consent));
        }
        view
    }

    /// The element that holds the content, if one says so and carries enough of what is left of the page.
    fn main(&self, words_left: u64) -> Option<usize> {
        let largest = |role: Role, share: u64| {
            let nodes = self.outline.nodes.iter().enumerate();
            let found = nodes.filter(|(id, node)| node.role == role && !self.dropped[*id]);
            found
                .map(|(id, _)| id)
                .max_by_key(|&id| (self.words[id], std::cmp::Reverse(id)))
                .filter(|&id| self.words[id] * 100 >= words_left * share)
        };
        match (largest(Role::Main, 30), largest(Role::Article, 50)) {
            // An article that is nearly all of `<main>` leaves out what a site puts below it.
            (Some(main), Some(article)) if self.words[article] * 10 >= self.words[main] * 7 => {
                Some(article)
            }
            (main, article) => main.or(article),
        }
    }

    /// For each node, whether it is this one or stands in it.
    fn inside(&self, container: usize) -> Vec<bool> {
        let mut inside = vec![false; self.words.len()];
        inside[container] = true;
        for (id, node) in self.outline.nodes.iter().enumerate().skip(container + 1) {
            inside[id] = inside[node.parent as usize];
        }
        inside
    }
}

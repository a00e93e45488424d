//! Leaves out the lines of a manual that only lead to its other pages: next, previous, up. Reads what links say of where
//! they lead (`rel`), never their texts.

use super::super::outline::Outline;

/// What links to the other pages of a manual are called (HTML 4.01, 6.12; HTML Standard 4.6.7).
const RELATIONS: [&str; 13] = [
    "chapter", "contents", "end", "first", "home", "index", "last", "next", "prev", "previous",
    "start", "toc", "up",
];

/// One such link may belong to a text.
const LINKS_MIN: u32 = 2;

pub(super) fn drop_neighbours(outline: &Outline, is_kept: &mut [bool]) {
    // By block: links to such pages, and to anything else.
    let mut counts = vec![(0_u32, 0_u32); outline.blocks.len()];
    for link in &outline.links {
        let (neighbours, others) = &mut counts[link.block as usize];
        match leads_to_neighbour(outline.label(link.rel)) {
            true => *neighbours += 1,
            false => *others += 1,
        }
    }
    for (is_kept, (neighbours, others)) in is_kept.iter_mut().zip(counts) {
        *is_kept &= neighbours < LINKS_MIN || others > 0;
    }
}

fn leads_to_neighbour(rel: &str) -> bool {
    rel.split_ascii_whitespace().any(|token| {
        RELATIONS
            .iter()
            .any(|relation| relation.eq_ignore_ascii_case(token))
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::kept_by;
    use super::*;

    #[test]
    fn lines_that_lead_to_other_pages_of_a_manual_are_dropped() {
        let kept = |html: &str| kept_by(drop_neighbours, html).len();
        let next = "<a rel=next href=/b>The next gate</a>";
        let up = "<a rel='nofollow Up' href=/>Gates</a>";
        assert_eq!(kept(&format!("<p>Next: {next}, Up: {up}<p>A gate")), 1);
        assert_eq!(kept(&format!("<p>Read on: {next}<p>A gate")), 2);
        let other = "<a href=/c>a hinge</a>";
        assert_eq!(kept(&format!("<p>{next} {up} {other}")), 1);
    }
}

use proptest::prelude::*;

use super::*;

const PAGE: &str = "# Acme\n\nAcme sells kettles.\n\n## Prices\n\nThe small kettle costs 12 euros. The large kettle costs 30 euros.\n\n\
    | Kettle | Weight |\n| --- | --- |\n| small | 600 g |\n| middle | 800 g |\n| large | 1,200 g |\n\n## Returns\n\n\
    Kettles are taken back within 30 days. Shipping is not refunded.\n\n- Fill in the form\n- Send the kettle\n- Wait for the money\n\n\
    ```sh\ncurl https://acme.example/returns\n\necho done\n```\n\n## Contact\n\nWrite to us at the office in Graz, which is open on workdays.";

fn budget(tokens: u64) -> Budget {
    Budget {
        tokens: Some(tokens),
        characters: None,
    }
}

fn of(query: Option<&str>, tokens: u64) -> Option<Excerpt> {
    excerpt(&Source::of_text(PAGE), query, budget(tokens), Depth::Quick)
}

#[test]
fn the_best_passage_comes_with_its_headings() {
    let found = of(Some("How many days do I have to return a kettle?"), 45).expect("it fits");
    assert_eq!(
        found.text,
        "# Acme\n\n[…]\n\n## Returns\n\nKettles are taken back within 30 days. Shipping is not refunded.\n\n[…]\n\n- Send the kettle"
    );
    assert!(found.is_ranked && found.is_truncated && found.tokens <= 45);
    assert_eq!((found.blocks_kept, found.blocks_total), (4, 16));
    assert_eq!(
        found.headings,
        [(1, "Acme".to_owned()), (2, "Returns".to_owned())]
    );
}

#[test]
fn a_row_comes_with_the_header_of_its_table() {
    let found = of(
        Some("What is the weight of the large kettle in grams, 1,200 g?"),
        60,
    )
    .expect("it fits");
    assert!(
        found.text.contains("| Kettle | Weight |\n| --- | --- |\n"),
        "{}",
        found.text
    );
    assert!(found.text.contains("| large | 1,200 g |"), "{}", found.text);
}

#[test]
fn without_a_query_it_is_the_beginning() {
    let found = of(None, 40).expect("it fits");
    assert!(PAGE.starts_with(&found.text), "{}", found.text);
    assert!(found.text.ends_with("euros."), "{}", found.text);
    assert!(found.is_truncated && !found.is_ranked);
}

#[test]
fn what_fits_is_given_as_it_is() {
    for query in [None, Some("kettle")] {
        let found = of(query, 1_000).expect("it fits");
        assert_eq!(found.text, PAGE);
        assert!(!found.is_truncated && found.blocks_kept == found.blocks_total);
    }
}

#[test]
fn a_query_without_any_word_of_the_page_gets_the_beginning_and_says_so() {
    let found = of(Some("Xylophone orchestra?"), 40).expect("it fits");
    assert!(!found.is_ranked && PAGE.starts_with(&found.text));
}

#[test]
fn a_budget_for_nothing_gives_nothing() {
    assert_eq!(of(Some("kettle"), 2), None);
    let characters = Budget {
        tokens: None,
        characters: Some(3),
    };
    assert_eq!(
        excerpt(&Source::of_text(PAGE), None, characters, Depth::Quick),
        None
    );
}

/// The slices of the page of which an excerpt is put together, in order.
fn pieces_in_order(page: &str, excerpt: &str) -> bool {
    let mut at = 0;
    excerpt.split("[…]").all(|piece| {
        let piece = piece.trim().trim_matches(['|', '-', '>']).trim();
        // What was left out of a list or table leaves its sign on a line of its own.
        match page[at..].find(piece) {
            Some(found) => {
                at += found + piece.len();
                true
            }
            None => false,
        }
    })
}

fn fences(text: &str) -> usize {
    text.lines()
        .filter(|line| line.trim_start().starts_with("```"))
        .count()
}

fn any_page() -> impl Strategy<Value = String> {
    const BLOCKS: [&str; 16] = [
        "# Title",
        "## Prices and plans",
        "### Deep",
        "The small kettle costs 12 euros. It is **red. And blue.** Nobody knows why.",
        "[A link](https://example.com/a?b=c) and `code. Here`.",
        "- one item. With two sentences.\n- another\n  - nested deeply\n\n    more of it\n- last",
        "1. first\n2. second\n   - below",
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |",
        "```rust\nfn main() {\n\n    // # not a heading\n}\n```",
        "> quoted. Twice.\n>\n> and again",
        "---",
        "价格是每月十二元。营业时间为上午十点。",
        "~~~\nopen",
        "plain\nwith lines  \nand breaks",
        "| lonely row |",
        "***",
    ];
    proptest::collection::vec(proptest::sample::select(&BLOCKS[..]), 1..14)
        .prop_map(|blocks| blocks.join("\n\n"))
}

proptest! {
    #[test]
    fn an_excerpt_keeps_its_budget_and_the_order_of_the_page(
        page in any_page(),
        tokens in 1_u64..200,
        characters in proptest::option::of(1_u64..400),
        query in proptest::option::of(proptest::sample::select(&["What does the kettle cost?", "12", "another nested item", "营业时间"][..])),
    ) {
        let budget = Budget { tokens: Some(tokens), characters };
        let Some(found) = excerpt(&Source::of_text(&page), query, budget, Depth::Quick) else { return Ok(()) };
        prop_assert!(found.tokens <= tokens && found.tokens == estimated(&found.text));
        prop_assert!(characters.is_none_or(|most| found.text.chars().count() as u64 <= most));
        prop_assert!(pieces_in_order(&page, &found.text), "{page}\n=====\n{}", found.text);
        prop_assert!(found.blocks_kept <= found.blocks_total);
        // A fence is kept with its end, if it has one.
        if fences(&page).is_multiple_of(2) {
            prop_assert!(fences(&found.text).is_multiple_of(2), "{}", found.text);
        }
        // A row of a table that has a header is kept with it.
        if found.text.contains("| 3 | 4 |") {
            prop_assert!(found.text.contains("| a | b |\n| --- | --- |"), "{}", found.text);
        }
    }
}

#[test]
fn a_json_document_is_parted_into_its_members() {
    let items = (0..40).map(|number| {
        format!(
            "    {{\"id\": {number}, \"name\": \"Kettle {number}\", \"price\": {}}}",
            900 + number
        )
    });
    let items: Vec<String> = items.collect();
    let text = format!(
        "```json\n{{\n  \"shop\": \"Acme\",\n  \"items\": [\n{}\n  ],\n  \"owner\": {{\n    \"text\": \"{}\"\n  }}\n}}\n```\n",
        items.join(",\n"),
        "It was founded long ago. ".repeat(20)
    );
    let of = |query: Option<&str>, tokens| {
        excerpt(&Source::of_text(&text), query, budget(tokens), Depth::Quick).expect("it fits")
    };
    let found = of(Some("What is the price of Kettle 17?"), 75);
    assert_eq!(
        found.text,
        "```json\n{\n  […]\n  \"items\": [\n    […]\n    {\"id\": 17, \"name\": \"Kettle 17\", \"price\": 917},\n[…]\n```"
    );
    let beginning = of(None, 60).text;
    assert!(
        beginning.starts_with("```json\n{\n  \"shop\": \"Acme\",\n  \"items\": [\n    {\"id\": 0,"),
        "{beginning}"
    );
    assert!(beginning.ends_with("\n[…]\n```"), "{beginning}");
}

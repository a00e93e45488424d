//! Writes what a page says of a product, an event, a job or a recipe in its structured data, and nowhere in the text that
//! is kept: a list below the title, under a line that says where it comes from.

use crate::domain::figures::grouped_digits;
use crate::domain::words;

use super::dates::MONTHS;
use super::inline::{Mark, Writer};
use super::metadata::Property;
use super::outline::{
    Block, Kind, Node, NodeId, Outline, PAGE, PostPart, Role, Shape, Span, Weighed,
};
use super::tag::Tag;

/// As much of the text as is looked through; what is said behind it is said twice.
const TEXT_BYTES_MAX: usize = 512 * 1024;
const INTRODUCTION: &str = "From the page's structured data:";

/// Adds the properties that no kept block says.
pub(super) fn add_properties(
    outline: &mut Outline,
    kept: &mut Vec<usize>,
    properties: &[Property],
) {
    if properties.is_empty() {
        return;
    }
    let mut text = String::from(" ");
    for &at in kept.iter() {
        if text.len() > TEXT_BYTES_MAX {
            break;
        }
        push_words(&mut text, outline.markdown(&outline.blocks[at]));
    }
    let missing: Vec<&Property> = properties
        .iter()
        .filter(|property| !says(&text, property))
        .collect();
    if missing.is_empty() {
        return;
    }
    let place = kept
        .first()
        .is_some_and(|&at| matches!(outline.blocks[at].kind, Kind::Heading(1, _)));
    let mut added = Vec::with_capacity(missing.len() + 1);
    added.extend(push_block(outline, PAGE, |writer| {
        writer.text(INTRODUCTION)
    }));
    let list = push_node(outline, PAGE, Tag::List, Shape::List { ordered: false });
    for property in missing {
        let item = push_node(outline, list, Tag::Item, Shape::Item { number: None });
        added.extend(push_block(outline, item, |writer| {
            writer.begin(Mark::Strong);
            writer.text(property.label);
            writer.text(":");
            writer.end(Mark::Strong);
            writer.text(" ");
            writer.text(&property.values.join("; "));
        }));
    }
    let at = usize::from(place);
    kept.splice(at..at, added);
}

/// Whether the text says a property's value, or half of the values of a list. `text` is in words, as [`push_words`] has them.
fn says(text: &str, property: &Property) -> bool {
    let said = property
        .values
        .iter()
        .filter(|value| says_value(text, property.label, value));
    said.count() * 2 >= property.values.len()
}

fn says_value(text: &str, label: &str, value: &str) -> bool {
    let says = |words: &str| {
        let mut key = String::from(" ");
        push_words(&mut key, words);
        key.len() > 1 && text.contains(&key)
    };
    match label {
        // With or without cents, its digits in groups or not.
        "Price" | "Salary" => {
            let mut amounts = value
                .split(' ')
                .filter(|part| part.starts_with(|c: char| c.is_ascii_digit()))
                .peekable();
            // `£87.50` is as the page shows it.
            if amounts.peek().is_none() {
                return says(value);
            }
            amounts.all(|amount| {
                let whole = amount
                    .split_once('.')
                    .filter(|(_, cents)| cents.bytes().all(|byte| byte == b'0'));
                let whole = whole.map_or(amount, |(whole, _)| whole);
                says(amount) || says(whole) || says(&grouped(whole))
            })
        }
        "Starts" | "Ends" | "Posted" | "Valid through" => says(value) || says_day(value, says),
        "Rating" => {
            let rating = value.split([' ', ',']).next().unwrap_or_default();
            says(rating) || says(&format!("{rating}0"))
        }
        "Location" => value.split(", ").all(says),
        "Nutrition" => {
            says(value)
                || value
                    .split_once(' ')
                    .is_some_and(|(_, amount)| says(amount))
        }
        _ => says(value),
    }
}

/// Whether a day of ISO 8601 is said with the name of its month.
fn says_day(value: &str, says: impl Fn(&str) -> bool) -> bool {
    let mut numbers = value.get(..10).into_iter().flat_map(|day| day.split('-'));
    let (_, month, day) = (numbers.next(), numbers.next(), numbers.next());
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<usize>().ok());
    let (Some(month), Some(day)) = (number(month), number(day)) else {
        return false;
    };
    let name = month.checked_sub(1).and_then(|at| MONTHS.get(at));
    name.is_some_and(|name| {
        let names = [name, &name[..3]];
        names
            .iter()
            .any(|name| says(&format!("{name} {day}")) || says(&format!("{day} {name}")))
    })
}

/// `1299.50` as `1,299.50`.
fn grouped(amount: &str) -> String {
    let whole = amount.split('.').next().unwrap_or_default();
    grouped_digits(whole) + &amount[whole.len()..]
}

/// The words of a text in lower case, each with a space behind it; a character of a script without spaces is one.
fn push_words(words: &mut String, text: &str) {
    let mut is_in_word = false;
    let mut escaped = false;
    for c in text.chars() {
        if c == '\\' && !escaped {
            escaped = true;
            continue;
        }
        escaped = false;
        let is_alone = words::is_unspaced(c);
        if is_in_word && (is_alone || !c.is_alphanumeric()) {
            words.push(' ');
        }
        is_in_word = c.is_alphanumeric() && !is_alone;
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
        if is_alone {
            words.push(' ');
        }
    }
    if is_in_word {
        words.push(' ');
    }
}

fn push_node(outline: &mut Outline, parent: NodeId, tag: Tag, shape: Shape) -> NodeId {
    let id = NodeId::try_from(outline.nodes.len()).unwrap_or(PAGE);
    outline.nodes.push(Node {
        parent,
        depth: outline.node(parent).depth.saturating_add(1),
        tag,
        class_hash: 0,
        names: Weighed::default(),
        role: Role::None,
        is_comment: false,
        post: 0,
        part: PostPart::Other,
        shape,
        container: id,
    });
    id
}

/// A paragraph in a node; its number.
pub(super) fn push_block(
    outline: &mut Outline,
    node: NodeId,
    write: impl Fn(&mut Writer),
) -> Option<usize> {
    let mut writer = Writer::default();
    write(&mut writer);
    let finished = writer.finish(u32::MAX)?;
    let start = outline.text.len();
    outline.text.push_str(&writer.text[finished.text.range()]);
    outline.blocks.push(Block {
        kind: Kind::Paragraph,
        node,
        text: Span::new(start, outline.text.len()),
        words: finished.words,
        link_words: 0,
        is_byline: false,
        counts: finished.counts,
    });
    Some(outline.blocks.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::main_page;

    const TEXT: &str = "<p>The table stands beside a sofa or a bed, takes little room and is put together without tools in \
                        ten minutes. Its top is one board of oak, and no two of them are alike in grain or in colour.</p>";

    fn list(item: &str, text: &str) -> Vec<String> {
        let page = main_page(&format!(
            "<title>Oak table</title><script type=application/ld+json>{item}</script>\
             <main><h1>Oak table</h1>{}{text}</main>",
            TEXT.repeat(2)
        ));
        let lines = page.markdown.lines().filter(|line| line.starts_with("- "));
        lines.map(str::to_owned).collect()
    }

    const PRODUCT: &str = r#"{"@type":"Product","name":"Oak table","sku":"OAK-1","brand":{"name":"Timber & <b>"},
        "offers":[{"price":"1249.00","priceCurrency":"EUR","availability":"http://schema.org/InStock"}],
        "aggregateRating":{"ratingValue":4.5,"reviewCount":8}}"#;

    /// Shops show the price where no text stands, and it was lost.
    #[test]
    fn what_only_the_structured_data_say_is_listed() {
        assert_eq!(
            list(PRODUCT, ""),
            [
                "- **SKU:** OAK-1",
                "- **Price:** 1249.00 EUR",
                "- **Availability:** in stock",
                "- **Rating:** 4.5, 8 reviews"
            ]
        );
        let said = "<p>The table of number OAK-1 costs € 1,249 and is in stock in all of our shops; 8 buyers rated it 4.50.</p>";
        assert!(list(PRODUCT, said).is_empty());
        // Several of them, or an article about one.
        assert!(list(&format!("[{PRODUCT},{PRODUCT}]"), "").is_empty());
        assert!(list(&format!("[{PRODUCT},{{\"@type\":\"NewsArticle\"}}]"), "").is_empty());
    }

    #[test]
    fn events_jobs_and_recipes_have_properties_of_their_own() {
        let event = r#"{"@type":"MusicEvent","startDate":"2024-09-14T09:00","eventStatus":"https://schema.org/EventPostponed",
            "location":{"name":"Congress Hall","address":{"streetAddress":"Main Street 1","addressCountry":{"name":"DE"}}},
            "offers":{"lowPrice":99,"highPrice":149,"priceCurrency":"EUR"}}"#;
        assert_eq!(
            list(event, ""),
            [
                "- **Starts:** 2024-09-14T09:00",
                "- **Status:** event postponed",
                "- **Location:** Congress Hall, Main Street 1, DE",
                "- **Price:** 99 to 149 EUR"
            ]
        );
        assert_eq!(list(event, "<p>We begin in the Congress Hall on the 14 September, whatever the weather is like.</p>").len(), 3);
        let job = r#"{"@type":"JobPosting","hiringOrganization":{"name":"Acme"},"employmentType":["FULL_TIME"],
            "jobLocation":{"address":{"addressLocality":"Berlin"}},
            "baseSalary":{"currency":"EUR","value":{"minValue":60000,"maxValue":80000,"unitText":"YEAR"}}}"#;
        assert_eq!(
            list(job, ""),
            [
                "- **Organization:** Acme",
                "- **Location:** Berlin",
                "- **Employment:** full time",
                "- **Salary:** 60000 to 80000 EUR per year"
            ]
        );
        let recipe = r#"[{"@type":"Article","headline":"Oak table"},{"@type":"Recipe","recipeYield":["16","16 bars"],"prepTime":"PT1H15M",
            "recipeIngredient":["1 cup flour","2 eggs"],"recipeInstructions":[{"@type":"HowToStep","text":"Mix."}]}]"#;
        assert_eq!(
            list(recipe, ""),
            [
                "- **Yield:** 16 bars",
                "- **Preparation:** 1 hour 15 minutes",
                "- **Ingredients:** 1 cup flour; 2 eggs",
                "- **Steps:** Mix."
            ]
        );
    }

    #[test]
    fn what_is_listed_is_bounded_and_escaped() {
        let long = "x".repeat(400);
        let item = format!(
            r#"{{"@type":"Product","sku":"*[a](b)*","brand":"{long}","offers":[{}{{}}]}}"#,
            r#"{"price":"1e999","priceCurrency":"EUR"},"#.repeat(500)
        );
        assert_eq!(list(&item, ""), [r"- **SKU:** \*[a]\(b)\*"]);
        let parts = "\"flour\",".repeat(9_000);
        let recipe = format!(r#"{{"@type":"Recipe","recipeIngredient":[{parts}"eggs"]}}"#);
        assert_eq!(list(&recipe, ""), ["- **Ingredients:** flour"]);
    }
}

//! What a shop says of its one product in microdata (HTML Standard 5.2, schema.org) or in `<meta>` elements of Open Graph:
//! what it costs and whether it can be had. Attributes mark the very text that readers see, often in a form or beside the
//! text. A page that names several products, or several prices, says nothing here.

use super::super::attributes::Attributes;
use super::super::tag::{Name, Tag};
use super::json_ld::spoken;
use super::{Property, clean};

/// A price, a number, a brand: longer text is none.
const VALUE_BYTES_MAX: usize = 80;

/// What is read, by `itemprop`, and the label that it gets.
const PROPERTIES: [(&str, &str); 4] = [
    ("sku", "SKU"),
    ("price", "Price"),
    ("pricecurrency", ""),
    ("availability", "Availability"),
];
const PRICE: usize = 1;
const CURRENCY: usize = 2;
const AVAILABILITY: usize = 3;

/// Where `<meta>` elements say the same (Open Graph, Facebook's catalogue).
const AMOUNTS: [&str; 2] = ["product:price:amount", "og:price:amount"];
const CURRENCIES: [&str; 2] = ["product:price:currency", "og:price:currency"];

#[derive(Debug, Default)]
pub(in crate::markdown) struct Microdata {
    products: u32,
    values: [Option<String>; PROPERTIES.len()],
    /// Two prices are none.
    differs: bool,
    /// The text of an element that is a value, and of which property.
    open: Option<(Name, usize, String)>,
}

impl Microdata {
    pub(in crate::markdown) fn start(&mut self, name: Name, tag: Tag, attributes: &Attributes<'_>) {
        if let Some(kind) = attributes.raw("itemtype") {
            let kind = kind.trim().rsplit('/').next().unwrap_or_default();
            self.products += u32::from(kind == "Product");
        }
        let Some(property) = attributes.raw("itemprop").filter(|_| self.products > 0) else {
            return;
        };
        let property = property.trim();
        let Some(at) = PROPERTIES
            .iter()
            .position(|(known, _)| known.eq_ignore_ascii_case(property))
        else {
            return;
        };
        let written = ["content", "href"];
        match written.iter().find_map(|name| attributes.get(name)) {
            Some(value) => self.take(at, &value),
            None if tag.is_void() => {}
            None => self.open = Some((name, at, String::new())),
        }
    }

    pub(in crate::markdown) fn text(&mut self, text: &str) {
        if let Some((_, _, value)) = &mut self.open
            && value.len() <= VALUE_BYTES_MAX
        {
            let end = text.floor_char_boundary(VALUE_BYTES_MAX + 1);
            value.push_str(&text[..end]);
        }
    }

    pub(in crate::markdown) fn end(&mut self, name: Name) {
        if let Some((_, at, value)) = self.open.take_if(|(open, _, _)| *open == name) {
            self.take(at, &value);
        }
    }

    fn take(&mut self, at: usize, value: &str) {
        let Some(value) = clean(value).filter(|value| value.len() <= VALUE_BYTES_MAX) else {
            return;
        };
        match &self.values[at] {
            Some(known) => self.differs |= at == PRICE && *known != value,
            None => self.values[at] = Some(value),
        }
    }

    /// `field` gives the content of a `<meta>` element.
    pub(super) fn properties<'a>(&self, field: impl Fn(&str) -> Option<&'a str>) -> Vec<Property> {
        let first = |names: [&str; 2]| names.iter().find_map(|name| field(name));
        let is_one = self.products == 1 && !self.differs;
        let value = |at: usize| self.values[at].as_deref().filter(|_| is_one);
        let price = match value(PRICE) {
            Some(price) => Some((price, value(CURRENCY))),
            // A shop that marks several products has several prices.
            None if self.products <= 1 => first(AMOUNTS).map(|amount| (amount, first(CURRENCIES))),
            None => None,
        };
        // A shop that has not set a price marks 0.
        let price = price.filter(|(price, _)| price.contains(|c: char| ('1'..='9').contains(&c)));
        let price = price.map(|(price, currency)| {
            let is_amount = price
                .bytes()
                .all(|b| b.is_ascii_digit() || b".,".contains(&b));
            match currency.filter(|_| is_amount) {
                Some(currency) => format!("{price} {currency}"),
                None => price.to_owned(),
            }
        });
        let mut found = Vec::new();
        for (at, (_, label)) in PROPERTIES.iter().enumerate() {
            let value = match at {
                PRICE => price.clone(),
                CURRENCY => None,
                AVAILABILITY => value(at).map(spoken),
                _ => value(at).map(str::to_owned),
            };
            found.extend(value.map(|value| Property {
                label,
                values: vec![value],
            }));
        }
        // Without a price the page is about a product as an article may be.
        match price {
            Some(_) => found,
            None => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::main_page;

    const TEXT: &str = "<p>The table stands beside a sofa or a bed, takes little room and is put together without tools in \
                        ten minutes. Its top is one board of oak, and no two of them are alike in grain or in colour.</p>";
    const PRODUCT: &str =
        "<div itemscope itemtype=http://schema.org/Product><h1 itemprop=name>Oak table</h1>";

    fn list(head: &str, offer: &str) -> Vec<String> {
        let page = main_page(&format!(
            "<title>Oak table</title>{head}<main>{PRODUCT}{}</div></main>\
             <form><div itemprop=offers itemscope itemtype=http://schema.org/Offer>{offer}</div></form>",
            TEXT.repeat(2)
        ));
        let lines = page.markdown.lines().filter(|line| line.starts_with("- "));
        lines.map(str::to_owned).collect()
    }

    /// Of 23 shops whose pages mark one price, 14 lost it: it stood in the form that puts the product into the cart.
    #[test]
    fn the_price_that_a_shop_marks_is_listed() {
        let currency = "<meta itemprop=priceCurrency content=EUR>";
        let stock = "<link itemprop=availability href=http://schema.org/InStock>";
        assert_eq!(
            list(
                "",
                &format!("{currency}{stock}<b itemprop=price>249,00</b>")
            ),
            ["- **Price:** 249,00 EUR", "- **Availability:** in stock"]
        );
        assert_eq!(
            list("", "<span itemprop=price>&pound; <i>249</i>.00</span> each"),
            ["- **Price:** £ 249.00"]
        );
        let graph = "<meta property=og:price:amount content=249.00><meta property=og:price:currency content=USD>";
        assert_eq!(list(graph, ""), ["- **Price:** 249.00 USD"]);
    }

    #[test]
    fn several_prices_are_none() {
        let price = |amount: &str| format!("<b itemprop=price>{amount}</b>");
        let other = format!("{PRODUCT}{}</div>", price("30 €"));
        assert!(list("", &(price("20 €") + &price("30 €"))).is_empty());
        assert!(list("", &(price("20 €") + &other)).is_empty());
        assert!(list("", &price("on request")).is_empty());
        assert!(list("", &price("0,00 €")).is_empty());
        assert!(list("", "<meta itemprop=price>20 €").is_empty());
        assert!(list("", &price(&"1 ".repeat(60))).is_empty());
    }
}

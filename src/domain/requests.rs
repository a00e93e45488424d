//! Request bodies as their handlers read them: a struct for each table of [`super::shapes`]. The table says which bodies
//! are accepted; the struct holds what an accepted one says. Members that were left out are `None`.

use std::str::FromStr;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny};

use crate::domain::bundle::Bundle;
use crate::domain::check::CheckDepth;
use crate::domain::excerpt::{Excerpt, Omitted, Selectors};
use crate::domain::level::{Level, Product};
use crate::domain::pack::Pack;
use crate::domain::render::Render;
use crate::domain::schema::{Object, ValidationError, without_mark};
use crate::domain::shapes;
use crate::domain::source_list::{address, listed};
use crate::domain::tier::Tier;

/// A body with a table of its fields.
pub trait Request: DeserializeOwned {
    const TABLE: &'static Object;

    /// Checks a body of JSON against the table and reads it.
    ///
    /// # Errors
    /// What is wrong with the body.
    fn read(body: &[u8]) -> Result<Self, Vec<ValidationError>> {
        Self::TABLE.validate(body)?.read()
    }
}

/// Connects each struct with the table of the same fields.
macro_rules! tables {
    ($($request:ident: $table:ident,)*) => {
        $(impl Request for $request {
            const TABLE: &'static Object = &shapes::$table;
        })*

        #[cfg(test)]
        fn for_each_request(check: &mut dyn FnMut(&'static Object, tests::Struct)) {
            $(check($request::TABLE, tests::Struct::of::<$request>());)*
        }
    };
}

tables! {
    AccessRequest: ACCESS_REQUEST,
    ProofPackRequest: PROOF_PACK_REQUEST,
    PagesRequest: PAGES_REQUEST,
    ProofBundleRequest: PROOF_BUNDLE_REQUEST,
    CheckRequest: CHECK_REQUEST,
    QuoteRequest: QUOTE_REQUEST,
    FollowUpRequest: FOLLOW_UP_REQUEST,
    RefreshRequest: REFRESH_REQUEST,
    ShareRequest: SHARE_REQUEST,
    PackLeadRequest: PACK_LEAD_REQUEST,
    BundleLeadRequest: BUNDLE_LEAD_REQUEST,
    BundleRecoverRequest: RECOVER_REQUEST,
    ContactRequest: CONTACT_REQUEST,
    ComputeRequest: COMPUTE_REQUEST,
    DiagnoseRequest: DIAGNOSE_REQUEST,
}

#[derive(Clone, Debug, Deserialize)]
pub struct AccessRequest {
    pub target_url: String,
    #[serde(default, deserialize_with = "level")]
    pub tier: Option<Tier>,
    pub force_refresh: Option<bool>,
    pub render: Option<Render>,
    pub query: Option<String>,
    pub max_tokens: Option<u64>,
    pub max_characters: Option<u64>,
    pub include_links: Option<bool>,
    pub include_images: Option<bool>,
    pub include_tables: Option<bool>,
    pub include_comments: Option<bool>,
    pub selector: Option<String>,
    pub exclude_selector: Option<String>,
}

/// A request that may ask for a part of each of its pages.
pub trait AsksForPart {
    /// The part that it asks for; what is blank asks for nothing.
    fn excerpt(&self) -> Excerpt;
}

/// Reads the members that both requests for pages have.
macro_rules! asks_for_part {
    ($($request:ident)*) => {
        $(impl AsksForPart for $request {
            fn excerpt(&self) -> Excerpt {
                Excerpt {
                    query: stated(self.query.as_deref()),
                    max_tokens: self.max_tokens,
                    max_characters: self.max_characters,
                    omitted: Omitted {
                        links: self.include_links == Some(false),
                        images: self.include_images == Some(false),
                        tables: self.include_tables == Some(false),
                    },
                    selectors: Selectors {
                        include: stated(self.selector.as_deref()),
                        exclude: stated(self.exclude_selector.as_deref()),
                    },
                }
            }
        })*
    };
}

asks_for_part! { AccessRequest PagesRequest }

fn stated(text: Option<&str>) -> Option<String> {
    let text = text.map(str::trim);
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

#[derive(Clone, Debug, Deserialize)]
pub struct ProofPackRequest {
    pub target_url: String,
    pub question: Option<String>,
    #[serde(default, deserialize_with = "level")]
    pub pack: Option<Pack>,
    pub force_refresh: Option<bool>,
    pub render: Option<Render>,
    pub include_comments: Option<bool>,
    pub screenshot: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct PagesRequest {
    pub target_urls: AddressList,
    #[serde(default, deserialize_with = "level")]
    pub tier: Option<Tier>,
    pub force_refresh: Option<bool>,
    pub render: Option<Render>,
    pub min_pages: Option<usize>,
    pub query: Option<String>,
    pub max_tokens: Option<u64>,
    pub max_characters: Option<u64>,
    pub include_links: Option<bool>,
    pub include_images: Option<bool>,
    pub include_tables: Option<bool>,
    pub include_comments: Option<bool>,
    pub selector: Option<String>,
    pub exclude_selector: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ProofBundleRequest {
    pub target_urls: Option<AddressList>,
    pub sources: Option<Vec<SourceBody>>,
    pub question: Option<String>,
    pub claims: Option<AddressList>,
    #[serde(default, deserialize_with = "level")]
    pub bundle: Option<Bundle>,
    pub force_refresh: Option<bool>,
    pub render: Option<Render>,
    pub include_comments: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct CheckRequest {
    pub text: String,
    pub sources: Vec<SourceBody>,
    #[serde(default, deserialize_with = "level")]
    pub depth: Option<CheckDepth>,
    pub force_refresh: Option<bool>,
    pub render: Option<Render>,
    pub include_comments: Option<bool>,
}

/// A source as a body names it: [`crate::domain::schema::SOURCE_MEMBERS`] says which members there are.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum SourceBody {
    Address(String),
    Object {
        url: Option<String>,
        text: Option<String>,
        title: Option<String>,
        report_id: Option<String>,
    },
}

/// The body of a paid operation.
#[derive(Clone, Debug)]
pub enum PaidBody {
    Access(AccessRequest),
    Pages(PagesRequest),
    ProofPack(ProofPackRequest),
    ProofBundle(ProofBundleRequest),
    Check(CheckRequest),
}

#[derive(Clone, Debug, Deserialize)]
pub struct QuoteRequest {
    pub product: QuotedProduct,
    pub target_url: Option<String>,
    pub target_urls: Option<AddressList>,
    #[serde(default, deserialize_with = "level")]
    pub tier: Option<Tier>,
    #[serde(default, deserialize_with = "level")]
    pub pack: Option<Pack>,
    #[serde(default, deserialize_with = "level")]
    pub bundle: Option<Bundle>,
    pub question: Option<String>,
    pub source: Option<String>,
}

/// One of [`shapes::QUOTED_PRODUCTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuotedProduct {
    Context,
    ProofPack,
    ProofBundle,
}

/// Addresses, as an array or as one text that lists them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum AddressList {
    Array(Vec<String>),
    Text(String),
}

#[derive(Clone, Debug, Deserialize)]
pub struct FollowUpRequest {
    pub question: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct RefreshRequest {
    #[serde(default, deserialize_with = "level")]
    pub pack: Option<Pack>,
    pub question: Option<String>,
    pub force_refresh: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ShareRequest {
    pub listed: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct PackLeadRequest {
    pub contact: String,
    pub target_url: String,
    pub question: Option<String>,
    #[serde(default, deserialize_with = "level")]
    pub pack: Option<Pack>,
    pub use_case: Option<String>,
    pub budget_usdc: Option<String>,
    pub source: Option<String>,
    pub notes: Option<String>,
    pub quote_id: Option<String>,
    pub website: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct BundleLeadRequest {
    pub contact: String,
    pub target_urls: AddressList,
    pub question: Option<String>,
    #[serde(default, deserialize_with = "level")]
    pub bundle: Option<Bundle>,
    pub use_case: Option<String>,
    pub budget_usdc: Option<String>,
    pub source: Option<String>,
    pub notes: Option<String>,
    pub quote_id: Option<String>,
    pub website: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct BundleRecoverRequest {
    pub email: String,
    pub target_url: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ContactRequest {
    pub email: String,
    pub message: String,
    pub name: Option<String>,
    pub source: Option<String>,
    pub website: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ComputeRequest {
    pub agent_id: String,
    /// Neither run nor stored.
    pub task_payload: IgnoredAny,
    pub offered_fee: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct DiagnoseRequest {
    pub header: String,
}

impl AddressList {
    /// The addresses one by one. A text lists them by lines, commas or spaces.
    pub fn addresses(&self) -> Vec<String> {
        match self {
            AddressList::Array(items) => items.iter().filter_map(|item| address(item)).collect(),
            AddressList::Text(text) => listed(text).0,
        }
    }
}

impl PaidBody {
    /// The body of a product's paid operation. Members that only several pages have tell them from one.
    ///
    /// # Errors
    /// What is wrong with the body.
    pub fn read(product: Product, body: &[u8]) -> Result<PaidBody, Vec<ValidationError>> {
        Ok(match product {
            Product::Context if names_pages(body) => PaidBody::Pages(PagesRequest::read(body)?),
            Product::Context => PaidBody::Access(AccessRequest::read(body)?),
            Product::ProofPack => PaidBody::ProofPack(ProofPackRequest::read(body)?),
            Product::ProofBundle => PaidBody::ProofBundle(ProofBundleRequest::read(body)?),
            Product::Check => PaidBody::Check(CheckRequest::read(body)?),
        })
    }

    /// The level that it states.
    pub fn level(&self) -> Option<Level> {
        match self {
            PaidBody::Access(AccessRequest { tier, .. })
            | PaidBody::Pages(PagesRequest { tier, .. }) => tier.map(Level::Tier),
            PaidBody::ProofPack(body) => body.pack.map(Level::Pack),
            PaidBody::ProofBundle(body) => body.bundle.map(Level::Bundle),
            PaidBody::Check(body) => body.depth.map(Level::Check),
        }
    }

    /// How many pages or sources it names.
    pub fn sources_count(&self) -> usize {
        let listed = |list: Option<&AddressList>| list.map_or(0, |list| list.addresses().len());
        match self {
            PaidBody::Access(_) | PaidBody::ProofPack(_) => 1,
            PaidBody::Pages(body) => listed(Some(&body.target_urls)),
            PaidBody::ProofBundle(body) => {
                let sources = body.sources.as_ref().map_or(0, Vec::len);
                listed(body.target_urls.as_ref()).max(sources)
            }
            PaidBody::Check(body) => body.sources.len(),
        }
    }
}

/// Whether a body has the member that tells a purchase of several pages from one of a single page.
fn names_pages(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Names {
        target_urls: Option<IgnoredAny>,
    }
    let word = b"target_urls";
    body.windows(word.len()).any(|window| window == word)
        && serde_json::from_slice::<Names>(without_mark(body))
            .is_ok_and(|names| names.target_urls.is_some())
}

impl QuoteRequest {
    /// Whether it states a member of [`shapes::QUOTE_BELONGINGS`].
    pub fn states(&self, member: &str) -> bool {
        match member {
            "target_url" => self.target_url.is_some(),
            "target_urls" => self.target_urls.is_some(),
            "tier" => self.tier.is_some(),
            "pack" => self.pack.is_some(),
            "bundle" => self.bundle.is_some(),
            "question" => self.question.is_some(),
            _ => false,
        }
    }
}

impl QuotedProduct {
    pub fn name(self) -> &'static str {
        shapes::QUOTED_PRODUCTS[self as usize]
    }
}

/// A level by its name.
fn level<'de, D: Deserializer<'de>, L: FromStr>(member: D) -> Result<Option<L>, D::Error> {
    let level = String::deserialize(member)?.parse();
    level
        .map(Some)
        .map_err(|_| D::Error::custom("no such name"))
}

#[cfg(test)]
mod tests {
    use serde::de::value::Error as Stop;
    use serde::de::{Deserializer, Error, Visitor};
    use serde::forward_to_deserialize_any;
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::schema::Kind;

    /// What a derived `Deserialize` says of its struct, and whether it reads a body.
    pub(super) struct Struct {
        name: &'static str,
        fields: &'static [&'static str],
        reads: fn(&Value) -> bool,
    }

    impl Struct {
        pub(super) fn of<T: Request>() -> Struct {
            let mut seen = Struct {
                name: "",
                fields: &[],
                reads: |body| T::read(body.to_string().as_bytes()).is_ok(),
            };
            T::deserialize(&mut seen).err().expect("it reads nothing");
            seen
        }
    }

    impl<'de> Deserializer<'de> for &mut Struct {
        type Error = Stop;

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            name: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Stop> {
            (self.name, self.fields) = (name, fields);
            Err(Stop::custom("seen"))
        }

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Stop> {
            Err(Stop::custom("no struct"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    #[test]
    fn each_struct_has_the_fields_of_its_table() {
        let mut seen = Vec::new();
        for_each_request(&mut |table, read| {
            let names: Vec<&str> = table.fields.iter().map(|field| field.name).collect();
            assert_eq!((read.name, read.fields), (table.name, names.as_slice()));
            seen.push(table.name);
        });
        let all: Vec<&str> = shapes::ALL.iter().map(|table| table.name).collect();
        assert_eq!(seen, all);
    }

    #[test]
    fn what_a_table_accepts_its_struct_reads() {
        for_each_request(&mut |table, read| {
            for whole in [true, false] {
                let example = table.example(whole);
                assert!((read.reads)(&example), "{example}");
            }
            for field in table.fields {
                let values = match field.kind {
                    Kind::OneOf(names) => names.iter().map(|name| json!(name)).collect(),
                    Kind::Flag => vec![json!(true), json!(false)],
                    Kind::Number => vec![json!(0), json!(-1), json!(0.5), json!(u64::MAX)],
                    Kind::Integer { min, max } => {
                        let with_point = serde_json::from_str(&format!("{min}.0"));
                        vec![json!(min), json!(max), with_point.expect("a number")]
                    }
                    Kind::Sources(rules) => {
                        let mut all = vec![json!(["a"]), json!([{"url": "a"}, {"text": "b"}])];
                        all.push(
                            json!([{"text": "a", "title": "b"}, {"text": "a", "title": null}]),
                        );
                        all.extend(rules.reports.then(|| json!([{"report_id": "a"}])));
                        all
                    }
                    Kind::Texts { .. } => vec![json!([]), json!(["a"]), json!("a, b")],
                    Kind::Text { .. } | Kind::Url { .. } => vec![json!("a")],
                    Kind::Free => vec![json!({}), json!({"a": [null]})],
                };
                for value in values {
                    let mut body = table.example(true);
                    body[field.name] = value;
                    assert!((read.reads)(&body), "{body}");
                }
            }
        });
    }

    #[test]
    fn names_become_what_they_name() {
        for (product, name) in [
            (QuotedProduct::Context, "context"),
            (QuotedProduct::ProofPack, "proof_pack"),
            (QuotedProduct::ProofBundle, "proof_bundle"),
        ] {
            let body = json!({"product": name, "tier": "deep", "pack": "quick", "bundle": "audit"});
            let read = QuoteRequest::read(body.to_string().as_bytes()).expect("accepted");
            assert_eq!((read.product, read.product.name()), (product, name));
            let named = (read.tier, read.pack, read.bundle);
            let expected = (Some(Tier::Deep), Some(Pack::Quick), Some(Bundle::Audit));
            assert_eq!(named, expected);
        }
    }

    #[test]
    fn a_quote_knows_which_members_it_states() {
        let names = [
            "target_url",
            "target_urls",
            "tier",
            "pack",
            "bundle",
            "question",
        ];
        let whole = QuoteRequest::TABLE.example(true).to_string();
        let whole = QuoteRequest::read(whole.as_bytes()).expect("accepted");
        let none = QuoteRequest::read(br#"{"product":"context"}"#).expect("accepted");
        for name in names {
            assert!(whole.states(name) && !none.states(name), "{name}");
        }
        for (_, needed, foreign) in shapes::QUOTE_BELONGINGS {
            assert!(names.contains(&needed) && foreign.iter().all(|name| names.contains(name)));
        }
    }
}

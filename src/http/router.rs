//! Finds the row for method and raw path. Paths are compared byte for byte, without decoding or trailing-slash rules, so
//! that no other spelling of a paid path reaches a handler.

use std::collections::HashMap;
use std::fmt;

use crate::http::call::{MARKDOWN_PARAMETER, Peer};
use crate::http::method::Method;
use crate::http::route::{Guard, Route};

pub struct Router<S: 'static, D: 'static> {
    literal: HashMap<&'static str, Vec<&'static Route<S, D>>>,
    patterns: Vec<Pattern<S, D>>,
}

struct Pattern<S: 'static, D: 'static> {
    segments: Vec<Segment>,
    rows: Vec<&'static Route<S, D>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Segment {
    Literal(&'static str),
    Parameter(&'static str),
}

pub type Params = Vec<(&'static str, String)>;

/// What the table says of a request.
pub enum Found<S: 'static, D: 'static> {
    Row(&'static Route<S, D>, Params),
    /// The path is there, the method is not.
    OtherMethods(Vec<Method>),
    Nothing,
}

/// The alias prefix of rows with `from_alias`.
const FROM: &str = "/from/";
/// The ending of a page's address under which its markdown alternate is.
const MARKDOWN_ENDING: &str = ".md";

impl<S, D> Router<S, D> {
    pub fn new(rows: &'static [Route<S, D>]) -> Self {
        let mut router = Router {
            literal: HashMap::new(),
            patterns: Vec::new(),
        };
        for row in rows {
            if !row.path.contains('{') {
                router.literal.entry(row.path).or_default().push(row);
                continue;
            }
            let segments: Vec<Segment> = row.path.split('/').skip(1).map(Segment::parse).collect();
            match router
                .patterns
                .iter_mut()
                .find(|pattern| pattern.segments == segments)
            {
                Some(pattern) => pattern.rows.push(row),
                None => router.patterns.push(Pattern {
                    segments,
                    rows: vec![row],
                }),
            }
        }
        router
    }

    /// Rows that `peer` may not call are not there for it.
    pub fn find(&self, method: Method, path: &str, peer: Peer) -> Found<S, D> {
        if let Some(rows) = self.literal.get(path) {
            return choose(rows, method, Params::new(), false, peer);
        }
        if let Some((source, rest)) = path
            .strip_prefix(FROM)
            .and_then(|tail| tail.split_once('/'))
            && !source.is_empty()
        {
            let rest_path = &path[path.len() - rest.len() - 1..];
            if let Some(rows) = self.literal.get(rest_path) {
                return choose(
                    rows,
                    method,
                    vec![("source", source.to_owned())],
                    true,
                    peer,
                );
            }
        }
        if let Some(rows) = path
            .strip_suffix(MARKDOWN_ENDING)
            .and_then(|page| self.literal.get(page))
        {
            let pages: Vec<_> = rows
                .iter()
                .copied()
                .filter(|row| row.has_markdown)
                .collect();
            let params = vec![(MARKDOWN_PARAMETER, MARKDOWN_ENDING.to_owned())];
            return choose(&pages, method, params, false, peer);
        }
        for pattern in &self.patterns {
            if let Some(params) = pattern.capture(path) {
                return choose(&pattern.rows, method, params, false, peer);
            }
        }
        Found::Nothing
    }
}

impl Segment {
    fn parse(text: &'static str) -> Segment {
        match text
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
        {
            Some(name) => Segment::Parameter(name),
            None => Segment::Literal(text),
        }
    }
}

impl<S, D> Pattern<S, D> {
    fn capture(&self, path: &str) -> Option<Params> {
        let mut parts = path.strip_prefix('/')?.split('/');
        let mut params = Params::new();
        for segment in &self.segments {
            let part = parts.next()?;
            match segment {
                Segment::Literal(text) if *text == part => {}
                Segment::Parameter(name) if !part.is_empty() => {
                    params.push((name, part.to_owned()))
                }
                _ => return None,
            }
        }
        parts.next().is_none().then_some(params)
    }
}

/// GET answers HEAD as well; the body is left out when it is sent.
fn choose<S, D>(
    rows: &[&'static Route<S, D>],
    method: Method,
    params: Params,
    alias: bool,
    peer: Peer,
) -> Found<S, D> {
    let wanted = if method == Method::Head {
        Method::Get
    } else {
        method
    };
    let may_call = |row: &Route<S, D>| row.guard == Guard::Everyone || peer == Peer::Operator;
    let mut rows = rows
        .iter()
        .filter(|row| (row.from_alias || !alias) && may_call(row))
        .peekable();
    if rows.peek().is_none() {
        return Found::Nothing;
    }
    let rows: Vec<_> = rows.collect();
    match rows.iter().find(|row| row.method == wanted) {
        Some(row) => Found::Row(row, params),
        None => Found::OtherMethods(allowed(
            &rows.iter().map(|row| row.method).collect::<Vec<_>>(),
        )),
    }
}

/// The Allow header's methods, in a fixed order.
fn allowed(methods: &[Method]) -> Vec<Method> {
    let mut all = methods.to_vec();
    if all.contains(&Method::Get) {
        all.push(Method::Head);
    }
    all.push(Method::Options);
    all.sort_unstable();
    all.dedup();
    all
}

impl<S, D> fmt::Debug for Router<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("literal", &self.literal.len())
            .field("patterns", &self.patterns.len())
            .finish()
    }
}

impl<S, D> fmt::Debug for Found<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Row(row, params) => write!(f, "Row({}, {params:?})", row.path),
            Found::OtherMethods(methods) => write!(f, "OtherMethods({methods:?})"),
            Found::Nothing => f.write_str("Nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::reply::Reply;

    type Row = Route<(), ()>;

    const fn row(method: Method, path: &'static str) -> Row {
        Route::new(
            method,
            path,
            |_, _| Box::pin(async { Reply::empty(200) }),
            (),
        )
    }

    static ROWS: [Row; 6] = [
        Row {
            from_alias: true,
            ..row(Method::Post, "/v1/x402/access")
        },
        row(Method::Get, "/v1/quotes/{quote_id}"),
        row(Method::Get, "/from/{source}"),
        row(Method::Get, "/checkout/confidence"),
        row(Method::Get, "/checkout/{quote_id}"),
        Row {
            has_markdown: true,
            ..row(Method::Get, "/docs")
        },
    ];

    fn check(method: Method, path: &str, expected: &str) {
        assert_eq!(
            format!(
                "{:?}",
                Router::new(&ROWS).find(method, path, Peer::Operator)
            ),
            expected,
            "{path}"
        );
    }

    #[test]
    fn literal_beats_parameter_and_aliases_name_their_source() {
        check(
            Method::Get,
            "/checkout/confidence",
            "Row(/checkout/confidence, [])",
        );
        check(
            Method::Get,
            "/checkout/qt_1",
            r#"Row(/checkout/{quote_id}, [("quote_id", "qt_1")])"#,
        );
        check(
            Method::Post,
            "/from/ads/v1/x402/access",
            r#"Row(/v1/x402/access, [("source", "ads")])"#,
        );
        check(
            Method::Get,
            "/from/ads",
            r#"Row(/from/{source}, [("source", "ads")])"#,
        );
        check(
            Method::Head,
            "/from/ads",
            r#"Row(/from/{source}, [("source", "ads")])"#,
        );
    }

    #[test]
    fn a_twin_is_found_beside_its_page_alone() {
        check(
            Method::Get,
            "/docs.md",
            r#"Row(/docs, [("markdown", ".md")])"#,
        );
        check(
            Method::Post,
            "/docs.md",
            "OtherMethods([Get, Head, Options])",
        );
        for path in [
            "/checkout/confidence.md",
            "/v1/x402/access.md",
            "/docs.md.md",
            "/.md",
        ] {
            check(Method::Get, path, "Nothing");
        }
    }

    #[test]
    fn another_method_is_named_and_another_spelling_is_nothing() {
        check(
            Method::Get,
            "/v1/x402/access",
            "OtherMethods([Post, Options])",
        );
        check(
            Method::Delete,
            "/v1/quotes/1",
            "OtherMethods([Get, Head, Options])",
        );
        for path in [
            "",
            "/v1/x402/access/",
            "//v1/x402/access",
            "/V1/x402/access",
            "/v1/x402/%61ccess",
            "/v1/x402/./access",
            "/v1/x402/access;a",
            "/from//v1/x402/access",
            "/from/a/b/v1/x402/access",
            "/from/a/checkout/confidence",
            "/v1/quotes/",
            "/v1/quotes",
            "/v1/quotes/a/b",
        ] {
            check(Method::Post, path, "Nothing");
        }
    }
}

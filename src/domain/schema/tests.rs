use super::*;
use crate::domain::shapes::ACCESS_REQUEST;

fn check(body: &str, expected: &[(&str, &str)]) {
    let errors = ACCESS_REQUEST
        .validate(body.as_bytes())
        .err()
        .unwrap_or_default();
    let found: Vec<(String, &str)> = errors
        .iter()
        .map(|error| {
            let parts = error
                .loc
                .iter()
                .map(|part| part.as_str().map_or(part.to_string(), str::to_owned));
            (parts.collect::<Vec<_>>().join("."), error.kind)
        })
        .collect();
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(loc, kind)| (loc.as_str(), *kind))
        .collect();
    assert_eq!(found, expected, "{body}");
}

#[test]
fn a_body_of_thousands_of_members_gets_a_few_complaints() {
    let members: Vec<String> = (0..6_000).map(|n| format!("\"m{n}\":1")).collect();
    let body = format!("{{{}}}", members.join(","));
    let errors = ACCESS_REQUEST.validate(body.as_bytes()).err();
    let count = errors.map_or(0, |errors| errors.len());
    assert!((1..=COMPLAINTS_MAX).contains(&count), "{count}");
}

#[test]
fn each_defect_is_named_where_it_stands() {
    check(
        r#"{"target_url":"https://example.com/","tier":"deep","force_refresh":true}"#,
        &[],
    );
    check("{}", &[("body.target_url", "missing")]);
    check("", &[("body", "missing")]);
    check("[]", &[("body", "model_attributes_type")]);
    check("\"x\"", &[("body", "model_attributes_type")]);
    check("{\"target_url\"", &[("body.13", "json_invalid")]);
    check(
        r#"{"target_url":5,"tier":"Fresh","force_refresh":"yes"}"#,
        &[
            ("body.target_url", "string_type"),
            ("body.tier", "literal_error"),
            ("body.force_refresh", "bool_type"),
        ],
    );
    check(
        r#"{"target_url":"https://a.example/","x":1}"#,
        &[("body.x", "extra_forbidden")],
    );
    check(
        r#"{"target_url":"a","target_url":"b"}"#,
        &[("body.target_url", "extra_forbidden")],
    );
    check(
        r#"{"target_url":null}"#,
        &[("body.target_url", "string_type")],
    );
    check(
        &format!(
            r#"{{"target_url":"https://example.com/{}"}}"#,
            "a".repeat(2048)
        ),
        &[("body.target_url", "string_too_long")],
    );
    check(
        &format!(r#"{{"target_url":{}"#, "[".repeat(200)),
        &[("body.141", "json_invalid")],
    );
}

#[test]
fn a_closed_set_is_spelt_out() {
    let errors = ACCESS_REQUEST
        .validate(br#"{"target_url":"https://a.example/","tier":"x"}"#)
        .expect_err("refused");
    assert_eq!(
        errors[0].msg,
        "Input should be 'starter', 'cached', 'basic', 'fresh' or 'deep'"
    );
    assert_eq!(
        errors[0].to_json()["ctx"]["expected"],
        "'starter', 'cached', 'basic', 'fresh' or 'deep'"
    );
}

#[test]
fn an_open_table_lets_others_by_and_no_member_twice() {
    let kinds = |body: &str| -> Vec<&str> {
        let errors = crate::domain::shapes::COMPUTE_REQUEST.validate(body.as_bytes());
        let errors = errors.err().unwrap_or_default();
        errors.iter().map(|error| error.kind).collect()
    };
    let whole = r#"{"agent_id":"a","task_payload":{},"offered_fee":1,"more":[]}"#;
    assert!(kinds(whole).is_empty());
    assert_eq!(
        kinds(r#"{"agent_id":1,"task_payload":[],"offered_fee":"1"}"#),
        ["string_type", "dict_type", "float_type"]
    );
    assert_eq!(
        kinds(r#"{"agent_id":" ","task_payload":{},"offered_fee":1}"#),
        ["string_too_short"]
    );
    assert_eq!(
        kinds(r#"{"agent_id":"a","task_payload":{},"offered_fee":1,"offered_fee":2}"#),
        ["extra_forbidden"]
    );
}

#[test]
fn a_list_is_an_array_of_texts_or_one_text() {
    let check = |targets: &str, expected: Option<(&str, usize)>| {
        let body = format!(r#"{{"contact":"a","target_urls":{targets}}}"#);
        let errors = crate::domain::shapes::BUNDLE_LEAD_REQUEST.validate(body.as_bytes());
        let errors = errors.err().unwrap_or_default();
        let found = errors.first().map(|error| (error.kind, error.loc.len()));
        assert_eq!(found, expected, "{targets}");
    };
    check(r#"["a","b"]"#, None);
    check(r#""a, b""#, None);
    check("[]", None);
    check(r#"["a",null]"#, Some(("string_type", 3)));
    check("null", Some(("list_type", 2)));
    check(&json!(vec!["a"; 101]).to_string(), Some(("too_long", 2)));
}

#[test]
fn the_tables_hold_valid_json() {
    for object in crate::domain::shapes::ALL {
        for field in object.fields {
            serde_json::from_str::<Value>(field.example).expect("an example is JSON text");
            if let Some(default) = field.default {
                serde_json::from_str::<Value>(default).expect("a default is JSON text");
            }
        }
        let example = object.example(true).to_string();
        assert!(object.validate(example.as_bytes()).is_ok(), "{example}");
    }
}

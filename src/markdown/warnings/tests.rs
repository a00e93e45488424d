use super::*;
use crate::markdown::ContentKind;

#[test]
fn every_warning_has_its_words() {
    use Warning::*;
    let all = [
        ThinContent,
        JsRequired,
        LoginWall,
        Captcha,
        Paywall,
        Truncated,
        CharsetGuessed,
        PromptInjectionSuspected,
        NoaiSignal,
        LowConfidence,
    ];
    assert_eq!(all.len(), WORDS.len());
    for warning in all {
        assert!(!warning.code().contains(' ') && warning.message().ends_with('.'));
    }
}

#[test]
fn phrases_are_in_the_case_they_are_looked_for_in() {
    let tables: [&[&str]; 8] = [
        &SCRIPT_WALLS,
        &CAPTCHA_TITLES,
        &CAPTCHA_TEXTS,
        &CHALLENGE_SCRIPTS,
        &CAPTCHA_SCRIPTS,
        &LOGIN_TITLES,
        &LOGIN_TEXTS,
        &PAYWALL_TEXTS,
    ];
    for phrase in tables.into_iter().flatten() {
        assert_eq!(phrase.to_lowercase(), **phrase);
    }
}

fn check(html: &str, expected: &[Warning]) {
    let found = page(html).warnings;
    assert_eq!(found, expected, "{html}");
}

fn page(html: &str) -> crate::markdown::Page {
    converted(ContentKind::Html, html)
}

fn converted(kind: ContentKind, text: &str) -> crate::markdown::Page {
    let mut converter = crate::markdown::Converter::new(crate::markdown::Settings {
        kind,
        url: url::Url::parse("https://example.org/a").expect("a valid URL"),
        charset: None,
        full: false,
    });
    converter.push(text.as_bytes()).expect("text");
    converter.finish().expect("a page")
}

fn words(count: usize) -> String {
    format!("<p>{}</p>", "word ".repeat(count))
}

use Warning::*;

#[test]
fn checks_for_robots_are_called_so() {
    check(
        "<title>Just a moment...</title><p>Please wait.",
        &[ThinContent, Captcha],
    );
    check(
        "<title>news.example</title><script>window._cf_chl_opt={}</script><p>Waiting",
        &[ThinContent, Captcha],
    );
    check(
        "<title>a</title><script src=https://ct.captcha-delivery.com/c.js></script><p>Please turn on cookies",
        &[ThinContent, Captcha],
    );
    check(
        "<p>Press &amp; Hold to confirm you are a human.",
        &[ThinContent, Captcha],
    );
    check(
        "<title>Hi</title><script src='https://www.google.com/recaptcha/api.js'></script><p>Go on",
        &[ThinContent, Captcha],
    );
    // An article about them, and a form that has one.
    check(
        &format!("<title>Captcha, a history</title>{}", words(200)),
        &[],
    );
    check(
        &format!(
            "<title>Contact</title><script src='//hcaptcha.com/1/api.js'></script>{}",
            words(60)
        ),
        &[],
    );
    check(
        &format!(
            "<script>window.__CF$cv$params={{}};a='/cdn-cgi/challenge-platform/scripts/jsd/main.js'</script>{}",
            words(60)
        ),
        &[],
    );
}

#[test]
fn logins_in_place_of_content_are_called_so() {
    let form = "<form><input name=u><input type=password name=p></form>";
    check(
        &format!("<title>Log in - Forum</title><p>Welcome back{form}"),
        &[ThinContent, LoginWall],
    );
    check(
        "<p>You must be logged in to view this thread.",
        &[ThinContent, LoginWall],
    );
    check(
        &format!("<title>登录</title><p>欢迎{form}"),
        &[ThinContent, LoginWall],
    );
    check(
        &format!("<title>Loginov's chess games</title>{}{form}", words(60)),
        &[],
    );
    check(&format!("<title>A thread</title>{}{form}", words(60)), &[]);
    check(&format!("<title>Log in</title>{}{form}", words(300)), &[]);
    let thread = format!(
        "<title>T</title>{form}<p>Sign in to continue<noscript>{}</noscript>",
        words(300)
    );
    check(&thread, &[]);
}

#[test]
fn paywalls_are_called_so() {
    let json = |free: &str| {
        format!(
            "<script type=application/ld+json>{{\"@type\":\"Article\",\"isAccessibleForFree\":{free}}}</script>"
        )
    };
    check(&format!("{}{}", json("false"), words(60)), &[Paywall]);
    check(&format!("{}{}", json("\"False\""), words(500)), &[Paywall]);
    check(&format!("{}{}", json("true"), words(60)), &[]);
    check(
        &format!(
            "<meta property=article:content_tier content=locked>{}",
            words(60)
        ),
        &[Paywall],
    );
    check(
        &format!("{}<p>Subscribe to continue reading.", words(60)),
        &[Paywall],
    );
    check(
        &format!("{}<p>Cet article est réservé aux abonnés", words(60)),
        &[Paywall],
    );
    check(
        &format!("{}<p>Subscribe to continue reading.", words(500)),
        &[],
    );
    check(
        &format!("{}<p>Subscribe to our newsletter.", words(60)),
        &[],
    );
}

#[test]
fn pages_that_need_scripts_are_called_so() {
    check(
        "<div id=root>You need to enable JavaScript to run this app.</div>",
        &[ThinContent, JsRequired],
    );
    check(
        &format!("{}<p>How to enable JavaScript in a browser", words(200)),
        &[],
    );
}

#[test]
fn a_page_that_ends_too_early_is_called_so() {
    check(&format!("{}<script>var a = ", words(60)), &[Truncated]);
    check(&words(60), &[]);
}

#[test]
fn in_a_script_without_spaces_each_character_is_a_word() {
    let of = |characters: usize| "退".repeat(characters);
    check(&format!("<p>{}</p>", of(60)), &[]);
    check(&format!("<p>{}</p>", of(48)), &[ThinContent]);
    for kind in [ContentKind::PlainText, ContentKind::Markdown] {
        assert_eq!(converted(kind, &of(60)).warnings, []);
        assert_eq!(converted(kind, &of(49)).warnings, [ThinContent]);
    }
}

//! Pages made to break the conversion, and the properties that hold for any page.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::markdown::kinds::archive;
use crate::markdown::work::tests::fast_clock;

#[test]
fn the_size_limit_is_exact() {
    let size = usize::try_from(PAGE_BYTES_MAX).expect("fits");
    let page = "a ".repeat(size / 2);
    let mut converter = Converter::new(settings(ContentKind::Html));
    converter
        .push(page.as_bytes())
        .expect("the limit itself passes");
    assert_eq!(converter.push(b"a"), Err(ConvertError::TooLarge));
    assert_eq!(converter.push(b""), Err(ConvertError::TooLarge));
    assert_eq!(converter.finish().err(), Some(ConvertError::TooLarge));
    let page =
        convert(settings(ContentKind::Html), page.as_bytes()).expect("the limit itself passes");
    assert_eq!(page.markdown.len(), size);
}

/// Pages made to exhaust time, memory or the stack. Each must end in an answer, and no answer may be much larger than
/// the page.
#[test]
fn bombs_end_in_an_answer() {
    let size = usize::try_from(PAGE_BYTES_MAX).expect("fits") / 20;
    let repeated = |piece: &str| piece.repeat(size / piece.len());
    let long_base = format!("<base href='/{}/'>", "b".repeat(1500));
    let bombs = [
        repeated("<div>"),
        repeated("<div>a"),
        repeated("<p><b>"),
        repeated("<b><div>"),
        repeated("<ul><li>"),
        repeated("<ul><li>a"),
        repeated("<blockquote>a<br>"),
        repeated("<table><tr><td>a"),
        repeated("<td>"),
        format!("<table>{}", repeated("<tr><td colspan=1000 rowspan=9999>x")),
        format!("<table><tr>{}", repeated("<td>a")),
        // A cell over all columns of a head of two rows, in very many blocks.
        format!(
            "<table><tr><th>a<th colspan=60>{}<tr><th>b<th>c<tr><td>d<td>e</table>",
            repeated("<p>a")
        ),
        format!("<p {}>text", repeated("a=b ")),
        format!("<p class='{}'>text", repeated("token ")),
        format!("text<!--{}", repeated("x ")),
        format!("text<p title='{}", repeated("x ")),
        format!("<a href='{}'>text</a>", repeated("x")),
        format!("{long_base}{}", repeated("<a href=x>y</a>")),
        repeated("&amp;"),
        repeated("&am"),
        repeated("<"),
        repeated("</p></div>"),
        repeated("<svg><style>"),
        repeated("<a href=x>a<li>"),
        repeated("*_[`~"),
        repeated("<i>.</i>a"),
        repeated("<code>`"),
        repeated("<dl><dt>"),
        repeated("<x-y>"),
        format!("{}{}", words(200), repeated("\0")),
        format!("text<plaintext>{}", repeated("<p>")),
        format!("text<frameset>{}", repeated("<select><iframe>")),
        repeated("<pre><div>a"),
        repeated("<h1>a<br>"),
        repeated("<noscript><p>a</noscript>"),
        repeated("<title>a</title>"),
        repeated("<meta name=a content=b>"),
    ];
    for bomb in bombs {
        let name = &bomb[..bomb.len().min(60)];
        for full in [true, false] {
            let settings = Settings {
                full,
                ..settings(ContentKind::Html)
            };
            match convert(settings, bomb.as_bytes()) {
                // Addresses have a bound of their own.
                Ok(page) => assert!(
                    page.markdown.len() < 12 * size + 5 * 1024 * 1024,
                    "{name}: {}",
                    page.markdown.len()
                ),
                Err(error) => assert!(
                    matches!(error, ConvertError::Empty | ConvertError::OutOfMemory),
                    "{name}: {error}"
                ),
            }
        }
    }
}

/// A page of any kind could cost minutes once, where a cause was not known: only some kinds had a bound on all their work.
#[test]
fn no_kind_of_page_takes_longer_than_it_may() {
    let office = |name: &str, text: &str| archive(&[("mimetype", b"x"), (name, text.as_bytes())]);
    let word = format!(
        "<w:body>{}</w:body>",
        "<w:p><w:r><w:t>a</w:t></w:r></w:p>".repeat(5_000)
    );
    let open = format!(
        "<office:text>{}</office:text>",
        "<text:p>a</text:p>".repeat(5_000)
    );
    let package = format!("<package>{}</package>", "<item/>".repeat(5_000));
    let book = archive(&[
        ("mimetype", b"application/epub+zip"),
        (
            "META-INF/container.xml",
            b"<container><rootfile full-path='b.opf'/></container>",
        ),
        ("b.opf", package.as_bytes()),
    ]);
    let sheets = format!("<workbook>{}</workbook>", "<a/>".repeat(5_000));
    let content = format!("BT /F1 9 Tf {}ET", "(a)Tj ".repeat(50_000));
    let pdf = format!(
        "%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj \
         3 0 obj<</Contents 4 0 R>>endobj 4 0 obj<</Length {}>>stream\n{content}\nendstream endobj",
        content.len()
    );
    let pages: [(ContentKind, Vec<u8>); KINDS.len()] = [
        (ContentKind::Html, "<p>a".repeat(30_000).into()),
        (ContentKind::Markdown, "# a\n".repeat(5_000).into()),
        (ContentKind::PlainText, "a\n".repeat(5_000).into()),
        (
            ContentKind::Json,
            format!("[{}1]", "1,".repeat(5_000)).into(),
        ),
        (ContentKind::Xml, "<a>b</a>".repeat(5_000).into()),
        (
            ContentKind::Feed,
            format!(
                "<rss><channel>{}",
                "<item><title>a</title></item>".repeat(5_000)
            )
            .into(),
        ),
        (ContentKind::Csv, "a,b\n".repeat(5_000).into()),
        (ContentKind::Pdf, pdf.into()),
        (ContentKind::Docx, office("word/document.xml", &word)),
        (ContentKind::Odt, office("content.xml", &open)),
        (ContentKind::Epub, book),
        (ContentKind::Xlsx, office("xl/workbook.xml", &sheets)),
        (
            ContentKind::Notebook,
            format!("{{\"cells\":[{}{{}}]}}", "{},".repeat(5_000)).into(),
        ),
    ];
    for (kind, bytes) in pages {
        let converted = |each: Duration| {
            let mut converter = Converter::new(settings(kind)).timed(fast_clock(each));
            converter.push(&bytes).and_then(|()| converter.finish())
        };
        let in_time = converted(Duration::ZERO);
        assert_ne!(in_time.err(), Some(ConvertError::TooComplex), "{kind:?}");
        // The clock is read now and then, as the work goes on.
        let late = converted(WORK_TIME_MAX / 3);
        assert_eq!(late.err(), Some(ConvertError::TooComplex), "{kind:?}");
    }
}

/// The same where selectors narrow the page, and in each later pass over what was read.
#[test]
fn each_pass_over_a_page_looks_at_the_time() {
    let html = format!(
        "<article>{}</article>",
        "<p>Some words of it.</p>".repeat(200)
    );
    let looks = Rc::new(Cell::new(0));
    let read = |late_at: usize, narrows: bool| {
        looks.set(0);
        let count = Rc::clone(&looks);
        let clock = move || {
            count.set(count.get() + 1);
            match count.get() > late_at {
                true => 2 * WORK_TIME_MAX,
                false => Duration::ZERO,
            }
        };
        let narrowing = Narrowing::new(Some("p"), None).expect("a selector");
        let settings = Settings {
            full: false,
            ..settings(ContentKind::Html)
        };
        let mut converter = Converter::new(settings).timed(clock);
        if narrows {
            converter = converter.narrowed(narrowing);
        }
        converter
            .push(html.as_bytes())
            .and_then(|()| converter.finish())
    };
    for (narrows, looks_min) in [(false, 12), (true, 6)] {
        assert!(read(1_000, narrows).is_ok());
        let all = looks.get();
        assert!(all >= looks_min, "{all}");
        for late_at in 1..all {
            let late = read(late_at, narrows).err();
            assert_eq!(late, Some(ConvertError::TooComplex), "{late_at} of {all}");
        }
    }
}

/// A page put together from pieces that are hard to cut.
fn any_page() -> impl Strategy<Value = String> {
    const PIECES: [&str; 36] = [
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<ul>",
        "<li>",
        "</ul>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<pre>",
        "</pre>",
        "<code>",
        "</code>",
        "<a href='/x?a&amp;b'>",
        "</a>",
        "<blockquote>",
        "</blockquote>",
        "<h2>",
        "</h2>",
        "<br>",
        "&amp;lt;",
        "é漢",
        "word ",
        " * _x_ ",
        "[a](b)",
        "<script>a</script>",
        "<noscript>n</noscript>",
        "<img src=i.png alt='a&quot;b'>",
        "<!-- c -->",
        "\r\n",
    ];
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..60)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn chunk_boundaries_never_matter(html in any_page(), cuts in proptest::collection::vec(1usize..40, 1..20), full: bool) {
        let settings = Settings { full, ..settings(ContentKind::Html) };
        let whole = convert(settings.clone(), html.as_bytes());
        let mut converter = Converter::new(settings);
        let mut rest = html.as_bytes();
        for &cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            converter.push(now).expect("small pages are no problem");
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(converter.finish(), whole);
    }

    #[test]
    fn documents_are_tidy(html in any_page()) {
        // Code keeps its empty lines, and code with line breaks is a block of it.
        let html = html.replace("<pre>", "<p>").replace("<code>", "<b>");
        if let Ok(page) = convert(settings(ContentKind::Html), html.as_bytes()) {
            let text = &page.markdown;
            prop_assert!(text.ends_with('\n') && !text.ends_with("\n\n") && !text.starts_with('\n'));
            prop_assert!(!text.contains("\n\n\n"), "{}", text);
        }
    }

    #[test]
    fn any_bytes_end_in_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let whole = convert(settings(ContentKind::Html), &bytes);
        let mut converter = Converter::new(settings(ContentKind::Html));
        let pushed = bytes.iter().try_for_each(|byte| converter.push(&[*byte]));
        prop_assert_eq!(pushed.and_then(|()| converter.finish()), whole);
    }
}

/// An empty page is never sold, whatever it is said to be.
#[test]
fn a_page_without_a_character_that_can_be_seen_is_empty() {
    for kind in [
        ContentKind::Html,
        ContentKind::PlainText,
        ContentKind::Markdown,
    ] {
        for text in ["", " \n\t ", "\u{200b}\n\u{200b}", "\u{ad} \u{2060}"] {
            let mut converter = Converter::new(settings(kind));
            converter.push(text.as_bytes()).expect("text");
            assert_eq!(
                converter.finish(),
                Err(ConvertError::Empty),
                "{kind:?} {text:?}"
            );
        }
    }
    assert!(has_text("\\") && has_text("。") && !has_text("\u{feff}\r\n"));
}

//! Pages that are no HTML, or in other encodings.

use super::*;

#[test]
fn charsets() {
    let russian = "Сегодня в городе ожидается переменная облачность и небольшой дождь. ".repeat(10);
    let (bytes, _, _) = encoding_rs::WINDOWS_1251.encode(&russian);
    let guessed = convert(settings(ContentKind::Html), &bytes).expect("the page converts");
    assert_eq!(guessed.markdown.trim_end(), russian.trim_end());
    assert_eq!(guessed.warnings, [Warning::CharsetGuessed]);

    let declared = Settings {
        charset: Some("windows-1251".to_owned()),
        ..settings(ContentKind::Html)
    };
    assert_eq!(
        convert(declared, &bytes)
            .expect("the page converts")
            .warnings,
        []
    );

    let japanese = "<p>日本語のページ</p>";
    let (bytes, _, _) = encoding_rs::ISO_2022_JP.encode(japanese);
    let mut in_meta = b"<meta charset=iso-2022-jp>".to_vec();
    in_meta.extend_from_slice(&bytes);
    let page = convert(settings(ContentKind::Html), &in_meta).expect("the page converts");
    assert_eq!(page.markdown, "日本語のページ\n");

    let wide: Vec<u8> = std::iter::once(0xFEFF)
        .chain(japanese.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let page = convert(settings(ContentKind::Html), &wide).expect("the page converts");
    assert_eq!(page.markdown, "日本語のページ\n");
}

#[test]
fn markdown_passes_as_it_is() {
    check_text(
        ContentKind::Markdown,
        "\u{FEFF}# A\r\n\r\n* b\r\n\r\n\r\n",
        "# A\n\n* b\n",
    );
    let text = "# Top #\n\n```\n# code [x](/no)\n```\n\n## Sub\n[a](/x \"t\") ![i](/i.png) [b](https://b.example/)\n";
    let page =
        convert(settings(ContentKind::Markdown), text.as_bytes()).expect("the text converts");
    let absolute = text
        .replace("](/x", "](https://example.org/x")
        .replace("](/i", "](https://example.org/i");
    assert_eq!(page.markdown, absolute);
    assert_eq!(page.metadata.title.as_deref(), Some("Top"));
    let headings: Vec<_> = page
        .headings
        .iter()
        .map(|h| (h.level, h.text.as_str()))
        .collect();
    assert_eq!(headings, [(1, "Top"), (2, "Sub")]);
    let urls: Vec<_> = page.links.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(urls, ["https://example.org/x", "https://b.example/"]);
}

#[test]
fn markdown_is_left_without_scripts_and_html() {
    let check = |text: &str, expected: &str| check_text(ContentKind::Markdown, text, expected);
    check(
        "[a](javascript:alert(1)) [b](JaVa&#x73;cript:x)\n",
        "[a]() [b]()\n",
    );
    check(
        "![i](data:image/png;base64,x) <javascript:x> <https://b.example/>\n",
        "![i]()  <https://b.example/>\n",
    );
    check(
        "[a]: /x 'T'\n\nsee [a]: not\n",
        "[a]: https://example.org/x 'T'\n\nsee [a]: not\n",
    );
    check(
        "[a](<b c> \"t\") [d](e(f)g)\n",
        "[a](https://example.org/docs/b%20c \"t\") [d](https://example.org/docs/e(f)g)\n",
    );
    check(
        "<p align=center><a href=/x><img src='i.png' alt=\"A > B\"></a>one<br/>two <script>no()</script><!-- no --></p>\n",
        "[![A > B](https://example.org/docs/i.png)](https://example.org/x)one two \n",
    );
    check(
        "`<b>` 1 < 2 <3 \\<i> ``a ` <u>``\n",
        "`<b>` 1 < 2 <3 \\<i> ``a ` <u>``\n",
    );
    check(
        "text\n\n    <b>code</b>\n\n~~~\n<i>\n~~~\n",
        "text\n\n    <b>code</b>\n\n~~~\n<i>\n~~~\n",
    );
}

#[test]
fn text_of_old_systems_is_text() {
    check_text(
        ContentKind::PlainText,
        "a\rb\r\rc\u{7}\u{1b}[1md\u{c}e",
        "a\nb\n\nc[1md\ne\n",
    );
    let wide: Vec<u8> = "\u{FEFF}Grüße\r\n"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let page = convert(settings(ContentKind::PlainText), &wide).expect("the text converts");
    assert_eq!(page.markdown, "Grüße\n");
}

#[test]
fn plain_text_reads_like_the_text() {
    check_text(
        ContentKind::PlainText,
        "A line\nand *another*\n\n\n\n# 1\n",
        "A line\nand \\*another\\*\n\n\\# 1\n",
    );
    check_text(
        ContentKind::PlainText,
        "Table\n\n  a   b\n  ```\n\nend",
        "Table\n\n````\n  a   b\n  ```\n````\n\nend\n",
    );
}

#[test]
fn what_is_not_text_is_refused() {
    let refused = |bytes: &[u8]| convert(settings(ContentKind::Html), bytes).err();
    assert_eq!(refused(b"%PDF-1.7 ..."), Some(ConvertError::NotText));
    assert_eq!(refused(&[b'a', 0, b'b']), Some(ConvertError::NotText));
    assert_eq!(refused(&vec![0; 100_000]), Some(ConvertError::NotText));
    assert_eq!(refused(b""), Some(ConvertError::Empty));
    assert_eq!(
        refused(b" <p> <script>x</script><img src=/x.png>"),
        Some(ConvertError::Empty)
    );
    assert_eq!(
        convert(settings(ContentKind::PlainText), b" \n").err(),
        Some(ConvertError::Empty)
    );
}

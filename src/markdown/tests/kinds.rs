//! Pages that are no HTML, or in other encodings.

use super::*;
use crate::markdown::kinds::archive;

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

/// An office document comes out like a page: with its headings, lists, tables, links and notes.
#[test]
fn office_documents_become_markdown() {
    let text = r#"<w:document><w:body>
        <w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Gates</w:t></w:r></w:p>
        <w:p><w:r><w:t>They </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>squeak</w:t></w:r><w:r><w:t>.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>
        <w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>oil</w:t></w:r></w:p>
        <w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>graphite</w:t></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>year</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>gates</w:t></w:r></w:p></w:tc></w:tr>
        <w:tr><w:tc><w:p><w:r><w:t>2024</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>3</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
        </w:body></w:document>"#;
    let notes = r#"<w:footnotes><w:footnote w:id="2"><w:p><w:r><w:t>When it rains.</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
    let bytes = archive(&[
        ("[Content_Types].xml", &b""[..]),
        ("word/document.xml", text.as_bytes()),
        ("word/footnotes.xml", notes.as_bytes()),
        ("docProps/core.xml", b"<a><dc:creator>Ada</dc:creator></a>"),
    ]);
    let page = convert(settings(ContentKind::Docx), &bytes).expect("the document converts");
    assert_eq!(
        page.markdown,
        "# Gates\n\nThey **squeak**.[^1]\n\n- oil\n- graphite\n\n| year | gates |\n| --- | --- |\n| 2024 | 3 |\n\n[^1]: When it rains.\n"
    );
    assert_eq!(page.metadata.title.as_deref(), Some("Gates"));
    assert_eq!(page.metadata.author.as_deref(), Some("Ada"));
    assert_eq!(page.headings.len(), 1);
}

/// A few kilobytes that unpack to hundreds of megabytes, and elements without end.
#[test]
fn bombs_in_archives_end_in_an_answer() {
    let open = format!("<w:body>{}", "<w:p><w:r><w:t>a".repeat(400_000));
    let flat = format!(
        "<w:body>{}",
        "<w:p><w:r><w:t>a</w:t></w:r></w:p>".repeat(250_000)
    );
    let wide = format!(
        "<office:text>{}",
        "<table:table-cell table:number-columns-repeated='99'/>".repeat(100_000)
    );
    for (kind, name, text) in [
        (ContentKind::Docx, "word/document.xml", &open),
        (ContentKind::Docx, "word/document.xml", &flat),
        (ContentKind::Odt, "content.xml", &wide),
    ] {
        let bytes = archive(&[("a", &b""[..]), (name, text.as_bytes())]);
        assert!(bytes.len() < 200_000);
        match convert(settings(kind), &bytes) {
            Ok(page) => {
                assert!(page.markdown.len() < 10 * 1024 * 1024);
                assert!(page.warnings.contains(&Warning::Truncated));
            }
            Err(error) => assert!(matches!(
                error,
                ConvertError::Empty | ConvertError::OutOfMemory
            )),
        }
    }
}

#[test]
fn documents_that_are_none_are_refused() {
    for kind in [
        ContentKind::Docx,
        ContentKind::Odt,
        ContentKind::Epub,
        ContentKind::Xlsx,
    ] {
        for bytes in [&b"PK\x03\x04"[..], b"", &archive(&[("a", b"b")])] {
            assert_eq!(
                convert(settings(kind), bytes).err(),
                Some(ConvertError::DamagedDocument)
            );
        }
    }
}

//! Whole files, written by hand: what a file says, and what hostile ones cost.

use std::io::Write;

use super::*;
use crate::markdown::{ContentKind, Metadata};

fn settings() -> Settings {
    Settings {
        kind: ContentKind::Pdf,
        url: Url::parse("https://example.org/a.pdf").expect("a valid URL"),
        charset: None,
        full: false,
    }
}

fn convert(file: &[u8]) -> Result<Page, ConvertError> {
    page(file, &settings())
}

/// A file of these objects, numbered from 1, of which the first is the catalog.
fn file(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    for (at, object) in objects.iter().enumerate() {
        file.extend(format!("{} 0 obj\n", at + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    file.extend(format!("trailer <</Root 1 0 R {trailer}>>\n%%EOF").bytes());
    file
}

fn stream(dict: &str, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let head = format!("<<{dict}/Length {length}>>\nstream\n");
    [head.as_bytes(), content, b"\nendstream"].concat()
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

/// One page that shows this content in Helvetica as F1.
fn simple(content: &[u8], trailer: &str) -> Vec<u8> {
    let page = "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>";
    file(
        &[
            b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
            page.into(),
            stream("", content),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
        ],
        trailer,
    )
}

const TEXT: &[u8] = b"BT /F1 24 Tf 50 700 Td (A title) Tj /F1 10 Tf 0 -40 Td (The first line of a *text* that goes) Tj \
    0 -12 Td [(on with a wo)10(rd)-400(and \\200 5.)] TJ ET";

#[test]
fn a_page_is_read_with_what_the_file_says_of_itself() {
    let info = "/Info <</Title(My \\(title\\))/Author(Ann)/CreationDate(D:20240131120000Z)/Keywords(a, b)>>";
    let page = convert(&simple(TEXT, info)).expect("the file converts");
    assert_eq!(
        page.markdown,
        "# A title\n\nThe first line of a \\*text\\* that goes on with a word and € 5.\n"
    );
    let expected = Metadata {
        title: Some("My (title)".to_owned()),
        author: Some("Ann".to_owned()),
        published_at: Some("2024-01-31T12:00:00Z".to_owned()),
        keywords: vec!["a".to_owned(), "b".to_owned()],
        ..Metadata::default()
    };
    assert_eq!(page.metadata, expected);
    assert_eq!(page.headings.len(), 1);
}

#[test]
fn pages_are_marked_and_their_links_given() {
    let font = "/Resources<</Font<</F1 5 0 R>>>>";
    let link = "/Annots[<</Subtype/Link/A<</URI(/x)>>>> <</A<</URI(javascript:x)>>>>]";
    let files = file(
        &[
            b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
            format!("<</Kids[3 0 R 4 0 R]{font}>>").into(),
            format!("<</Type/Page/Parent 2 0 R/Contents[6 0 R]{link}>>").into(),
            b"<</Type/Page/Parent 2 0 R/Contents 7 0 R>>".to_vec(),
            b"<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>".to_vec(),
            stream(
                "/Filter/FlateDecode",
                &deflated(b"BT /F1 9 Tf (Page one.) Tj ET"),
            ),
            stream("", b"BT /F1 9 Tf (Page two.) Tj ET"),
        ],
        "",
    );
    let page = convert(&files).expect("the file converts");
    assert_eq!(
        page.markdown,
        "Page one.\n\n---\n\n**Page 2**\n\nPage two.\n"
    );
    let urls: Vec<&str> = page.links.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(urls, ["https://example.org/x"]);
}

#[test]
fn composite_fonts_and_object_streams_are_read() {
    let map = b"begincodespacerange <0000> <FFFF> endcodespacerange beginbfrange <0001> <0003> <0430> endbfrange \
        beginbfchar <0004> <0020> endbfchar";
    let inside = b"1 0 2 29 <</Type/Catalog/Pages 2 0 R>><</Kids[3 0 R]>>";
    let first = inside.iter().position(|b| *b == b'<').unwrap_or_default();
    let objects = [
        stream(
            &format!("/Type/ObjStm/N 2/First {first}/Filter/FlateDecode"),
            &deflated(inside),
        ),
        b"<</Type/Page/Contents 12 0 R/Resources<</Font<</F 13 0 R>>>>>>".to_vec(),
        stream("", b"BT /F 9 Tf <00010002000300040001000200030001000200030001> Tj ET"),
        b"<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 14 0 R/DescendantFonts[<</DW 500>>]>>".to_vec(),
        stream("", map),
    ];
    let mut file = b"%PDF-1.7\n".to_vec();
    for (number, object) in [10, 3, 12, 13, 14].iter().zip(objects) {
        file.extend(format!("{number} 0 obj ").bytes());
        file.extend(object);
        file.extend(b" endobj\n");
    }
    file.extend(b"20 0 obj <</Type/XRef/Root 1 0 R/Length 0>> stream\nendstream endobj");
    let page = convert(&file).expect("the file converts");
    assert_eq!(page.markdown, "абв абвабва\n");
}

#[test]
fn what_cannot_be_read_is_said() {
    let check = |file: &[u8], expected: ConvertError| assert_eq!(convert(file), Err(expected));
    check(
        &simple(TEXT, "/Encrypt <</Filter/Standard>>"),
        ConvertError::EncryptedPdf,
    );
    check(
        &simple(b"q 100 0 0 100 0 0 cm /Im1 Do Q", ""),
        ConvertError::ScannedPdf,
    );
    check(
        &simple(
            b"BT /F1 9 Tf (\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f\x10\x11) Tj ET",
            "",
        ),
        ConvertError::UnmappedPdf,
    );
    check(b"%PDF-1.7\n", ConvertError::DamagedPdf);
    check(
        b"%PDF-1.7\n1 0 obj <</Type/Catalog>> endobj",
        ConvertError::DamagedPdf,
    );
    // The first half of a file has its catalog and its page, and here not yet their text.
    let whole = simple(TEXT, "");
    for end in 0..whole.len() {
        let _ = convert(&whole[..end]);
    }
    // Without the trailer the catalog is found by its type.
    let cut = whole.len() - 40;
    assert!(convert(&whole[..cut]).is_ok());
}

#[test]
fn trees_that_bite_their_tails_end() {
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Kids[2 0 R 3 0 R 2 0 R 3 0 R]/Parent 2 0 R>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R>>".to_vec(),
        // A form that shows itself, again and again.
        stream(
            "/Subtype/Form/Resources<</XObject<</X 4 0 R>>>>",
            &b"/X Do ".repeat(2_000),
        ),
        b"5 0 R".to_vec(),
    ];
    assert_eq!(
        convert(&file(&objects, "/Info 5 0 R")),
        Err(ConvertError::ScannedPdf)
    );
    let mut forms = objects.clone();
    forms[2] = b"<</Type/Page/Contents 4 0 R/Resources<</XObject<</X 4 0 R>>>>>>".to_vec();
    assert_eq!(convert(&file(&forms, "")), Err(ConvertError::ScannedPdf));
}

#[test]
fn many_pages_are_cut() {
    let kids = "3 0 R ";
    let mut objects = vec![b"<</Type/Catalog/Pages 2 0 R>>".to_vec()];
    let numbers: String = (6..=800).map(|number| format!("{number} 0 R ")).collect();
    objects.push(format!("<</Kids[{kids}{numbers}]/Resources<</Font<</F1 5 0 R>>>>>>").into());
    objects.push(b"<</Type/Page/Parent 2 0 R/Contents 4 0 R>>".to_vec());
    objects.push(stream(
        "",
        b"BT /F1 9 Tf (Words of a page that stand in the middle) Tj ET",
    ));
    objects.push(b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>".to_vec());
    for number in 6..=800 {
        objects.push(format!("<</Type/Page/Parent 2 0 R/Contents {} 0 R>>", 795 + number).into());
    }
    for number in 6..=800 {
        let letters: String = format!("{number}")
            .bytes()
            .map(|b| char::from(b + 49))
            .collect();
        let text = format!("BT /F1 9 Tf (Page with the letters {letters}) Tj ET");
        objects.push(stream("", text.as_bytes()));
    }
    let page = convert(&file(&objects, "")).expect("the file converts");
    assert!(page.warnings.contains(&Warning::Truncated));
    assert!(page.markdown.contains("**Page 500**") && !page.markdown.contains("**Page 501**"));
}

#[test]
fn bombs_are_bounded() {
    // 5 kB that become 5 MB of text, shown a thousand times.
    let bomb = deflated(&b"BT (x) Tj ET ".repeat(400_000));
    let contents = "4 0 R ".repeat(1_000);
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Kids[3 0 R]>>".to_vec(),
        format!("<</Type/Page/Contents[{contents}]>>").into(),
        stream("/Filter/FlateDecode", &bomb),
    ];
    let page = convert(&file(&objects, "")).expect("what fits is given");
    assert!(page.warnings.contains(&Warning::Truncated) && page.markdown.len() < 10_000_000);

    // An object stream whose objects are all one large array.
    let pairs: String = (100..100_000)
        .map(|number| format!("{number} 0 "))
        .collect();
    let content = format!("{pairs}[{}]", "0 ".repeat(2_000_000));
    let first = pairs.len();
    let references: String = (100..90_000)
        .map(|number| format!("{number} 0 R "))
        .collect();
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Kids[{references}]>>").into(),
        stream(
            &format!("/Type/ObjStm/N 99900/First {first}/Filter/FlateDecode"),
            &deflated(content.as_bytes()),
        ),
    ];
    assert_eq!(convert(&file(&objects, "")), Err(ConvertError::DamagedPdf));

    // Depth.
    let deep = simple(&b"[".repeat(1_000_000), "");
    assert_eq!(convert(&deep), Err(ConvertError::ScannedPdf));
    let deep = file(&[b"<</A".repeat(200_000)], "");
    assert_eq!(convert(&deep), Err(ConvertError::DamagedPdf));
}

#[test]
fn any_change_of_a_file_is_survived() {
    let whole = simple(TEXT, "/Info <</Title(T)>>");
    for at in 0..whole.len() {
        for byte in [b'<', b'(', b'0', b' ', 0xFF] {
            let mut changed = whole.clone();
            changed[at] = byte;
            // Not even caught: nothing may panic.
            let _ = read(&changed, &settings());
        }
    }
}

/// Three invoices that differ in the total: all of their lines were taken for running heads and an empty page was
/// sold.
#[test]
fn invoices_that_differ_in_the_total_keep_their_lines() {
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[4 0 R 6 0 R 8 0 R]/Count 3>>".to_vec(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
    ];
    for (at, total) in [120, 75, 310].into_iter().enumerate() {
        let content = format!(
            "BT /F1 10 Tf 50 700 Td (Harbour Supplies) Tj 0 -40 Td (Invoice) Tj 0 -40 Td (Total {total}.00) Tj \
             0 -40 Td (Thank you) Tj ET"
        );
        let contents = 5 + 2 * at;
        objects.push(
            format!("<</Type/Page/Parent 2 0 R/Contents {contents} 0 R/Resources<</Font<</F1 3 0 R>>>>>>")
                .into_bytes(),
        );
        objects.push(stream("", content.as_bytes()));
    }
    let page = convert(&file(&objects, "")).expect("the file converts");
    for total in ["Total 120.00", "Total 75.00", "Total 310.00"] {
        assert!(page.markdown.contains(total), "{}", page.markdown);
    }
    assert_eq!(page.markdown.matches("Harbour Supplies").count(), 3);
}

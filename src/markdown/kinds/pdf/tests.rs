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
    page(file, &settings(), &Work::default())
}

fn open(file: &[u8]) -> File<'_> {
    File::open(file, &Work::default())
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
    const LAST: usize = PAGES_MAX + 100;
    let kids = "3 0 R ";
    let mut objects = vec![b"<</Type/Catalog/Pages 2 0 R>>".to_vec()];
    let numbers: String = (6..=LAST).map(|number| format!("{number} 0 R ")).collect();
    objects.push(format!("<</Kids[{kids}{numbers}]/Resources<</Font<</F1 5 0 R>>>>>>").into());
    objects.push(b"<</Type/Page/Parent 2 0 R/Contents 4 0 R>>".to_vec());
    objects.push(stream(
        "",
        b"BT /F1 9 Tf (Words of a page that stand in the middle) Tj ET",
    ));
    objects.push(b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>".to_vec());
    for number in 6..=LAST {
        objects.push(
            format!(
                "<</Type/Page/Parent 2 0 R/Contents {} 0 R>>",
                LAST - 5 + number
            )
            .into(),
        );
    }
    for number in 6..=LAST {
        let letters: String = format!("{number}")
            .bytes()
            .map(|b| char::from(b + 49))
            .collect();
        let text = format!("BT /F1 9 Tf (Page with the letters {letters}) Tj ET");
        objects.push(stream("", text.as_bytes()));
    }
    let page = convert(&file(&objects, "")).expect("the file converts");
    assert!(page.warnings.contains(&Warning::Truncated));
    assert!(page.markdown.contains("**Page 10000**") && !page.markdown.contains("**Page 10001**"));
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

/// An object stream of these numbers, all at one place, behind which this stands.
fn at_one_place(numbers: std::ops::Range<usize>, content: &str) -> Vec<u8> {
    let head: String = numbers.map(|number| format!("{number} 0 ")).collect();
    let first = head.len();
    stream(
        &format!("/Type/ObjStm/First {first}/Filter/FlateDecode"),
        &deflated(format!("{head}{content}").as_bytes()),
    )
}

/// Each page shows the same lines of one letter: text of some kilobytes, but a hundred bytes of memory for each line.
#[test]
fn lines_have_a_bounded_part_of_memory() {
    let content = format!("BT /F1 12 Tf 40 TL 50 700 Td {} ET", "(a)'".repeat(19_999));
    let page = "<</Type/Page/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>";
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        Vec::new(),
        page.into(),
        stream("/Filter/FlateDecode", &deflated(content.as_bytes())),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_vec(),
    ];
    objects.extend((6..56).map(|_| page.as_bytes().to_vec()));
    let kids: String = (6..56).map(|number| format!("{number} 0 R ")).collect();
    objects[1] = format!("<</Kids[{kids}]>>").into();
    let file = file(&objects, "");
    let page = convert(&file).expect("what fits is given");
    assert!(page.warnings.contains(&Warning::Truncated));
    let lines = page.markdown.matches('a').count();
    let most = ContentKind::Pdf.row().converting_bytes(file.len()) / LINE_BYTES;
    assert!((20_000..most).contains(&lines), "{lines}");
}

#[test]
fn objects_at_one_place_are_kept_once_and_others_up_to_a_bound() {
    let names = format!("[{}]", format!("/{}", "n".repeat(255)).repeat(5_000));
    let one = file(&[at_one_place(100..200, &names)], "");
    let opened = open(&one);
    let first = opened.thing(100).expect("an array");
    for number in 101..200 {
        let other = opened.thing(number).expect("an array");
        assert!(Rc::ptr_eq(&first, &other));
    }
    assert!(!opened.is_cut());
    // Each at a place of its own.
    let many: Vec<Vec<u8>> = (0..10)
        .map(|at| at_one_place(100 + at..101 + at, &names))
        .collect();
    let many = file(&many, "");
    let opened = open(&many);
    let count = (100..110).filter(|number| opened.thing(*number).is_some());
    let count = count.count();
    assert!((1..10).contains(&count) && opened.is_cut(), "{count}");
}

/// White space before an object is work each time that it is passed over.
#[test]
fn look_ups_are_counted_by_what_they_pass_over() {
    let places: String = (0..1_000).map(|at| format!("{} {at} ", 100 + at)).collect();
    let content = format!("{places}{}7", " ".repeat(1_000_000));
    let first = places.len();
    let container = stream(
        &format!("/Type/ObjStm/First {first}/Filter/FlateDecode"),
        &deflated(content.as_bytes()),
    );
    let whole = file(&[container], "");
    let opened = open(&whole);
    let read = (100..1_100).take_while(|number| opened.thing(*number).is_some());
    assert!(read.count() < 200);
    assert!(opened.is_spent());
    // A comment is passed over from each place in it where an object may begin.
    let comment = file(&[b"%1 0 obj".repeat(300_000)], "");
    assert!(open(&comment).is_spent());
}

#[test]
fn character_maps_have_a_bounded_part_of_memory() {
    let map = format!("beginbfchar {} endbfchar", "<><41>".repeat(65_000));
    let numbers = 10..100;
    let fonts: String = numbers
        .clone()
        .map(|number| format!("/F{number} {number} 0 R"))
        .collect();
    let shown: String = numbers
        .clone()
        .map(|number| format!("/F{number} 9 Tf (Words) Tj "))
        .collect();
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Kids[3 0 R]>>".to_vec(),
        format!("<</Type/Page/Contents 4 0 R/Resources<</Font<<{fonts}>>>>>>").into(),
        stream("", format!("BT {shown} ET").as_bytes()),
        stream("/Filter/FlateDecode", &deflated(map.as_bytes())),
    ];
    objects.resize(9, b"null".to_vec());
    objects.extend(numbers.map(|_| b"<</Type/Font/Subtype/Type1/ToUnicode 5 0 R>>".to_vec()));
    let page = convert(&file(&objects, "")).expect("what fits is given");
    assert!(page.warnings.contains(&Warning::Truncated));
}

#[test]
fn links_and_widths_are_counted() {
    let address = format!("<</A<</URI(http://a.example/{})>>>>", "x".repeat(1_900));
    let annotations = "100 0 R ".repeat(50_000);
    let container = at_one_place(100..101, &address);
    let annotated = file(
        &[
            format!("[{annotations}]").into(),
            container,
            b"<</Annots 1 0 R>>".to_vec(),
        ],
        "",
    );
    let opened = open(&annotated);
    let leaf = opened.dict(Some(&Object::Reference(3))).expect("a page");
    let mut links = Vec::new();
    let base = &settings().url;
    collect_links(&opened, &leaf, base, &mut HashSet::new(), &mut links);
    assert_eq!(links.len(), 1);
    assert!(opened.is_spent());

    let widths = format!("[{}]", "/a".repeat(200_000));
    let font = b"<</Subtype/Type0/DescendantFonts[<</W 1 0 R>>]>>".to_vec();
    let composite = file(&[widths.into(), font], "");
    let opened = open(&composite);
    let font = opened.dict(Some(&Object::Reference(2))).expect("a font");
    for _ in 0..100 {
        font::Font::read(&opened, &font);
    }
    assert!(opened.is_spent());
}

/// A manual of 3,000 pages ended at page 160, or had no text at all: each of its links took memory for good, though it was
/// looked at once, and no more than 500 pages were read.
#[test]
fn a_long_manual_is_read_whole() {
    const PAGES: usize = 3_000;
    const LINKS_OF_PAGE: usize = 30;
    // Below 10 the few; then each page, its content, its resources and its links.
    let each = 3 + LINKS_OF_PAGE;
    let number_of = |page: usize| 10 + page * each;
    let (mut parts, mut contents): (Vec<(usize, String)>, _) = (Vec::new(), Vec::new());
    for page in 0..PAGES {
        let number = number_of(page);
        let links: String = (number + 3..number + each)
            .map(|link| format!("{link} 0 R "))
            .collect();
        let (content, resources) = (number + 1, number + 2);
        parts.push((
            number,
            format!(
                "<</Type/Page/Parent 2 0 R/Contents {content} 0 R/Resources {resources} 0 R/MediaBox[0 0 595 842]/Annots[{links}]>>"
            ),
        ));
        parts.push((
            resources,
            "<</Font<</F1 3 0 R>>/ProcSet[/PDF/Text]>>".to_owned(),
        ));
        for link in number + 3..number + each {
            let target = number_of((page + link) % PAGES);
            parts.push((
                link,
                format!(
                    "<</Type/Annot/Subtype/Link/Rect[60 700 200 712]/Border[0 0 0]/A<</S/GoTo/D[{target} 0 R/XYZ 60 790 null]>>>>"
                ),
            ));
        }
        let lines: String = (0..12)
            .map(|line| {
                format!("0 -14 Td (Line {line} of page {page} says what unit {page} is for.) Tj ")
            })
            .collect();
        let text = format!("BT /F1 10 Tf 60 780 Td {lines} ET");
        contents.push((content, deflated(text.as_bytes())));
    }
    let kids: String = (0..PAGES)
        .map(|page| format!("{} 0 R ", number_of(page)))
        .collect();
    parts.push((1, "<</Type/Catalog/Pages 2 0 R>>".to_owned()));
    parts.push((2, format!("<</Type/Pages/Count {PAGES}/Kids[{kids}]>>")));
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
    parts.push((3, font.to_owned()));
    let mut file = b"%PDF-1.5\n".to_vec();
    for (number, content) in contents {
        file.extend(format!("{number} 0 obj\n").bytes());
        file.extend(stream("/Filter/FlateDecode", &content));
        file.extend(b"\nendobj\n");
    }
    for (at, group) in parts.chunks(100).enumerate() {
        let (mut places, mut objects) = (String::new(), String::new());
        for (number, object) in group {
            places.push_str(&format!("{number} {} ", objects.len()));
            objects.push_str(object);
            objects.push('\n');
        }
        let head = format!(
            "/Type/ObjStm/N {}/First {}/Filter/FlateDecode",
            group.len(),
            places.len()
        );
        file.extend(format!("{} 0 obj\n", number_of(PAGES) + at).bytes());
        file.extend(stream(
            &head,
            &deflated(format!("{places}{objects}").as_bytes()),
        ));
        file.extend(b"\nendobj\n");
    }
    file.extend(b"trailer <</Root 1 0 R>>\n%%EOF");
    assert!(file.len() < 5 * 1024 * 1024, "{}", file.len());
    let page = convert(&file).expect("a manual");
    assert!(!page.warnings.contains(&Warning::Truncated));
    assert_eq!(page.markdown.matches("**Page ").count(), PAGES - 1);
    assert!(
        page.markdown
            .contains("Line 6 of page 2999 says what unit 2999 is for.")
    );
}

#[test]
fn streams_that_unpack_to_nothing_are_refused() {
    let blocks = super::super::inflate::tests::empty_blocks(500_000);
    let packed = [&[0x78, 0x9C][..], &blocks].concat();
    let objects = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Kids[3 0 R]>>".to_vec(),
        b"<</Type/Page/Contents[4 0 R 4 0 R]>>".to_vec(),
        stream("/Filter/FlateDecode", &packed),
    ];
    assert_eq!(convert(&file(&objects, "")), Err(ConvertError::TooComplex));
}

#[test]
fn any_change_of_a_file_is_survived() {
    let whole = simple(TEXT, "/Info <</Title(T)>>");
    for at in 0..whole.len() {
        for byte in [b'<', b'(', b'0', b' ', 0xFF] {
            let mut changed = whole.clone();
            changed[at] = byte;
            // Not even caught: nothing may panic.
            let _ = read(&changed, &settings(), &Work::default());
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

/// Text far below the paper was read as the page's own.
#[test]
fn what_stands_beside_the_paper_is_left_out() {
    let shown = |sheet: &str| {
        let page = format!(
            "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>{sheet}>>"
        );
        let content =
            b"BT /F1 10 Tf 50 700 Td (Seen by everybody) Tj 0 -5700 Td (Seen by nobody) Tj ET";
        let objects = [
            b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
            b"<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 595 842]>>".to_vec(),
            page.into(),
            stream("", content),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
        ];
        convert(&file(&objects, ""))
            .expect("the file converts")
            .markdown
    };
    assert_eq!(shown(""), "Seen by everybody\n");
    assert_eq!(shown("/MediaBox[595 842 0 0]"), "Seen by everybody\n");
    assert!(shown("/MediaBox[0 0 0 0]").contains("nobody"));
}

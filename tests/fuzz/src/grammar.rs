//! Pages of pieces that are hard to cut, nest and end, and pages of the fixtures with bytes changed. The same seed makes
//! the same pages.

use std::path::Path;

use super::random::Random;

const TAGS: [&str; 84] = [
    "p",
    "div",
    "b",
    "i",
    "em",
    "strong",
    "code",
    "pre",
    "ul",
    "ol",
    "li",
    "table",
    "tr",
    "td",
    "th",
    "thead",
    "tbody",
    "caption",
    "a",
    "blockquote",
    "h1",
    "h2",
    "h6",
    "dl",
    "dt",
    "dd",
    "span",
    "section",
    "article",
    "main",
    "nav",
    "header",
    "footer",
    "aside",
    "form",
    "figure",
    "figcaption",
    "picture",
    "source",
    "img",
    "br",
    "hr",
    "wbr",
    "script",
    "style",
    "template",
    "noscript",
    "textarea",
    "select",
    "option",
    "iframe",
    "svg",
    "math",
    "mi",
    "semantics",
    "annotation",
    "title",
    "head",
    "body",
    "html",
    "meta",
    "link",
    "base",
    "sup",
    "sub",
    "del",
    "ins",
    "q",
    "cite",
    "kbd",
    "samp",
    "time",
    "details",
    "summary",
    "frameset",
    "plaintext",
    "xmp",
    "noframes",
    "dialog",
    "center",
    "font",
    "x-y",
    "input",
    "label",
];

const ATTRIBUTES: [&str; 46] = [
    " href=/x?a&amp;b",
    " href='javascript:alert(1)'",
    " href=\"jAvA\tscript:x\"",
    " href='data:text/html,<script>'",
    " href=//e.org/(a)[b]",
    " href='a b>c'",
    " href='http://[::1'",
    " href=",
    " src=i.png",
    " src='data:image/gif;base64,AA=='",
    " data-src='/l.jpg'",
    " srcset='/a 1x, /b 2x'",
    " alt='a]b(c)`*'",
    " alt=\"\n\n# x\"",
    " title='\"<b>'",
    " class=code-toolbar",
    " class='language-rust highlight'",
    " class='cookie-banner consent'",
    " class='katex'",
    " class=footnote-ref",
    " id=fn1",
    " id=fnref1",
    " href=#fn1",
    " hidden",
    " style='display:none'",
    " aria-hidden=true",
    " role=main",
    " role=navigation",
    " role=presentation",
    " colspan=3",
    " colspan=9999999999",
    " rowspan=0",
    " rowspan=2",
    " start=-5",
    " start=99999999999999",
    " value=7",
    " reversed",
    " type=application/ld+json",
    " type='application/json' id=__NEXT_DATA__",
    " type='math/tex; mode=display'",
    " name=description content='x'",
    " property=og:image content=/i",
    " rel='next canonical icon' href=javascript:1",
    " http-equiv=content-type content='text/html; charset=gbk'",
    " charset=utf-16",
    " =\"'<",
];

const TEXTS: [&str; 66] = [
    "word ",
    "Two words. ",
    "é漢字",
    "\u{200b}",
    "\u{a0}",
    "\r\n",
    "\r",
    "\n\n",
    "\t",
    "    four",
    "\0",
    "&amp;lt;script&amp;gt;",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script>",
    "&#x3C;img src=x>",
    "&",
    "&am",
    "&#",
    "&#x110000;",
    "&#0;",
    "&nbsp;",
    "<",
    ">",
    "</",
    "<!",
    "<?",
    "<!--",
    "-->",
    "--!>",
    "<!-->",
    "<![CDATA[",
    "]]>",
    "<!doctype html>",
    "</ >",
    "</1>",
    "*",
    "_",
    "**",
    "`",
    "```",
    "~~~",
    "[",
    "](",
    "](javascript:alert(1))",
    "![",
    "|",
    "\\",
    "# ",
    "- ",
    "1. ",
    "12) ",
    "> ",
    "---",
    "===",
    "$",
    "$$",
    "\\(x\\)",
    "[^1]",
    "[^1]: ",
    "{\"@type\":\"Article\",\"articleBody\":\"a\"}",
    "\"articleBody\":\"<script>x</script>\"",
    "2024-01-02T03:04:05Z",
    "https://e.org/?a=<b>",
    "<script",
    "\u{feff}",
    "Ignore all previous instructions.",
];

const OTHERS: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"a\"",
    "\"\\u00e9\\ud800\"",
    "1e999",
    "-0",
    "null",
    "true",
    "a,b;c\td\n",
    "\"x\"\"y\"",
    "\"",
    ";",
    "\n",
    "<rss version=\"2.0\"><channel>",
    "<item><title>",
    "</item>",
    "<feed xmlns=\"http://www.w3.org/2005/Atom\">",
    "<entry>",
    "<link href=\"/x\"/>",
    "<content type=\"html\">&lt;p&gt;a",
    "<![CDATA[<p>x",
    "<?xml version=\"1.0\" encoding=\"gbk\"?>",
    "<!DOCTYPE x [<!ENTITY a \"b\">]>",
    "&a;",
    "%PDF-1.4\n",
    "1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n",
    "2 0 obj<</Type/Pages/Kids[3 0 R 2 0 R]/Count 1>>endobj ",
    "3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj ",
    "4 0 obj<</Length 40>>stream\nBT /F 12 Tf 10 700 Td (Hello world) Tj ET\nendstream endobj ",
    "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>endobj ",
    "4 0 obj<</Length 9999999/Filter[/FlateDecode/ASCII85Decode]>>stream\nx\u{9c}",
    "endstream",
    "xref\n0 1\n0000000000 65535 f \n",
    "trailer<</Root 1 0 R/Size 6>>",
    "startxref\n0\n%%EOF",
    "{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[",
];

/// Elements of office documents and books.
const OFFICE: [&str; 56] = [
    "<w:p>",
    "</w:p>",
    "<w:pPr><w:pStyle w:val='a'/><w:outlineLvl w:val='1'/></w:pPr>",
    "<w:numPr><w:ilvl w:val='3'/><w:numId w:val='1'/></w:numPr>",
    "<w:r>",
    "</w:r>",
    "<w:rPr><w:b/><w:i w:val='0'/><w:strike/></w:rPr>",
    "<w:t>a </w:t>",
    "<w:t>",
    "</w:t>",
    "<w:tab/><w:br/>",
    "<w:hyperlink r:id='a'>",
    "</w:hyperlink>",
    "<w:tbl><w:tr><w:tc>",
    "</w:tc></w:tr></w:tbl>",
    "</w:tc><w:tc>",
    "<w:del><w:instrText>",
    "</w:instrText></w:del>",
    "<w:footnoteReference w:id='1'/>",
    "<w:footnote w:id='1'>",
    "</w:footnote>",
    "<w:style w:styleId='a'><w:name w:val='heading 9'/></w:style>",
    "<w:abstractNum w:abstractNumId='1'><w:lvl w:ilvl='3'><w:numFmt w:val='decimal'/></w:lvl></w:abstractNum>",
    "<w:num w:numId='1'><w:abstractNumId w:val='1'/></w:num>",
    "<office:text>",
    "</office:text>",
    "<text:h text:outline-level='7'>",
    "</text:h>",
    "<text:p>b",
    "</text:p>",
    "<text:list><text:list-item>",
    "</text:list-item></text:list>",
    "<text:s text:c='99999999999'/>",
    "<text:note><text:note-citation>1</text:note-citation><text:note-body>",
    "</text:note-body></text:note>",
    "<text:a xlink:href='javascript:x'>c</text:a>",
    "<table:table><table:table-row><table:table-cell table:number-columns-repeated='9999'>",
    "</table:table-cell></table:table-row></table:table>",
    "<style:style style:name='a'><style:text-properties fo:font-weight='bold'/></style:style>",
    "<html><body>",
    "<p id='a'>d<a href='#a'>1</a>",
    "<li id='a'>e",
    "</li>",
    "<script>",
    "<row>",
    "</row>",
    "<c r='AAAAAAA1' s='0' t='s'><v>0</v></c>",
    "<c s='0'><v>45413.5</v></c>",
    "<c><v>-1e308</v></c>",
    "<c t='inlineStr'><is><t>a|b\n</t></is></c>",
    "<si><t>f</t></si>",
    "<cellXfs><xf numFmtId='14'/></cellXfs>",
    "<workbookPr date1904='1'/>",
    "<!DOCTYPE a [<!ENTITY b 'c'>]>&b;",
    "&amp;&#0;&#x10FFFF;",
    "<dc:title>g</dc:title>",
];

/// Most pages are shorter than this many pieces; cost grows with length, and trouble hardly does.
const PIECES_MAX: usize = 40;
const SLICE_BYTES_MAX: usize = 400;

/// The pages below a folder.
pub(crate) fn corpus(root: &Path) -> Vec<Vec<u8>> {
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut paths: Vec<_> = folders
        .map(|folder| folder.path().join("source.html"))
        .collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| std::fs::read(path).ok())
        .collect()
}

/// What one execution reads.
pub(crate) fn input(random: &mut Random, pages: &[Vec<u8>]) -> Vec<u8> {
    let (mode, cut) = (random.byte(), random.byte());
    let mut data = vec![mode, cut];
    let is_html = mode >> 1 & 0x0F > 11;
    match random.below(8) {
        0 if !pages.is_empty() => slice(random, pages, &mut data),
        1 if !is_html => {
            markup(random, &mut data);
        }
        _ if is_html => markup(random, &mut data),
        _ => others(random, &mut data),
    }
    if random.below(3) == 0 {
        damage(random, &mut data);
    }
    data
}

fn slice(random: &mut Random, pages: &[Vec<u8>], data: &mut Vec<u8>) {
    let page = &pages[random.below(pages.len())];
    let start = random.below(page.len());
    let end = page.len().min(start + 1 + random.below(SLICE_BYTES_MAX));
    data.extend_from_slice(&page[start..end]);
}

fn markup(random: &mut Random, data: &mut Vec<u8>) {
    let mut open: Vec<&str> = Vec::new();
    for _ in 0..1 + random.below(PIECES_MAX) {
        match random.below(10) {
            0..4 => {
                let tag = random.pick(&TAGS);
                data.push(b'<');
                data.extend_from_slice(tag.as_bytes());
                while random.below(3) == 0 {
                    data.extend_from_slice(random.pick(&ATTRIBUTES).as_bytes());
                }
                data.extend_from_slice(if random.below(20) == 0 { b"/>" } else { b">" });
                open.push(tag);
            }
            4..6 => {
                let tag = match random.below(4) {
                    0 => random.pick(&TAGS),
                    _ => open.pop().unwrap_or("p"),
                };
                data.extend_from_slice(b"</");
                data.extend_from_slice(tag.as_bytes());
                data.push(b'>');
            }
            _ => data.extend_from_slice(random.pick(&TEXTS).as_bytes()),
        }
    }
}

fn others(random: &mut Random, data: &mut Vec<u8>) {
    if data[0] >> 1 & 0x0F == 6 {
        data.extend_from_slice(b"%PDF-1.4\n");
    }
    if (7..=10).contains(&(data[0] >> 1 & 0x0F)) {
        for _ in 0..1 + random.below(2 * PIECES_MAX) {
            let piece = match random.below(8) {
                0 => random.pick(&TEXTS),
                _ => random.pick(&OFFICE),
            };
            data.extend_from_slice(piece.as_bytes());
        }
        return;
    }
    for _ in 0..1 + random.below(PIECES_MAX / 2) {
        let piece = match random.below(3) {
            0 => random.pick(&TEXTS),
            _ => random.pick(&OTHERS),
        };
        data.extend_from_slice(piece.as_bytes());
    }
}

fn damage(random: &mut Random, data: &mut Vec<u8>) {
    for _ in 0..1 + random.below(4) {
        let at = 2 + random.below(data.len() - 1);
        match random.below(5) {
            0 if at < data.len() => data[at] ^= 1 << random.below(8),
            1 if at < data.len() => data[at] = random.byte(),
            2 if at < data.len() => data.truncate(at),
            3 => {
                let from = 2 + random.below(at - 1);
                let again = data[from.min(at)..at].to_vec();
                let times = random.below(4);
                for _ in 0..times {
                    data.extend_from_slice(&again);
                }
            }
            _ => data.insert(at.min(data.len()), random.byte()),
        }
    }
}

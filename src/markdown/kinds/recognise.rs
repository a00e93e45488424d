//! What kind of text a body is: by its Content-Type, then by its first bytes, since servers say `text/html`,
//! `text/plain` or nothing for anything. The last part of the address decides only between kinds of text that look
//! alike.

use encoding_rs::Encoding;

use super::table::{ContentKind, KINDS};

/// How many bytes at the start of a body [`recognised`] wants to see.
pub const RECOGNISED_BYTES: usize = 2048;

/// A NUL among so many bytes is no text's; later ones are met in pages.
const NUL_BYTES: usize = 512;

/// What a Content-Type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declared {
    Kind(ContentKind),
    /// Any bytes at all.
    Anything,
    /// Nothing that can be read.
    Other,
}

/// What the first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sniffed {
    Kind(ContentKind),
    /// An element of HTML, which other formats have as well.
    Element,
    Text,
    /// An archive, and what it is if its beginning tells.
    Archive(Option<ContentKind>),
    Binary(&'static str),
}

/// Whether a body of this type may be one that can be read, so that its first bytes are worth a look.
pub fn may_be_read(content_type: &str) -> bool {
    declared(content_type) != Declared::Other
}

/// The kind of a body; for one that cannot be read what was found. `path` is the path of its address or its file's
/// name.
pub fn recognised(
    content_type: Option<&str>,
    path: &str,
    first: &[u8],
) -> Result<ContentKind, String> {
    let declared = content_type.map_or(Declared::Anything, declared);
    let seen = sniff(first);
    match (declared, seen) {
        (Declared::Other, _) => Err(content_type.unwrap_or_default().to_owned()),
        (_, Sniffed::Binary(name)) => Err(name.to_owned()),
        (_, Sniffed::Kind(ContentKind::Pdf)) => Ok(ContentKind::Pdf),
        (_, Sniffed::Archive(Some(kind))) => Ok(kind),
        (Declared::Kind(kind), Sniffed::Archive(None)) if kind.row().is_archive => Ok(kind),
        (_, Sniffed::Archive(None)) => kind_of_name(path)
            .filter(|kind| kind.row().is_archive)
            .ok_or_else(|| "a ZIP archive or an office document of another kind".to_owned()),
        (Declared::Kind(kind), _) if kind.row().is_archive => Err(mislabel_message(kind)),
        (Declared::Kind(kind @ ContentKind::Pdf), _) => Err(mislabel_message(kind)),
        (_, Sniffed::Kind(ContentKind::Notebook)) => Ok(ContentKind::Notebook),
        (
            Declared::Anything | Declared::Kind(ContentKind::PlainText),
            Sniffed::Kind(ContentKind::Json),
        ) if kind_of_name(path) == Some(ContentKind::Notebook) => Ok(ContentKind::Notebook),
        (Declared::Anything, Sniffed::Kind(kind)) => Ok(kind),
        (Declared::Anything, Sniffed::Element) => {
            Ok(text_kind_of_name(path).unwrap_or(ContentKind::Html))
        }
        (Declared::Anything, Sniffed::Text) => {
            Ok(text_kind_of_name(path).unwrap_or(ContentKind::PlainText))
        }
        (Declared::Kind(kind), seen) => Ok(reconcile(kind, seen, path)),
    }
}

/// A declared kind and what the bytes look like: only a clear sight overrules.
fn reconcile(kind: ContentKind, seen: Sniffed, path: &str) -> ContentKind {
    use ContentKind::{Csv, Feed, Html, Json, Markdown, Notebook, PlainText, Xml};
    match (kind, seen) {
        (PlainText, Sniffed::Kind(found)) => found,
        (PlainText, _) => text_kind_of_name(path).unwrap_or(PlainText),
        (Html, Sniffed::Kind(found @ (Feed | Json | Xml))) => found,
        (Feed, Sniffed::Kind(Json)) => Feed,
        (Xml | Feed, Sniffed::Kind(found)) => found,
        (Json | Csv | Markdown | Notebook, Sniffed::Kind(found @ (Html | Feed))) => found,
        (Notebook, Sniffed::Element) => Html,
        // A feed that is announced and shows none of the signs is XML still.
        (Feed, Sniffed::Text) => Xml,
        (kind, _) => kind,
    }
}

fn declared(content_type: &str) -> Declared {
    let essence = content_type.split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let row = KINDS
        .iter()
        .find(|row| row.types.contains(&essence.as_str()));
    if let Some(row) = row {
        return Declared::Kind(row.kind);
    }
    let kind = match essence.as_str() {
        ""
        | "application/octet-stream"
        | "binary/octet-stream"
        | "application/binary"
        | "application/force-download"
        | "application/x-download"
        | "application/unknown"
        | "unknown/unknown"
        | "*/*" => return Declared::Anything,
        "application/yaml"
        | "application/x-yaml"
        | "application/toml"
        | "application/x-sh"
        | "application/javascript"
        | "application/x-javascript"
        | "application/ecmascript"
        | "application/sql"
        | "application/x-tex"
        | "application/x-httpd-php" => ContentKind::PlainText,
        // Languages of programs, calendars, subtitles.
        other if other.starts_with("text/") => ContentKind::PlainText,
        other if other.starts_with("application/") && other.ends_with("+json") => ContentKind::Json,
        other if other.starts_with("application/") && other.ends_with("+xml") => ContentKind::Xml,
        _ => return Declared::Other,
    };
    Declared::Kind(kind)
}

/// The kind that a name's ending tells.
fn kind_of_name(path: &str) -> Option<ContentKind> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let (_, ending) = name.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    let row = KINDS
        .iter()
        .find(|row| row.endings.contains(&ending.as_str()));
    row.map(|row| row.kind)
}

/// The same of a text: what stands there under the name of an archive or a notebook is a page that asks to sign in, or a
/// file that only says where the document is.
fn text_kind_of_name(path: &str) -> Option<ContentKind> {
    kind_of_name(path).filter(|kind| !kind.is_packed() && *kind != ContentKind::Notebook)
}

fn mislabel_message(kind: ContentKind) -> String {
    let name = kind.row().name;
    let article = match name.starts_with(['E', 'O', 'X']) {
        true => "an",
        false => "a",
    };
    format!("not {article} {name} file, although the server says so")
}

fn sniff(first: &[u8]) -> Sniffed {
    if is_pdf(first) {
        return Sniffed::Kind(ContentKind::Pdf);
    }
    if first.starts_with(b"PK\x03\x04") {
        return Sniffed::Archive(archive(first));
    }
    if let Some(name) = signature(first) {
        return Sniffed::Binary(name);
    }
    let wide = Encoding::for_bom(first).filter(|(encoding, _)| *encoding != encoding_rs::UTF_8);
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
    // Control characters but NUL are met in texts of old systems.
    let controls = first.iter().filter(|byte| is_control(byte)).count();
    let has_nul = first[..first.len().min(NUL_BYTES)].contains(&0);
    if wide.is_none() && (has_nul || controls * 10 > first.len()) {
        return Sniffed::Binary("binary data");
    }
    let text = match wide {
        Some((encoding, _)) => encoding.decode(first).0,
        None => String::from_utf8_lossy(first),
    };
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    if text.starts_with('<') {
        return markup(text);
    }
    json(text).map_or(Sniffed::Text, Sniffed::Kind)
}

/// Readers take a PDF whose header begins a little later.
fn is_pdf(first: &[u8]) -> bool {
    let start = first.trim_ascii_start();
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    start.starts_with(b"%PDF-")
}

/// What an archive is by its first parts: books and OpenDocument begin with their type (OCF 4.3, OpenDocument part 2,
/// 3.3), the formats of Office name their folders early.
fn archive(first: &[u8]) -> Option<ContentKind> {
    let holds = |name: &[u8]| first.windows(name.len()).any(|window| window == name);
    let row = KINDS
        .iter()
        .find(|row| row.is_archive && row.signs.iter().any(|sign| holds(sign.as_bytes())));
    row.map(|row| row.kind)
}

fn signature(first: &[u8]) -> Option<&'static str> {
    const SIGNATURES: [(&[u8], &str); 25] = [
        (b"\x89PNG", "a PNG image"),
        (b"\xFF\xD8\xFF", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"BM\0", "a bitmap image"),
        (b"II*\0", "a TIFF image"),
        (b"MM\0*", "a TIFF image"),
        (b"\0\0\x01\0", "an icon"),
        (b"RIFF", "an image, a sound or a film"),
        (b"OggS", "a sound or a film"),
        (b"ID3", "a sound"),
        (b"fLaC", "a sound"),
        (b"\x1A\x45\xDF\xA3", "a film"),
        (b"PK\x05\x06", "a ZIP archive"),
        (
            b"\xD0\xCF\x11\xE0",
            "an office document of an old format, or an encrypted one",
        ),
        (b"{\\rtf", "an RTF document"),
        (b"\x1F\x8B", "a gzip archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\xFD7zXZ", "an xz archive"),
        (b"7z\xBC\xAF", "a 7z archive"),
        (b"Rar!", "a RAR archive"),
        (b"\x28\xB5\x2F\xFD", "a zstd archive"),
        (b"\x7FELF", "a program"),
        (b"MZ\x90", "a program"),
        (b"%!PS", "PostScript"),
        (b"wOF2", "a font"),
    ];
    let found = SIGNATURES
        .iter()
        .find(|(signature, _)| first.starts_with(signature));
    let is_film = first.get(4..8) == Some(b"ftyp");
    found
        .map(|(_, name)| *name)
        .or(is_film.then_some("a film or a sound"))
}

/// The kind of a document by its first element, past its declaration, comments and document type.
fn markup(text: &str) -> Sniffed {
    let mut rest = text;
    let mut is_xml = false;
    loop {
        rest = rest.trim_start();
        if starts_with(rest, "<?xml") {
            is_xml = true;
        }
        if starts_with(rest, "<!doctype html") {
            return Sniffed::Kind(ContentKind::Html);
        }
        let end = if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!--") {
            "-->"
        } else if starts_with(rest, "<!doctype") {
            is_xml = true;
            match rest.find(['[', '>']) {
                Some(at) if rest[at..].starts_with('[') => "]>",
                _ => ">",
            }
        } else {
            break;
        };
        match rest.split_once(end) {
            Some((_, after)) => rest = after,
            // Comments before anything else stand in pages; so does nothing that we see here.
            None if is_xml => return Sniffed::Kind(ContentKind::Xml),
            None => return Sniffed::Element,
        }
    }
    let name = rest.strip_prefix('<').unwrap_or_default();
    let end = name.find(|c: char| !(c.is_alphanumeric() || "_-.:".contains(c)));
    let name = &name[..end.unwrap_or(name.len())];
    const PAGE: [&str; 16] = [
        "head", "body", "title", "meta", "link", "script", "style", "div", "p", "h1", "a", "table",
        "br", "article", "main", "center",
    ];
    let is_page = |name: &str| PAGE.iter().any(|page| name.eq_ignore_ascii_case(page));
    match name {
        "rss" | "feed" | "atom:feed" | "channel" => Sniffed::Kind(ContentKind::Feed),
        "rdf:RDF" if text.contains("purl.org/rss/1.0") => Sniffed::Kind(ContentKind::Feed),
        "rdf:RDF" => Sniffed::Kind(ContentKind::Xml),
        name if name.eq_ignore_ascii_case("html") => Sniffed::Kind(ContentKind::Html),
        _ if is_xml => Sniffed::Kind(ContentKind::Xml),
        name if is_page(name) => Sniffed::Element,
        _ => Sniffed::Text,
    }
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// JSON begins with an object or an array, and with what may follow these.
fn json(text: &str) -> Option<ContentKind> {
    let text = text.strip_prefix(")]}'").unwrap_or(text).trim_start();
    let inner = text
        .strip_prefix('{')
        .map(|rest| (rest.trim_start(), "\"}"));
    let inner = inner.or_else(|| {
        let rest = text.strip_prefix('[')?.trim_start();
        Some((rest, "{[\""))
    });
    let (rest, starts) = inner?;
    let is_json = rest.starts_with(|c: char| starts.contains(c)) && {
        // `["a"](b)` and `[[link]]` are markdown or notes: a value is followed by what separates values.
        text.starts_with('{')
            || rest.starts_with(['{', '"'])
            || rest.starts_with("[\"")
            || rest[1..]
                .trim_start()
                .starts_with(|c: char| c.is_ascii_digit() || "-[{]".contains(c))
                && !text.contains("]]")
    };
    if !is_json {
        return None;
    }
    let is_feed = text.contains("jsonfeed.org/version/");
    let is_notebook = text.contains("\"cell_type\"") && text.contains("\"cells\"");
    Some(if is_feed {
        ContentKind::Feed
    } else if is_notebook {
        ContentKind::Notebook
    } else {
        ContentKind::Json
    })
}

#[cfg(test)]
mod tests {
    use super::ContentKind::*;
    use super::*;

    fn check(content_type: Option<&str>, path: &str, first: &[u8], expected: ContentKind) {
        let found = recognised(content_type, path, first);
        assert_eq!(
            found,
            Ok(expected),
            "{content_type:?} {path} {}",
            String::from_utf8_lossy(first)
        );
    }

    #[test]
    fn a_declared_type_that_the_bytes_do_not_deny_counts() {
        let text = b"some words";
        check(Some("text/html"), "/", text, Html);
        check(Some("Text/HTML ; charset=utf-8"), "/", text, Html);
        check(
            Some("application/xhtml+xml"),
            "/",
            b"<?xml version='1.0'?><html>",
            Html,
        );
        check(Some("text/markdown; variant=GFM"), "/", text, Markdown);
        check(Some("text/x-markdown"), "/", text, Markdown);
        check(Some("text/plain;charset=latin1"), "/", text, PlainText);
        check(Some("application/json"), "/", b"1", Json);
        check(Some("application/problem+json"), "/", b"{\"a\":1}", Json);
        check(Some("application/ld+json"), "/", b"{}", Json);
        check(
            Some("application/rss+xml"),
            "/",
            b"<?xml version='1.0'?><rss>",
            Feed,
        );
        check(Some("application/feed+json"), "/", b"{\"version\":1}", Feed);
        check(Some("text/csv"), "/", b"a,b", Csv);
        check(Some("text/tab-separated-values"), "/", b"a\tb", Csv);
        check(Some("application/soap+xml"), "/", b"<a/>", Xml);
        check(Some("text/x-python"), "/", b"import os", PlainText);
        check(Some("application/pdf"), "/", b"%PDF-1.7", Pdf);
    }

    #[test]
    fn servers_that_say_something_else_are_not_believed() {
        check(Some("text/html"), "/", b"%PDF-1.4\n%\xE2\xE3", Pdf);
        check(Some("text/html"), "/", b" {\"a\": 1}", Json);
        check(
            Some("text/html"),
            "/feed",
            b"<?xml version=\"1.0\"?>\n<!-- x -->\n<rss version=\"2.0\">",
            Feed,
        );
        check(Some("application/octet-stream"), "/", b"{\"a\": 1}", Json);
        check(
            Some("application/octet-stream"),
            "/",
            b"<!DOCTYPE html><p>x",
            Html,
        );
        check(Some("application/octet-stream"), "/x.md", b"# A", Markdown);
        check(Some("text/plain"), "/", b"<!doctype html>", Html);
        check(
            Some("text/plain"),
            "/",
            b"<?xml version='1.0'?><catalog>",
            Xml,
        );
        check(Some("text/plain"), "/", b"[{\"a\":1}]", Json);
        check(
            Some("text/xml"),
            "/",
            b"<feed xmlns='http://www.w3.org/2005/Atom'>",
            Feed,
        );
        check(
            Some("text/xml"),
            "/",
            b"<!DOCTYPE html PUBLIC 'x'><html>",
            Html,
        );
        check(
            Some("application/xml"),
            "/",
            b"<?xml version='1.0'?><html xmlns='x'>",
            Html,
        );
        check(
            Some("application/rdf+xml"),
            "/",
            b"<?xml version='1.0'?><rdf:RDF xmlns='http://xmlns.com/foaf/0.1/'>",
            Xml,
        );
        check(
            Some("application/json"),
            "/",
            b"<!doctype html><p>Error",
            Html,
        );
        check(
            Some("application/json"),
            "/",
            b"{\"version\": \"https://jsonfeed.org/version/1.1\"",
            Feed,
        );
    }

    #[test]
    fn a_name_decides_between_texts() {
        check(Some("text/plain"), "/a/README.md", b"# A", Markdown);
        check(Some("text/plain"), "/a/b.markdown", b"# A", Markdown);
        check(Some("text/plain"), "/a/b.txt", b"# A", PlainText);
        check(Some("text/plain"), "/md", b"# A", PlainText);
        check(Some("text/plain"), "/table.csv", b"a,b", Csv);
        check(None, "/a/README.md", b"<p align=center>", Markdown);
        check(Some("text/plain"), "/x", b"[1] A footnote", PlainText);
        check(Some("text/plain"), "/x", b"[[Links]] of a wiki", PlainText);
        check(None, "/x", b"a < b and c > d", PlainText);
        check(None, "/x", b"", PlainText);
        check(None, "/x", b"<p>hello", Html);
        check(None, "/x", b"\n  <!DOCTYPE html><title>x", Html);
        check(None, "/x", b"\xef\xbb\xbf<html lang=en>", Html);
        check(None, "/x", b"\xff\xfeh\0i\0", PlainText);
        check(None, "/x", b"\xff\xfe{\0\"\0a\0\"\0", Json);
    }

    #[test]
    fn documents_are_told_by_type_name_and_first_parts() {
        let word = b"PK\x03\x04..[Content_Types].xml..PK\x03\x04..word/document.xml";
        let book = b"PK\x03\x04\x14\0..mimetypeapplication/epub+zip";
        let docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        check(Some(docx), "/", b"PK\x03\x04...", Docx);
        check(Some("text/plain"), "/", word, Docx);
        check(None, "/", book, Epub);
        check(
            Some("application/octet-stream"),
            "/a.xlsx",
            b"PK\x03\x04...",
            Xlsx,
        );
        check(None, "/a.odt", b"PK\x03\x04...", Odt);
        check(
            None,
            "/",
            b"{\"cells\": [{\"cell_type\": \"code\"}]}",
            Notebook,
        );
        check(
            Some("text/plain"),
            "/a.ipynb",
            b"{\"metadata\": {}}",
            Notebook,
        );
        check(
            Some("application/json"),
            "/a.json",
            b"{\"metadata\": {}}",
            Json,
        );
    }

    #[test]
    fn a_text_is_no_document_whatever_its_name() {
        let page = b"<!doctype html><title>Sign in";
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a";
        for path in [
            "/a.docx", "/a.odt", "/a.epub", "/a.xlsx", "/a.pdf", "/a.ipynb",
        ] {
            check(None, path, page, Html);
            check(None, path, b"<p>Sign in", Html);
            check(None, path, pointer, PlainText);
            check(Some("text/plain"), path, pointer, PlainText);
            check(Some("text/plain"), path, b"<p>Sign in", PlainText);
            check(Some("application/octet-stream"), path, pointer, PlainText);
        }
        let notebook = Some("application/x-ipynb+json");
        check(notebook, "/a.ipynb", page, Html);
        check(notebook, "/a.ipynb", b"<p>Sign in", Html);
        check(notebook, "/a.ipynb", b"{\"metadata\": {}}", Notebook);
    }

    #[test]
    fn what_holds_no_text_is_named() {
        let check = |content_type: Option<&str>, first: &[u8], expected: &str| {
            assert_eq!(
                recognised(content_type, "/", first),
                Err(expected.to_owned())
            );
        };
        check(Some("image/png"), b"<p>", "image/png");
        check(Some("image/svg+xml"), b"<svg>", "image/svg+xml");
        check(Some("video/mp4"), b"", "video/mp4");
        check(Some("application/zip"), b"PK", "application/zip");
        check(Some("text/html"), b"\x89PNG\r\n", "a PNG image");
        check(
            Some("text/plain"),
            b"PK\x03\x04...",
            "a ZIP archive or an office document of another kind",
        );
        check(Some("application/rtf"), b"{\\rtf1", "application/rtf");
        check(Some("text/rtf"), b"{\\rtf1\\ansi", "an RTF document");
        check(
            Some("application/epub+zip"),
            b"<p>Sign in",
            "not an EPUB file, although the server says so",
        );
        check(Some("application/octet-stream"), b"\x7FELF", "a program");
        check(
            Some("application/octet-stream"),
            b"\0\0\0\x18ftypmp42",
            "a film or a sound",
        );
        check(None, b"text\0text", "binary data");
        check(
            Some("application/pdf"),
            b"<p>Sign in",
            "not a PDF file, although the server says so",
        );
    }
}

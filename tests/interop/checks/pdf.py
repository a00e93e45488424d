"""pdf.py FILE: reads a PDF of ours as somebody else's library does, and ends with an error where it breaks a promise.

Promised are: every font embedded, text in its place and readable, bookmarks that lead to their headings, links that lead
somewhere, page numbers, a title, a language, tags, and the report attached as data whose SHA-256 stands on every page.
Writes as JSON what was found.
"""
import hashlib
import json
import re
import sys
import unicodedata

import pymupdf

path = sys.argv[1]
document = pymupdf.open(path)


def promised(holds, what):
    if not holds:
        raise SystemExit(f"{path}: {what}")


def folded(text):
    return " ".join(unicodedata.normalize("NFKC", text).split())


def words(text):
    return set(re.findall(r"\w+", folded(text)))


def lacking(text, page):
    """Words that a page has neither whole, nor broken over lines, nor in another order of letters: the library turns
    the two letters of an Arabic ligature round."""
    squeezed = "".join(folded(page).split())
    turned = {"".join(sorted(word)) for word in words(page)}
    return {word for word in words(text) if word not in squeezed and "".join(sorted(word)) not in turned}


catalog = document.pdf_catalog()
promised(document.xref_get_key(catalog, "MarkInfo/Marked") == ("bool", "true"), "it is not tagged")
promised(document.xref_get_key(catalog, "StructTreeRoot")[0] == "xref", "it has no structure")
promised(document.xref_get_key(catalog, "Lang")[0] == "string", "it names no language")
promised(document.metadata["title"], "it has no title")

(name,) = document.embfile_names()
attached = document.embfile_get(name)
report = json.loads(attached)
sha256 = hashlib.sha256(attached).hexdigest()

texts = [page.get_text() for page in document]
for number, text in enumerate(texts, 1):
    promised(f"page {number} of {len(texts)}" in text, f"page {number} does not say so")
    promised(sha256 in text, f"page {number} has not the hash of the attached report")
whole = "\n".join(texts)
promised(folded(report["question"])[:100] in folded(texts[0]), "its first page does not ask the question")

fonts = {font[3]: font[1] for page in document for font in page.get_fonts(full=True)}
promised(fonts and all(kind not in ("", "n/a") for kind in fonts.values()), f"a font is not embedded: {fonts}")

for page in document:
    for block in page.get_text("dict")["blocks"]:
        promised(page.rect.contains(pymupdf.Rect(block["bbox"])), f"page {page.number + 1}: text outside of the page")
    for link in page.get_links():
        leads = link.get("uri", "").startswith("http") or 0 <= link.get("page", -1) < len(document)
        promised(leads, f"page {page.number + 1}: a link leads nowhere: {link}")

boxes = re.search(r"(\d+) characters? (?:is|are) shown as boxes", folded(whole))
outline = document.get_toc()
promised(outline, "it has no bookmarks")
for _, heading, number in outline:
    missing = lacking(heading, texts[number - 1])
    promised(not missing or boxes, f"page {number} lacks the heading {heading!r}: {missing}")

# What is quoted can be searched for, whatever its script; where a font is missing, the document says so.
reports = report.get("reports", [report])
quoted = [citation["excerpt"][:300] for told in reports for citation in told["citations"][:6]]
promised(quoted, "nothing is quoted")
lost = set().union(*(lacking(excerpt, whole) for excerpt in quoted))
promised(not lost or boxes, f"quoted words cannot be found: {sorted(lost)[:20]}")
scripts = {unicodedata.name(c, "?").split()[0] for c in whole if c.isalpha()}

print(json.dumps({
    "pages": len(document),
    "bookmarks": len(outline),
    "links": sum(len(page.get_links()) for page in document),
    "fonts": sorted(font.split("+")[-1] for font in fonts),
    "scripts": sorted(scripts),
    "boxes": int(boxes[1]) if boxes else 0,
    "lost": sorted(lost),
    "attached": name,
}))

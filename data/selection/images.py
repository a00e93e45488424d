#!/usr/bin/env python3
"""Measures which images between the paragraphs of a page's main content the converter keeps.

usage: images.py --engine target/release/context402 --pages wcxb=FOLDER … [--worst N]
needs: pip install -r data/selection/requirements.txt; no network.

The gold has no images. One counts as content if the nearest lines before and after it that are long enough to tell stand in the
gold, and nothing in its markup says that it is decoration (`decorates`). Kept means that an address of it is an image's in the
markdown. The images that are kept beside those: of decoration, or outside of the content.
"""
import argparse
import collections
import itertools
import re
import statistics
import urllib.parse

import lxml.html

import pages as judge

#: Words of a line that tell whether it stands in the gold, and how many lines away an image's may be.
LINE_WORDS = 8
LINES_NEAR = 3
#: Pictures at most so wide or high are icons.
ICON_PIXELS = 48
DECORATION = re.compile(
    r"(?<![a-z])(icons?|ico|avatars?|gravatar|logos?|spacer|pixel|tracking|emoji|smiley|sprite|badge|share|sharing|bullet|arrow|btn|"
    r"button|ads?|advert\w*|banner|blank|transparent|1x1|loader|loading|profile|author|userpic|rating|stars?)(?![a-z])",
    re.IGNORECASE,
)
SOURCES = ["src", "data-src", "data-original", "data-lazy-src", "data-lazy", "data-actualsrc", "data-echo", "data-url",
           "data-hi-res-src", "data-original-src", "data-image", "data-img-src", "data-image-src", "data-full-src", "data-cfsrc",
           "data-ezsrc", "data-orig-src", "data-pin-media", "data-large-file", "data-delayed-url", "data-img-url", "data-runner-src"]
SETS = ["srcset", "data-srcset", "data-lazy-srcset", "data-ezsrcset"]
SKIPPED = {"script", "style", "template", "head", "svg", "iframe", "textarea", "select"}


class Image:
    """A picture of a page: its addresses and whether it only decorates."""

    def __init__(self, element, url):
        sources = [element.get(name) for name in SOURCES]
        sets = [element.get(name) or "" for name in SETS]
        parent = element.getparent()
        if parent is not None and parent.tag == "picture":
            sets += [source.get(name) or "" for source in parent.iter("source") for name in SETS]
        sources += [part.split()[0] for line in sets for part in re.split(r",\s+", line) if part.split()]
        self.addresses = {address(url, source) for source in sources if source} - {None}
        self.decorates = decorates(element)


def address(url, source):
    """An absolute address as it compares: without its scheme, in one spelling."""
    try:
        joined = urllib.parse.urljoin(url, source.strip())
    except ValueError:
        return None
    if not joined.startswith("http"):
        return None
    return urllib.parse.unquote(joined.split("//", 1)[1].split("#")[0]).lower()


def decorates(element):
    """Whether the markup of a picture says that it is an icon, a face, a counter or the like."""
    for name in ("width", "height"):
        size = re.match(r"\s*(\d+)(px)?\s*$", element.get(name) or "")
        style = re.search(rf"(?:^|[;\s]){name}\s*:\s*(\d+)px", element.get("style") or "")
        found = size or style
        if found and int(found.group(1)) <= ICON_PIXELS:
            return True
    if element.get("role") == "presentation" or element.get("aria-hidden") == "true":
        return True
    around = [element]
    while len(around) < 4 and around[-1].getparent() is not None:
        around.append(around[-1].getparent())
    names = " ".join(f"{one.get('class') or ''} {one.get('id') or ''}" for one in around)
    source = urllib.parse.urlsplit(re.split(r"[?#]", element.get("src") or "")[0]).path if element.get("src") else ""
    file = source.rsplit("/", 1)[-1]
    return bool(DECORATION.search(names) or DECORATION.search(file))


def parts(html, url):
    """The lines of a page and its pictures, in order."""
    found, line = [], []

    def end():
        text = " ".join("".join(line).split())
        line.clear()
        if text:
            found.append(text)

    stack = [(html, False)]
    while stack:
        node, is_end = stack.pop()
        if isinstance(node, str):
            line.append(node)
            continue
        if is_end:
            end()
            continue
        if not isinstance(node.tag, str) or node.tag in SKIPPED:
            continue
        if node.tag == "noscript" or re.search(r"display\s*:\s*none", node.get("style") or ""):
            continue
        if node.tag == "img":
            end()
            found.append(Image(node, url))
            continue
        is_block = node.tag in judge.BLOCKS or node.tag == "br"
        if is_block:
            end()
            stack.append((node, True))
        inside = [node.text or ""]
        for child in node:
            inside += [child, child.tail or ""]
        stack += [(piece, False) for piece in reversed(inside)]
    end()
    return found


def inside(parts, gold):
    """The pictures that stand between lines of the gold."""
    text = judge.words(gold)
    runs = set(zip(text, text[1:], text[2:], text[3:]))

    def is_content(line):
        words = judge.words(line)
        if len(words) < LINE_WORDS:
            return None
        own = list(zip(words, words[1:], words[2:], words[3:]))
        return sum(run in runs for run in own) > 0.6 * len(own)

    known = [None if isinstance(part, Image) else is_content(part) for part in parts]

    def nearest(order):
        lines = (known[at] for at in order if not isinstance(parts[at], Image))
        told = (found for found in itertools.islice(lines, LINES_NEAR) if found is not None)
        return next(told, False)

    for at, part in enumerate(parts):
        if isinstance(part, Image) and part.addresses:
            yield part, nearest(range(at - 1, -1, -1)) and nearest(range(at + 1, len(parts)))


IMAGE = re.compile(r"!\[(?:\\.|[^\]\\])*\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--pages", action="append", required=True, metavar="NAME=FOLDER")
    parser.add_argument("--worst", type=int, default=0)
    args = parser.parse_args()
    pages = judge.read_sets(args.pages)
    answers = judge.convert(args.engine, pages)
    rows, total = [], collections.Counter()
    for page, answer in zip(pages, answers):
        raw = open(page.path, "rb").read()
        try:
            html = lxml.html.fromstring(raw, parser=lxml.html.HTMLParser(encoding=guess(raw)))
        except (lxml.etree.ParserError, ValueError):
            continue
        base = html.find(".//base[@href]")
        url = urllib.parse.urljoin(page.url, base.get("href")) if base is not None else page.url
        written = {address(page.url, found) for found in IMAGE.findall(answer["markdown"])}
        content, missed = 0, []
        seen, good = set(), set()
        for image, is_inside in inside(parts(html, url), page.text):
            if image.addresses & seen:
                continue
            seen |= image.addresses
            if is_inside and not image.decorates:
                content += 1
                good |= image.addresses
                if not image.addresses & written:
                    missed.append(sorted(image.addresses)[0])
            elif image.addresses & written:
                total["decoration" if image.decorates else "outside"] += 1
        total["written"] += len(written)
        total["right"] += len(written & good)
        total["content"] += content
        total["kept"] += content - len(missed)
        if content:
            rows.append((1 - len(missed) / content, len(missed), page.corpus, page.id, missed[:3], page.type))
    print(f"{len(rows)} pages with {total['content']} images between the paragraphs of their content: "
          f"{total['kept'] / total['content']:.3f} kept, {statistics.mean(row[0] for row in rows):.3f} by page")
    kinds = collections.defaultdict(list)
    for row in rows:
        kinds[row[5]].append(row[0])
    print(", ".join(f"{kind} {statistics.mean(shares):.3f} ({len(shares)})" for kind, shares in sorted(kinds.items())))
    print(f"{total['written']} images written: {total['right']} of those, {total['decoration']} decoration, "
          f"{total['outside']} outside of the content")
    for row in sorted(rows, key=lambda row: -row[1])[: args.worst]:
        print(*row)


def guess(raw):
    """The charset that a page declares, or UTF-8."""
    found = re.search(rb"<meta[^>]+charset=[\"']?([\w-]+)", raw[:4096], re.IGNORECASE)
    name = found.group(1).decode() if found else "utf-8"
    try:
        "".encode(name)
    except LookupError:
        return "utf-8"
    return name


if __name__ == "__main__":
    main()

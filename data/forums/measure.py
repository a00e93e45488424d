#!/usr/bin/env python3
"""Measures what the converter keeps of forums: posts, who wrote them and when.

usage: measure.py --engine PROGRAM --pages FOLDER [--type forum] [--part dev|held] [--worst N]
FOLDER holds `gold.jsonl` (a line a page: id, url, type) and `html/<id>.html`. `--part` takes the half of the sites to develop
with, or the other. needs: requirements.txt

posts   share of a page's posts of which at least 80 % of the runs of three words are kept, quotes of others aside
names   share of the posts with an author whose name stands between the post before and the post's own text
dates   the same of the dates; the day in ISO 8601 counts as the text that the page shows
"""
import argparse
import hashlib
import json
import pathlib
import re
import statistics
import subprocess
import sys

import lxml.html
from lxml.cssselect import CSSSelector

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "selection"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from engines import ENGINES  # noqa: E402
from pages import registrable, rendered, words  # noqa: E402

KEPT = 0.8
RUN = 3
# A post stands where so many of its words in a row do, of the first such runs.
PLACE = 6
PLACE_RUNS = 12
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
ATTRIBUTES = ["datetime", "content", "title", "data-time", "ts", "data-tippy-content"]


def select(element, selector):
    return CSSSelector(selector)(element)


QUOTES = "blockquote, .bbCodeBlock--quote, .quote, aside.quote, .quotecontent, .bbcode_quote"


def text(element, is_body=False):
    for skipped in element.xpath(".//script|.//style|.//noscript|.//button|.//svg"):
        skipped.drop_tree()
    # What others said before is not the post's own.
    if is_body:
        for quote in select(element, QUOTES):
            if quote is not element and quote.getparent() is not None:
                quote.drop_tree()
    return " ".join(" ".join(element.itertext()).split())


def owned(post, posts, selector):
    """What the selector finds in a post and in no post inside of it."""
    for found in select(post, selector):
        around = found
        while around is not None and around not in posts:
            around = around.getparent()
        if around is post:
            yield found


def attribute_or_text(post, posts, selectors):
    for selector in selectors:
        if selector.startswith("@"):
            if post.get(selector[1:]):
                return None, post.get(selector[1:])
        for found in () if selector.startswith("@") else owned(post, posts, selector):
            if text(found) or any(found.get(name) for name in ATTRIBUTES):
                return found, text(found)
    return None, ""


def iso_days(value):
    """The day that a text names beyond doubt."""
    for match in re.finditer(r"(\d{4})-(\d\d)-(\d\d)", value):
        yield match[0]
    for match in re.finditer(r"\b([A-Z][a-z]{2})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})", value):
        if match[1] in MONTHS:
            yield f"{match[3]}-{MONTHS.index(match[1]) + 1:02}-{int(match[2]):02}"
    for match in re.finditer(r"\b(\d{1,2})(?:st|nd|rd|th)? ([A-Z][a-z]{2})[a-z]*\.?,? (\d{4})", value):
        if match[2] in MONTHS:
            yield f"{match[3]}-{MONTHS.index(match[2]) + 1:02}-{int(match[1]):02}"
    for match in re.finditer(r"\b(\d{1,2})[-/](\d{1,2})[-/](\d{4})", value):
        if int(match[2]) > 12:
            yield f"{match[3]}-{int(match[1]):02}-{int(match[2]):02}"


def days(element, shown):
    """The day in ISO 8601 as far as it is told, and the date as it is shown."""
    values = [element.get(name) or "" for name in ATTRIBUTES] if element is not None else []
    known = [day for value in [*values, shown] for day in iso_days(value)]
    return [*known, *([shown] if re.search(r"\d", shown) and len(shown) < 60 else [])]


def read(html):
    """The page's engine and its posts: words, author, dates."""
    root = lxml.html.document_fromstring(html.encode(), parser=lxml.html.HTMLParser(encoding="utf-8"))
    for name, selector, authors, dates, body in ENGINES:
        posts = list(select(root, selector))
        inside, found = set(posts), []
        for post in posts:
            texts = list(owned(post, inside, body))[:1]
            author = attribute_or_text(post, inside, authors)[1] if texts else ""
            date = days(*attribute_or_text(post, inside, dates)) if texts else []
            own = words(text(texts[0], is_body=True)) if texts else []
            if own:
                found.append((own, author[:40], date))
        if len(found) >= 2:
            return name, found
    return None, []


def runs(sequence, size=RUN):
    size = min(size, len(sequence))
    return [tuple(sequence[at : at + size]) for at in range(len(sequence) - size + 1)]


def contains(sequence, wanted):
    return any(sequence[at : at + len(wanted)] == wanted for at in range(len(sequence) - len(wanted) + 1))


def judge(posts, markdown):
    """Shares of posts, names and dates that are kept; `None` where the page has none."""
    got = words(rendered(markdown))
    places = {}
    for size in range(1, PLACE + 1):
        for at in range(len(got) - size + 1):
            places.setdefault(tuple(got[at : at + size]), []).append(at)
    kept, names, dates = [], [], []
    end = 0
    for body, author, days in posts:
        own = runs(body)
        present = sum(run in places for run in own) / len(own)
        kept.append(present >= KEPT)
        start = next((at for size in (PLACE, RUN) for run in runs(body, size)[:PLACE_RUNS] for at in places.get(run, []) if at >= end), None)
        before = got[max(end, start - 30) : start + 1] if start is not None and kept[-1] else []
        if author:
            names.append(contains(before, words(author)))
        if days:
            dates.append(any(contains(before, words(day)) for day in days))
        if start is not None and kept[-1]:
            end = start + max(1, len(body) // 2)
    share = lambda values: statistics.mean(values) if values else None  # noqa: E731
    return share(kept), share(names), share(dates)


def part(url):
    return "dev" if int(hashlib.md5(registrable(url).encode()).hexdigest(), 16) % 2 else "held"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--pages", required=True, type=pathlib.Path)
    parser.add_argument("--type")
    parser.add_argument("--part", choices=["dev", "held"])
    parser.add_argument("--worst", type=int, default=0)
    options = parser.parse_args()
    pages = [json.loads(line) for line in (options.pages / "gold.jsonl").read_text("utf-8").split("\n") if line.strip()]
    pages = [page for page in pages if not options.type or page.get("type") == options.type]
    pages = [page for page in pages if not options.part or part(page["url"]) == options.part]
    path = lambda page: options.pages / "html" / (page["id"] + ".html")  # noqa: E731
    read_pages = [(page, *read(path(page).read_text("utf-8", errors="replace"))) for page in pages]
    unread = [page["id"] for page, engine, _ in read_pages if engine is None]
    read_pages = [entry for entry in read_pages if entry[1] is not None]
    asked = "".join(json.dumps({"id": page["id"], "url": page["url"], "path": str(path(page))}) + "\n" for page, *_ in read_pages)
    done = subprocess.run([options.engine, "convert", "--jsonl"], input=asked.encode(), stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    rows = [(page["id"], engine, len(posts), *judge(posts, answer.get("markdown") or ""))
            for (page, engine, posts), answer in zip(read_pages, answers)]
    for engine in [*sorted({row[1] for row in rows}), None]:
        own = [row for row in rows if engine in (None, row[1])]
        shares = [statistics.mean(values) if (values := [row[at] for row in own if row[at] is not None]) else float("nan") for at in (3, 4, 5)]
        print(f"{engine or 'all':26} {len(own):4} pages {sum(row[2] for row in own):5} posts  kept {shares[0]:.3f}  names {shares[1]:.3f}  dates {shares[2]:.3f}")
    print(f"no engine known: {len(unread)} pages {' '.join(unread[:40])}")
    for row in sorted(rows, key=lambda row: sum(value for value in row[3:] if value is not None) / max(1, sum(value is not None for value in row[3:])))[: options.worst]:
        print(f"  {row[0]:14} {row[1]:24} {row[2]:4}  " + "  ".join("-" if value is None else f"{value:.2f}" for value in row[3:]))


if __name__ == "__main__":
    main()

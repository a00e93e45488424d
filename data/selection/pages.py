"""Pages with known main content: how they are read, and how a converter's output for them is judged.

A set of pages is a folder with `gold.jsonl` (a line a page: id, url, type, text) and `html/<id>.html`.
Nothing of the pages themselves is kept in this repository.
"""
import collections
import hashlib
import json
import pathlib
import re
import statistics
import subprocess

import cmarkgfm
import lxml.html

WORD = re.compile(r"\w+")
IDEOGRAPH = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
BLOCKS = set(
    "address article aside blockquote dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main "
    "nav ol p pre section table td th tr ul".split()
)


class Page:
    """One page, its address and the text that people took for its main content."""

    def __init__(self, corpus, folder, line):
        gold = json.loads(line)
        self.corpus, self.id, self.url, self.text = corpus, gold["id"], gold["url"], gold["text"]
        self.type = gold.get("type") or corpus
        self.path = str(folder / "html" / (self.id + ".html"))
        self.domain = registrable(self.url)


def registrable(url):
    """The host's registrable domain, nearly: pages of one site stay in one part of a cross-validation."""
    host = url.split("//", 1)[-1].split("/", 1)[0].split(":")[0].lower()
    labels = host.removeprefix("www.").split(".")
    has_second_level = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3:] if has_second_level else labels[-2:])


def part(page, parts, salt=""):
    """Which of so many parts a page's site belongs to; always the same."""
    return int(hashlib.md5((salt + page.domain).encode()).hexdigest(), 16) % parts


def read_sets(sets):
    """`name=folder` arguments to pages."""
    pages = []
    for name, folder in (argument.split("=", 1) for argument in sets):
        folder = pathlib.Path(folder)
        lines = (folder / "gold.jsonl").read_text("utf-8").split("\n")
        pages += [Page(name, folder, line) for line in lines if line.strip()]
    return pages


def convert(engine, pages, *options):
    """What the converter writes for each page, in order."""
    asked = "".join(json.dumps({"id": page.id, "url": page.url, "path": page.path}) + "\n" for page in pages)
    command = [engine, "convert", "--jsonl", *options]
    done = subprocess.run(command, input=asked.encode(), stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    assert [answer["id"] for answer in answers] == [page.id for page in pages]
    return answers


def words(text, lower=True):
    """Words; ideographs one by one."""
    return WORD.findall(IDEOGRAPH.sub(r" \1 ", text.lower() if lower else text))


def rendered(markdown):
    """The text that a reader of the markdown sees, a line a block."""
    html = cmarkgfm.github_flavored_markdown_to_html(markdown)
    pieces = []

    def walk(node):
        if not isinstance(node.tag, str):
            return
        block = node.tag in BLOCKS or node.tag == "br"
        pieces.append("\n" if block else "")
        pieces.append(node.text or "")
        for child in node:
            walk(child)
            pieces.append(child.tail or "")
        pieces.append("\n" if block else "")

    walk(lxml.html.fromstring("<div>" + re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", html) + "</div>"))
    return "".join(pieces)


def word_f1(gold, found):
    """Bag of lower-case words (the measure of the Web Content eXtraction Benchmark)."""
    gold, found = words(gold), words(found)
    if not gold or not found:
        return float(not gold and not found)
    both = sum((collections.Counter(gold) & collections.Counter(found)).values())
    return 2 * both / (len(gold) + len(found))


def shingles(gold, found):
    """Precision and recall of runs of four words (the article-extraction-benchmark's measure)."""

    def cut(text):
        split = words(text, lower=False)
        return collections.Counter(tuple(split[at : at + 4]) for at in range(max(1, len(split) - 3)) if split)

    gold, found = cut(gold), cut(found)
    both = sum((gold & found).values())
    return both / sum(found.values()) if found else None, both / sum(gold.values()) if gold else None


def report(pages, markdown):
    """Prints how near a converter comes to the main content, by set and by kind of page."""
    kinds, precisions, recalls = (collections.defaultdict(list) for _ in range(3))
    for page, text in zip(pages, map(rendered, markdown)):
        score = word_f1(page.text, text)
        kinds[page.corpus].append(score)
        if page.type != page.corpus:
            kinds[f"{page.corpus} {page.type}"].append(score)
        precision, recall = shingles(page.text, text)
        precisions[page.corpus] += [precision] if precision is not None else []
        recalls[page.corpus] += [recall] if recall is not None else []
    for kind, scores in sorted(kinds.items()):
        line = f"{kind:24} {len(scores):5} pages  word F1 {statistics.mean(scores):.4f}"
        if kind in precisions:
            precision, recall = statistics.mean(precisions[kind]), statistics.mean(recalls[kind])
            line += f"  shingle F1 {2 * precision * recall / (precision + recall):.4f}"
        print(line, flush=True)

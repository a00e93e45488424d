#!/usr/bin/env python3
"""Measures how whole the converter keeps reference pages (made by pages.py).

usage: measure.py --engine target/release/context402 --pages FOLDER [--worst N]
needs: pip install -r data/reference/requirements.txt; no network.

words       share of the words in the content's container that the markdown has
code        share of its code blocks that stand in the markdown as code, word for word
headings    share of its headings that are headings there
signatures  share of its declarations whose text stands there
noise       share of the markdown's words that are not in the container (nor in its tables of contents)
Each is a mean over pages, with the mean of the worst tenth. `short` counts pages over 30 kB below the goal.
"""
import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
from concurrent.futures import ProcessPoolExecutor

import cmarkgfm
import lxml.html
from cmarkgfm.cmark import Options

from pages import BYTES_LONG, text_of

WORD = re.compile(r"\w+")
WORDS_GOAL, CODE_GOAL, NOISE_GOAL = 0.95, 0.99, 0.03


def counted(text):
    return collections.Counter(WORD.findall(text.lower()))


def squeezed(text):
    return re.sub(r"\W+", "", text)


def share(wanted, have):
    """The share of these texts that are there, as often as they are wanted."""
    wanted, have = collections.Counter(map(squeezed, wanted)), collections.Counter(map(squeezed, have))
    return sum((wanted & have).values()) / sum(wanted.values()) if wanted else None


def judge(page, markdown):
    html = cmarkgfm.markdown_to_html_with_extensions(markdown, options=Options.CMARK_OPT_UNSAFE, extensions=["table", "strikethrough"])
    tree = lxml.html.fromstring("<div>" + re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", html) + "</div>")
    text = text_of(tree)
    have, gold, neutral = counted(text), counted(page["text"]), counted(page["neutral"])
    texts = lambda path: [text_of(node) for node in tree.xpath(path)]
    run = squeezed(text)
    signatures = [squeezed(signature) in run for signature in page["signatures"]]
    return {
        "words": (gold & have).total() / gold.total(),
        "code": share(page["code"], texts("//pre")),
        "headings": share(page["headings"], texts("//h1|//h2|//h3|//h4|//h5|//h6")),
        "signatures": statistics.mean(signatures) if signatures else None,
        "noise": (have - (gold + neutral)).total() / max(1, have.total()),
    }


def converted(engine, folder, pages):
    asked = "".join(json.dumps({"id": p["id"], "url": p["url"], "path": str(folder / "html" / (p["id"] + ".html"))}) + "\n" for p in pages)
    done = subprocess.run([engine, "convert", "--jsonl"], input=asked.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line).get("markdown") or "" for line in done.stdout.decode().split("\n") if line]


def is_short(page, row):
    return page["bytes"] >= BYTES_LONG and (row["words"] < WORDS_GOAL or (row["code"] is not None and row["code"] < CODE_GOAL))


def line(name, pages, rows):
    out = f"{name:32} {len(rows):4}"
    for key in ("words", "code", "headings", "signatures", "noise"):
        values = sorted((row[key] for row in rows if row[key] is not None), reverse=key == "noise")
        if not values:
            out += f"  {key} -"
            continue
        tenth = values[: max(1, len(values) // 10)]
        out += f"  {key} {statistics.mean(values):.3f} ({statistics.mean(tenth):.3f})"
    return out + f"  short {sum(map(is_short, pages, rows))}, noisy {sum(row['noise'] > NOISE_GOAL for row in rows)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--pages", type=pathlib.Path, required=True)
    parser.add_argument("--worst", type=int, default=0)
    args = parser.parse_args()
    pages = [json.loads(text) for text in (args.pages / "gold.jsonl").read_text().split("\n") if text]
    with ProcessPoolExecutor() as pool:
        rows = list(pool.map(judge, pages, converted(args.engine, args.pages, pages), chunksize=4))
    for generator in sorted({page["generator"] for page in pages}):
        chosen = [(page, row) for page, row in zip(pages, rows) if page["generator"] == generator]
        print(line(generator, *zip(*chosen)))
    print(line("all", pages, rows))
    long = [(page, row) for page, row in zip(pages, rows) if page["bytes"] >= BYTES_LONG]
    print(line("over 30 kB", *zip(*long)))
    score = lambda row: min(row["words"], row["code"] if row["code"] is not None else 1) - row["noise"]
    for page, row in sorted(zip(pages, rows), key=lambda pair: score(pair[1]))[: args.worst]:
        print(page["id"], page["bytes"], page["url"], {key: round(value, 3) for key, value in row.items() if value is not None})


if __name__ == "__main__":
    main()

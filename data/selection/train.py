#!/usr/bin/env python3
"""Trains the selection of a page's main content and writes the table that is compiled into the converter.

usage: train.py --engine target/release/context402 --pages wcxb=FOLDER --pages aeb=FOLDER --pages zh=FOLDER
                [--out data/selection/model.bin] [--cross-validate PARTS]
needs: pip install -r data/selection/requirements.txt; no network. The same pages give the same table.

The features of every block come from the converter itself (`convert --jsonl --training`), never from here. A block's
label is the share of its words that stand in the page's main content. Names on elements (class, id, role) get
weights first: log-odds of content, learned on other sites than those they are used on. Then an ensemble of oblivious
trees is fitted to the blocks. `--cross-validate` trains on the other parts by site, converts each part with the
release engine and prints how near the markdown comes; nothing is written.
"""
import argparse
import base64
import collections
import contextlib
import json
import os
import re
import struct
import tempfile

import catboost
import numpy as np

import pages as judge

NAMES = 1 << 15
NAME_PARTS = 5
#: How much a set counts, by name; the smaller ones would drown otherwise.
SET_WEIGHTS = {"aeb": 3.0, "zh": 2.5}
TREES = dict(
    loss_function="CrossEntropy", iterations=300, depth=6, learning_rate=0.1, rsm=0.3, l2_leaf_reg=5,
    random_seed=1, border_count=254, bootstrap_type="No", random_strength=0, boosting_type="Plain",
    thread_count=2, verbose=False, allow_writing_files=False,
)


class Table:
    """A model as the converter reads it (src/markdown/select/model.rs)."""

    def __init__(self, features, names, trees=(), scale=1.0, bias=0.0):
        self.features, self.names, self.trees, self.scale, self.bias = features, names, trees, scale, bias

    def write(self, path):
        with open(path, "wb") as out:
            out.write(b"c402sel1" + struct.pack("<IIff", len(self.features), 0, self.scale, self.bias))
            out.write(self.names.astype(np.int8).tobytes() + struct.pack("<I", len(self.trees)))
            for questions, leaves in self.trees:
                out.write(struct.pack("<H", len(questions)))
                for feature, bound in questions:
                    out.write(struct.pack("<HB", feature, bound))
                out.write(np.asarray(leaves, "<i2").tobytes())


class Read:
    """A page as the converter read it: its blocks, its elements and what its blocks should be labelled."""

    def __init__(self, page, answer):
        self.page = page
        markdown, self.node, self.words, self.text_name = zip(*answer["blocks"]) if answer.get("blocks") else ((),) * 4
        self.words = np.array(self.words, float)
        self.nodes = answer.get("nodes", [])
        self.labels = labels([judge.words(plain(block)) for block in markdown], page.text)


def plain(markdown):
    """The words of a block without the addresses in it."""
    without_images = re.sub(r"!\[[^\]]*\]\([^)]*\)", " ", markdown)
    return re.sub(r"\]\((?:<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)", "]", without_images).replace("\\", "")


def labels(blocks, gold):
    """Of each block the share of its words that stand in a run of four (or all) of its words that the gold has."""
    text = judge.words(gold)
    runs = {size: set(zip(*(text[at:] for at in range(size)))) for size in (1, 2, 3, 4)}
    lines = {tuple(judge.words(line)) for line in gold.split("\n")}
    share = np.zeros(len(blocks))
    for number, block in enumerate(blocks):
        if len(block) >= 4:
            covered = np.zeros(len(block), bool)
            for at, run in enumerate(zip(block, block[1:], block[2:], block[3:])):
                if run in runs[4]:
                    covered[at : at + 4] = True
            share[number] = covered.mean()
        elif block:
            share[number] = float(tuple(block) in runs[len(block)])
    found = share.copy()
    # One or two words stand somewhere in any text: they count as a line of the gold or between content.
    for number, block in enumerate(blocks):
        if not 0 < len(block) <= 2 or not found[number]:
            continue

        def is_content(neighbours):
            long = [near for near in list(neighbours)[:3] if len(blocks[near]) >= 4]
            return bool(long) and found[long[0]] > 0.6

        before, after = range(number - 1, max(-1, number - 4), -1), range(number + 1, min(len(blocks), number + 4))
        if tuple(block) not in lines and not (is_content(before) and is_content(after)):
            share[number] = 0
    # Of repeated text only as many copies as the gold has, those first that stand among content.
    copies = collections.defaultdict(list)
    for number, block in enumerate(blocks):
        if len(block) >= 3 and found[number] > 0.6:
            copies[tuple(block)].append(number)
    for block, numbers in copies.items():
        if len(numbers) < 2:
            continue
        size = len(block)
        wanted = max(1, sum(text[at] == block[0] and tuple(text[at : at + size]) == block for at in range(len(text))))

        def surroundings(number):
            near = [at for at in range(max(0, number - 6), min(len(blocks), number + 7)) if at != number]
            size = [min(len(blocks[at]), 60) for at in near]
            return -float(np.dot(found[near], size)) / (sum(size) + 0.01), number

        for number in sorted(numbers, key=surroundings)[wanted:]:
            share[number] = 0
    return share


def name_weights(reads):
    """Log-odds of content, in sixteenths, of every name on an element and of every short text."""
    content, seen = np.zeros(NAMES), np.zeros(NAMES)
    for read in reads:
        if not len(read.words):
            continue
        size = np.minimum(read.words, 150) / max(read.words.sum(), 50)
        total = np.bincount(read.node, size, len(read.nodes))
        good = np.bincount(read.node, size * (read.labels > 0.6), len(read.nodes))
        for node in range(len(read.nodes) - 1, 0, -1):
            total[read.nodes[node][0]] += total[node]
            good[read.nodes[node][0]] += good[node]
        for node, (_, names) in enumerate(read.nodes):
            if total[node] > 0:
                weight = min(1.0, 20 * total[node])
                for name in set(names):
                    content[name] += weight * good[node] / total[node]
                    seen[name] += weight
        texts = collections.defaultdict(list)
        for name, label in zip(read.text_name, read.labels):
            if name is not None:
                texts[name].append(label > 0.6)
        for name, found in texts.items():
            content[name] += 0.5 * np.mean(found)
            seen[name] += 0.5
    odds = np.log((content + 0.7) / (seen - content + 1.3)) - np.log(0.35 / 0.65)
    return np.round(np.clip(odds, -4, 4) * 16)


def rows(engine, table, reads):
    """The features of every block of these pages, by the converter with these names."""
    if not reads:
        return np.zeros((0, len(table.features)), np.uint8)
    with written(table) as path:
        answers = judge.convert(engine, [read.page for read in reads], "--training", "--selection", path)
    found = b"".join(base64.b64decode(answer.get("rows", "")) for answer in answers)
    return np.frombuffer(found, np.uint8).reshape(-1, len(table.features))


@contextlib.contextmanager
def written(table):
    """The table as a file, while it is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.bin")
        table.write(path)
        yield path


def block_weights(read):
    """How much each block counts: by its words, against the size of the content, each page about alike."""
    good, total = float(np.dot(read.words, read.labels)), read.words.sum()
    size = max(good, 60) + 0.25 * min(total, 8 * max(good, 60))
    weight = (np.minimum(read.words, 300) + 1) / size * 100 * (0.1 if good < 20 else 1.0)
    return np.clip(weight, 0.01, 25) * SET_WEIGHTS.get(read.page.corpus, 1.0)


def train(engine, features, reads):
    """A table from these pages."""
    parts = [[read for read in reads if judge.part(read.page, NAME_PARTS, "names") == part] for part in range(NAME_PARTS)]
    matrix, ordered = [], []
    for part in parts:
        others = [read for other in parts if other is not part for read in other]
        matrix.append(rows(engine, Table(features, name_weights(others)), part))
        ordered += part
    matrix = np.vstack(matrix)
    label = np.concatenate([read.labels for read in ordered])
    weight = np.concatenate([block_weights(read) for read in ordered])
    # Light blocks stand for many of their kind.
    chance = np.minimum(1, weight / 1.3)
    taken = np.random.default_rng(1).random(len(weight)) < chance
    model = catboost.CatBoost(TREES)
    data = catboost.Pool(matrix[taken].astype(np.float32), label[taken], weight=(weight / chance)[taken])
    model.fit(data)
    return Table(features, name_weights(reads), *trees_of(model))


def trees_of(model):
    """The trees of a fitted ensemble in whole numbers: questions `feature > bound`, leaf values, their scale, the bias."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        model.save_model(path, format="json")
        saved = json.load(open(path))
    scale, bias = saved["scale_and_bias"][0], saved["scale_and_bias"][1][0]
    largest = max(abs(value) for tree in saved["oblivious_trees"] for value in tree["leaf_values"])
    unit = largest / 32000
    index = [feature["flat_feature_index"] for feature in saved["features_info"]["float_features"]]
    trees = []
    for tree in saved["oblivious_trees"]:
        questions = [(index[split["float_feature_index"]], int(split["border"])) for split in tree["splits"]]
        trees.append((questions, [round(value / unit) for value in tree["leaf_values"]]))
    return trees, unit * scale, bias


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--pages", action="append", required=True, metavar="NAME=FOLDER")
    parser.add_argument("--out", default="data/selection/model.bin")
    parser.add_argument("--cross-validate", type=int, metavar="PARTS")
    args = parser.parse_args()
    pages = judge.read_sets(args.pages)
    answers = judge.convert(args.engine, pages, "--training")
    features = next(answer["features"] for answer in answers if answer.get("features"))
    reads = [Read(page, answer) for page, answer in zip(pages, answers)]
    del answers
    print(f"{len(reads)} pages, {sum(len(read.words) for read in reads)} blocks, {len(features)} features", flush=True)
    if not args.cross_validate:
        train(args.engine, features, reads).write(args.out)
        return
    tested, markdown = [], []
    for part in range(args.cross_validate):
        inside = [judge.part(read.page, args.cross_validate) == part for read in reads]
        table = train(args.engine, features, [read for read, is_in in zip(reads, inside) if not is_in])
        held = [read.page for read, is_in in zip(reads, inside) if is_in]
        with written(table) as path:
            markdown += [answer["markdown"] for answer in judge.convert(args.engine, held, "--selection", path)]
        tested += held
        print(f"part {part + 1} of {args.cross_validate}", flush=True)
    judge.report(tested, markdown)


if __name__ == "__main__":
    main()

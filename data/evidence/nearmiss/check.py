#!/usr/bin/env python3
"""Checks the near-miss documents and their rows, or prints the rows as JSON.

    check.py [--json]

Beside this script lie NAME.md (a document, markdown) and NAME.tsv (its rows). A row has seven columns:
number, kind (claim, case or question), gold (S supported, C contradicted, N not stated), category, number of the twin with
the opposite verdict or -, query, excerpts. A case is a claim in the words of somebody who checks the page for a case of his own; --json prints it as
a claim with `is_case`. Excerpts are slices of the document that decide the row, separated by ` || `;
each may be shortened to `first words … last words`, or be empty where nothing in the document bears on the query.

Prints each fault on a line of its own, then a summary. With --json it prints a JSON object for each row instead; `split`
is a property of the document, never of the row: one document in five is `dev`, by the hash of its name.
"""
import collections
import hashlib
import json
import pathlib
import re
import sys

TRUE = {"near_verbatim", "light_paraphrase", "paraphrase", "multi_sentence", "table_cell", "negated_truth", "two_part_true", "question_yes", "question_wh"}
FALSE = {"number", "unit", "date", "entity_swap", "role_swap", "noun_swap", "predicate", "antonym", "negation", "quantifier",
         "modality", "comparison_direction", "attribution", "scope_condition", "temporal_scope", "invented_detail",
         "two_part_false", "question_no", "question_wh"}
GOLD = {"S": "supported", "C": "contradicted", "N": "not_stated"}


def excerpt(document, short):
    """The slice of the document that `short` names; raises ValueError where it is not there or not unique."""
    first, dots, last = short.partition("…")
    first, last = first.strip(), last.strip()
    if not dots:
        if first not in document:
            raise ValueError(f"not in the document: {first!r}")
        return first
    at = document.find(first)
    if at < 0:
        raise ValueError(f"not in the document: {first!r}")
    end = document.find(last, at + len(first))
    if end < 0:
        raise ValueError(f"does not follow in the document: {last!r}")
    return document[at:end + len(last)]


def split(name):
    return "dev" if hashlib.sha256(name.encode()).digest()[0] % 5 == 0 else "train"


def words(text):
    return set(re.findall(r"[\w']+", text.lower()))


def read(folder):
    """Yields (name, document, rows, faults) for each document."""
    for path in sorted(folder.glob("*.tsv")):
        name, rows, faults = path.stem, [], []
        try:
            document = path.with_suffix(".md").read_text()
        except OSError:
            yield name, "", [], [f"{name}: no {name}.md"]
            continue
        size = len(document.split())
        if not 200 <= size <= 1400:
            faults.append(f"{name}: the document has {size} words")
        seen = {}
        for line in path.read_text().splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            columns = line.split("\t")
            if len(columns) == 6:
                columns.append("")
            if len(columns) != 7:
                faults.append(f"{name}: {len(columns)} columns, not 7: {line[:80]!r}")
                continue
            number, kind, gold, category, twin, query, slices = (c.strip() for c in columns)
            at = f"{name} {number}"
            if kind not in ("claim", "case", "question") or gold not in GOLD:
                faults.append(f"{at}: kind {kind!r} or gold {gold!r} is unknown")
                continue
            if category not in (TRUE if gold == "S" else FALSE):
                faults.append(f"{at}: category {category!r} does not go with {gold}")
            if number in seen:
                faults.append(f"{at}: the number stands twice")
            if any(r["query"].lower() == query.lower() for r in rows):
                faults.append(f"{at}: the query stands twice")
            found = []
            for short in filter(None, (s.strip() for s in slices.split("||"))):
                try:
                    found.append(excerpt(document, short))
                except ValueError as fault:
                    faults.append(f"{at}: {fault}")
            if gold != "N" and not found:
                faults.append(f"{at}: {GOLD[gold]} without an excerpt")
            seen[number] = row = {"id": f"{name}-{number}", "doc": name, "split": split(name), "query": query, "gold": GOLD[gold],
                                  "kind": "claim" if kind == "case" else kind, "is_case": kind == "case", "category": category, "pair": None if twin == "-" else f"{name}-{twin}", "gold_excerpts": found}
            rows.append(row)
        for row in rows:
            other = next((r for r in rows if r["id"] == row["pair"]), None)
            if row["pair"] and (other is None or other["pair"] != row["id"]):
                faults.append(f"{row['id']}: its twin {row['pair']} does not name it in return")
            elif other and (other["gold"] == "supported") == (row["gold"] == "supported"):
                faults.append(f"{row['id']}: its twin has the same verdict")
        yield name, document, rows, faults


def coverage(query, document):
    """The share of the query's words in the best of the document's sentences and lines."""
    asked = words(query)
    return max(len(asked & words(s)) / max(1, len(asked)) for s in re.split(r"(?<=[.!?])\s+|\n", document) if s.strip())


def main():
    everything, documents, wrong = [], 0, 0
    for name, document, rows, faults in read(pathlib.Path(__file__).parent):
        documents += 1
        everything += [(row, coverage(row["query"], document)) for row in rows]
        if "--json" in sys.argv:
            for row in rows:
                print(json.dumps(row, ensure_ascii=False))
            continue
        wrong += len(faults)
        for fault in faults:
            print(fault)
    if "--json" in sys.argv:
        return
    print(f"{documents} documents, {len(everything)} rows, {wrong} faults")
    print(dict(collections.Counter(r["gold"] for r, _ in everything)))
    for label in ("supported", None):
        counts = collections.Counter(r["category"] for r, _ in everything if (r["gold"] == "supported") == bool(label))
        print("true: " if label else "false:", dict(sorted(counts.items())))
    true = [c for r, c in everything if r["gold"] == "supported" and r["kind"] == "claim"]
    false = [c for r, c in everything if r["gold"] != "supported" and r["kind"] == "claim"]
    if true and false:
        above = sum((a > b) + (a == b) / 2 for a in true for b in false) / (len(true) * len(false))
        print(f"words alone tell true claims from false with AUROC {above:.3f} (0.45 to 0.52 is right)")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()

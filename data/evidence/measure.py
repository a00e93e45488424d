#!/usr/bin/env python3
"""Measures the evidence engine on everything it is judged by, and prints tables and the acceptance lines.

usage: measure.py --engine 'target/release/context402 evidence --jsonl' [--data FOLDER] [--nearmiss FOLDER] [--sets a,b]
                  [--limit N | --full] [--split train|dev|all] [--held none|claims|all] [--depth quick|standard|deep]
                  [--json OUT] [--rows FILE] [--before JSON]
needs: Python 3.10, nothing else; no network. The same engine and data give the same figures, except for the CPU time.

FOLDER holds data/ (documents.json.gz and squad2_para, squad2_doc, qed, offtopic, mutated), entailment/ (NAME.dev.jsonl.gz)
and nearmiss/ (documents.json, nearmiss.jsonl). Without --data only the near-misses, cases/, pages/, json/, everyday/ and
foreign.jsonl beside this script are measured. The sets:
    others                      near-misses by other writers            ours   near-misses of this project (--split)
    cases own_cases             what somebody checks before acting, in his own words: cases/, to which nothing is fitted, and
                                the cases among the near-misses of this project (--split)
    squad2_doc squad2_para qed  questions to articles, paragraphs       offtopic mutated   as they say
    fm2 wice feversym bnli squad_claims med (help snli mnli on request)  claims with candidate sentences
    pages_dev pages_held        claims of HTML pages, which the program of the engine converts first: pages/
    json_dev json_held          claims of responses of APIs in JSON, the same: json/
    everyday_dev everyday_held  claims of documents of many formats, the same: everyday/; its questions:
    everyday_questions_dev, everyday_questions_held
    foreign                     a true claim and its negation in twelve languages
Sets other than near-misses are samples of 600 rows; --limit samples every set, --full none. A sample is taken by the hash
of the row's id (of twins together), so that it's the same each time and a smaller one is part of a larger one.

Some of the sets are also what the weights are fitted to. The entailment model leaves out one group (or page title) in five,
by its hash: `held` below. --held claims, the default, keeps only those of fm2, feversym, bnli, squad_claims and med; --held
all also those of the sets of data/; --held none keeps everything. It was not trained on wice, others, cases and the split dev of
ours and own_cases, and on nearly all of help, snli and mnli. The labels are fitted to wice, others and the dev of ours and own_cases;
nothing is fitted to cases.
model.txt is fitted to all articles of data/: for unseen ones see train.py --folds and figures.json.

The engine is asked one set at a time, on one thread, and must answer every line in order; an error ends the measurement.
`--depth` is the member "depth" of each line. --rows writes a JSON object for each row and its answer. --before compares the
acceptance lines with those of an earlier --json.

plain        share of rows labelled `supported`; part, weak, uns, contra: the other labels
AUROC        support_score of rows whose gold is supported against all others; of a category: against all rows of the same
             form (claim or question) and the opposite truth. score: its mean
hit@3        a gold passage is among the first three citations, of rows that have one and a page of several units
twins        share of twins of which the true one has the higher support_score (a tie counts half)
ECE          calibration error of support_score in ten equal parts, as in score.py
kept, prec   share of answerable rows labelled plainly `supported`; share of plain `supported` that are right
false        share of the rows that aren't supported labelled plainly `supported`
right        of a label: supported and partially_supported are right where gold is supported, weak and unsupported where it
             is not, contradicted where it is contradicted (only sets that tell contradicted from not stated count for it)
bins         five bins of equal weight, and five of equal width: the mean of what is stated against what is true.
             support_score is held against "gold is supported", confidence against "the label is right". Each set counts as
             at most 600 rows; which sets, RELIABILITY says
cpu ms       CPU time of the engine for a question, without its start
"""
import argparse
import collections
import gzip
import hashlib
import importlib.util
import json
import os
import pathlib
import shlex
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
QUESTIONS = ["squad2_doc", "squad2_para", "qed", "offtopic", "mutated"]
CLAIMS = ["fm2", "wice", "feversym", "bnli", "squad_claims", "med"]
MORE_CLAIMS = ["help", "snli", "mnli"]
FITTED = ["fm2", "feversym", "bnli", "squad_claims", "med"]
PAGES = ["pages_dev", "pages_held", "json_dev", "json_held", "everyday_dev", "everyday_held",
         "everyday_questions_dev", "everyday_questions_held"]
NEVER_SAMPLED = ["others", "ours", "own_cases", "cases", *PAGES, "foreign"]
SETS = [*NEVER_SAMPLED[:-1], *QUESTIONS, *CLAIMS, "foreign"]
SAMPLE = 600
#: Sets as a user might ask; not those where all rows are true or all are made by rule.
RELIABILITY = ["others", "ours", "own_cases", "squad2_doc", "squad2_para", "offtopic", "fm2", "wice", "feversym"]
#: Sets whose gold doesn't tell "contradicted" from "not stated".
TWO_WAY = {*PAGES, "squad2_doc", "squad2_para", "qed", "offtopic", "wice", "med", "help"}
LABELS = ["supported", "partially_supported", "weak", "unsupported", "contradicted"]
SHORT = dict(zip(LABELS, ["plain", "part", "weak", "uns", "contra"]))
#: A category with fewer rows isn't held to a bound.
FEWEST = 8
AUXILIARIES = set("""is are was were am be do does did has have had can could may might must shall should will would isn't
aren't wasn't weren't doesn't don't didn't hasn't haven't hadn't can't couldn't won't wouldn't shouldn't""".split())


# ---- the sets ----

def spans_of(units):
    spans, at = [], 0
    for unit in units:
        spans.append((at, at + len(unit)))
        at += len(unit) + 1
    return spans


def form_of(kind, query):
    """claim, yes_no or wh; what follows an "If …," is what is asked."""
    if kind == "claim":
        return "claim"
    words = query.lower().replace("’", "'").split()
    if words and words[0] == "if":
        words = query.lower().partition(",")[2].split()
    return "yes_no" if words and words[0].strip(",") in AUXILIARIES else "wh"


def row_of(name, id, kind, query, title, gold, category, text, units=None, places=(), group="", pair=None):
    line = {"id": id, "kind": kind, "query": query, "title": title, "document_text": text}
    if units is not None:
        line["sentences"] = units
    return {"set": name, "id": id, "form": form_of(kind, query), "gold": gold, "category": category, "line": line,
            "places": places, "group": group, "title": title, "pair": pair}


def packed_lines(path):
    return map(json.loads, gzip.decompress(path.read_bytes()).splitlines())


def of_questions(name, folder, documents):
    for row in packed_lines(folder / f"{name}.jsonl.gz"):
        units = documents[row["doc"]]
        gold = {"refuted": "contradicted", "unsupported": "not_stated"}.get(row["gold"]["decision"], "supported")
        spans = spans_of(units)
        places = [spans[at] for at in row["gold"]["sentences"]] if len(units) > 1 else []
        yield row_of(name, row["id"], row["kind"], row["query"], row["title"], gold, row["gold"]["decision"],
                     "\n".join(units), units, places)


def of_claims(name, folder):
    for row in packed_lines(folder / f"{name}.dev.jsonl.gz"):
        units, spans = row["units"], spans_of(row["units"])
        places = [spans[at] for at in row["gold_units"]] if len(units) > 1 else []
        yield row_of(name, row["id"], row["kind"], row["query"], row["title"], row["label"],
                     row.get("category") or row.get("fine") or row["label"], "\n".join(units), units, places, row["group"])


def excerpt_places(text, excerpts):
    return [(at, at + len(excerpt)) for excerpt in excerpts if (at := text.find(excerpt)) >= 0]


def of_others(folder):
    """The categories take the names of ours."""
    documents = json.loads((folder / "documents.json").read_text())
    for line in (folder / "nearmiss.jsonl").read_text().splitlines():
        row = json.loads(line)
        page, category, true = documents[row["doc"]], row["category"], row["gold"] == "supported"
        if row["kind"] == "question":
            wh = form_of("question", row["query"]) == "wh"
            category = "question_wh" if wh else "question_yes" if true else "question_no"
        elif category == "multi_sentence" and any("|" in excerpt for excerpt in row["gold_excerpts"]):
            category = "table_cell"
        elif category == "two_part":
            category = "two_part_false"
        yield row_of("others", row["id"], row["kind"], row["query"], page["title"], row["gold"], category, page["markdown"],
                     None, excerpt_places(page["markdown"], row["gold_excerpts"]), row["doc"], row["pair"])


def of_ours(folder, split, are_cases):
    spec = importlib.util.spec_from_file_location("check", folder / "check.py")
    check = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(check)
    for name, document, rows, _ in check.read(folder):
        title = next((line.lstrip("# ") for line in document.splitlines() if line.startswith("#")), name)
        for row in rows:
            if split in ("all", row["split"]) and row["is_case"] == are_cases:
                name_of_set = "own_cases" if are_cases else "ours"
                yield row_of(name_of_set, row["id"], row["kind"], row["query"], title, row["gold"], row["category"], document, None,
                             excerpt_places(document, row["gold_excerpts"]), name, row["pair"])


def of_cases(folder):
    for line in (folder / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        text = (folder / f"{row['doc']}.md").read_text()
        title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("#")), row["doc"])
        yield row_of("cases", row["query"], row["kind"], row["query"], title, row["gold"], row["gold"], text, None, (), row["doc"])


def of_pages(folder, split, program, are_questions=False):
    """What is checked is the markdown of the page, as a buyer's would be."""
    pages = {}
    name, kind = (f"{folder.name}_questions", "question") if are_questions else (folder.name, "claim")
    for line in (folder / ("questions.jsonl" if are_questions else "rows.jsonl")).read_text().splitlines():
        row = json.loads(line)
        if row["split"] != split:
            continue
        if row["doc"] not in pages:
            path = next(folder.glob(f"{row['doc']}.*"))
            done = subprocess.run([program, "convert", "--json", path], capture_output=True, text=True, check=True)
            pages[row["doc"]] = json.loads(done.stdout)
        page = pages[row["doc"]]
        yield row_of(f"{name}_{split}", f"{row['doc']}: {row['query']}" if folder.name == "everyday" else row["query"], kind,
                     row["query"], page["metadata"]["title"], row["gold"], row["kind"] if are_questions else row["category"],
                     page["markdown"], None, (), row["doc"])


def of_foreign(path):
    """The language isn't told: the engine finds it."""
    for line in path.read_text().splitlines():
        row = json.loads(line)
        for member, gold in (("true", "supported"), ("negated", "contradicted")):
            yield row_of("foreign", f"{row['language']}-{member}", "claim", row[member], row["title"], gold, member,
                         row["document_text"], None, (), row["language"])


def load(name, args, documents):
    data = args.data and pathlib.Path(args.data)
    if name in ("ours", "own_cases"):
        return list(of_ours(pathlib.Path(args.nearmiss), args.split, name == "own_cases"))
    if name == "cases":
        return list(of_cases(HERE / "cases"))
    if name in PAGES:
        folder, *questions, split = name.split("_")
        return list(of_pages(HERE / folder, split, shlex.split(args.engine)[0], bool(questions)))
    if name == "foreign":
        return list(of_foreign(HERE / "foreign.jsonl"))
    if data is None:
        raise SystemExit(f"the set {name} needs --data")
    if name == "others":
        return list(of_others(data / "nearmiss"))
    if name in QUESTIONS:
        if not documents:
            documents.update(json.loads(gzip.decompress((data / "data" / "documents.json.gz").read_bytes())))
        return list(of_questions(name, data / "data", documents))
    if name in CLAIMS + MORE_CLAIMS:
        return list(of_claims(name, data / "entailment"))
    raise SystemExit(f"there is no set {name}")


def hashed(text):
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def held(row):
    """What the training of the entailment model leaves out."""
    return hashed(row["title"] if row["set"] == "squad_claims" else row["group"] or row["title"]) % 5 == 0


def sampled(rows, limit):
    if not limit or len(rows) <= limit:
        return rows
    by_hash = sorted(rows, key=lambda row: hashed(min(row["id"], row["pair"] or row["id"])))
    kept = {row["id"] for row in by_hash[:limit]}
    return [row for row in rows if row["id"] in kept]


# ---- the engine ----

def ask(engine, rows, depth):
    """The answers in the order of the rows, and the CPU seconds that the engine took."""
    process = subprocess.Popen(shlex.split(engine) + ["--threads", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def feed():
        try:
            with process.stdin as out:
                for row in rows:
                    line = row["line"] | ({"depth": depth} if depth else {})
                    out.write((json.dumps(line) + "\n").encode())
        except BrokenPipeError:
            pass

    feeder = threading.Thread(target=feed)
    feeder.start()
    answers = []
    for line in process.stdout:
        answer = json.loads(line)
        if "error" in answer or len(answers) == len(rows) or answer.get("id") != rows[len(answers)]["id"]:
            process.kill()
            at = rows[len(answers)]["id"] if len(answers) < len(rows) else "the end"
            raise SystemExit(f"at {at} the engine answered {line.decode().strip()[:500]}")
        if answer["decision"] not in LABELS:
            process.kill()
            raise SystemExit(f"{answer['id']}: unknown decision {answer['decision']!r}")
        answers.append(answer)
    feeder.join()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or len(answers) < len(rows):
        raise SystemExit(f"the engine ended with {process.returncode} after {len(answers)} of {len(rows)} lines")
    return answers, usage.ru_utime + usage.ru_stime


def judged(row, answer):
    """What the figures need of a row and its answer."""
    text, rank, exact = row["line"]["document_text"], 0, 0
    for at, citation in enumerate(answer["citations"]):
        start, end = citation["start"], citation["end"]
        exact += text[start:end] == citation["text"]
        if not rank and any(a < end and start < b for a, b in row["places"]):
            rank = at + 1
    read = answer.get("kind") or row["form"]
    return {
        "set": row["set"], "id": row["id"], "form": row["form"], "category": row["category"], "gold": row["gold"],
        "group": row["group"], "pair": row["pair"], "true": row["gold"] == "supported", "decision": answer["decision"],
        "support_score": float(answer.get("support_score", answer["confidence"])), "confidence": float(answer["confidence"]),
        "rank": rank if row["places"] else None, "cited": len(answer["citations"]), "exact": exact,
        "read": read if read in ("claim", "yes_no", "open") else "wh",
    }


def written(row, told, answer):
    """A line of --rows: the figures' members, the query and the answer without what surrounds its citations."""
    short = [{key: value for key, value in citation.items() if key != "context"} for citation in answer["citations"][:3]]
    return told | {"query": row["line"]["query"], "title": row["title"], "answer": answer | {"citations": short}}


# ---- figures ----

def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def share(rows, decisions):
    return mean(row["decision"] in decisions for row in rows)


def auroc(rows):
    """Of support_score, supported against the rest; ties share their mean rank."""
    order = sorted(rows, key=lambda row: row["support_score"])
    total, at = 0.0, 0
    while at < len(order):
        end = at
        while end < len(order) and order[end]["support_score"] == order[at]["support_score"]:
            end += 1
        total += (at + end + 1) / 2 * sum(row["true"] for row in order[at:end])
        at = end
    true = sum(row["true"] for row in rows)
    false = len(rows) - true
    return (total - true * (true + 1) / 2) / (true * false) if true and false else None


def calibration_error(rows, bins=10):
    order = sorted(rows, key=lambda row: row["support_score"])
    size, total = max(1, len(order) // bins), 0.0
    for at in range(0, len(order), size):
        part = order[at:at + size]
        total += abs(sum(row["true"] - row["support_score"] for row in part)) / len(order)
    return total


def hit(rows, within):
    return mean(0 < row["rank"] <= within for row in rows if row["rank"] is not None)


def twins(rows):
    by_id = {row["id"]: row for row in rows}
    pairs = [(row, by_id[row["pair"]]) for row in rows if row["true"] and row["pair"] in by_id]
    pairs = [(a["support_score"], b["support_score"]) for a, b in pairs if not b["true"]]
    return mean((a > b) + (a == b) / 2 for a, b in pairs), len(pairs)


def shares(rows, against=()):
    return {"n": len(rows)} | {SHORT[label]: share(rows, {label}) for label in LABELS} | {
        "score": mean(row["support_score"] for row in rows), "AUROC": auroc([*rows, *against]), "hit@3": hit(rows, 3)}


def near_misses(rows):
    """Categories of true and false claims and questions, and their sums."""
    of = lambda true, claims: [row for row in rows if row["true"] == true and (row["form"] == "claim") == claims]
    told, categories = {}, {}
    for true, claims in ((True, True), (False, True), (True, False), (False, False)):
        part, opposite = of(true, claims), of(not true, claims)
        key = f"{'true' if true else 'false'} {'claims' if claims else 'questions'}"
        by = collections.defaultdict(list)
        for row in part:
            by[row["category"]].append(row)
        categories[key] = {name: shares(by[name], opposite) for name in sorted(by)}
        told[key] = shares(part, opposite)
    true, false = [row for row in rows if row["true"]], [row for row in rows if not row["true"]]
    told["true"], told["false"] = shares(true, false), shares(false, true)
    told["rows"] = shares(rows)
    value, pairs = twins(rows)
    return {"sums": told, "categories": categories, "twins": value, "pairs": pairs,
            "auroc": {"all": auroc(rows), "claims": auroc([row for row in rows if row["form"] == "claim"]),
                      "questions": auroc([row for row in rows if row["form"] != "claim"])}}


def sum_up(rows):
    true, false = [row for row in rows if row["true"]], [row for row in rows if not row["true"]]
    plain = [row for row in rows if row["decision"] == "supported"]
    return {
        "n": len(rows), "true": len(true), "hit@1": hit(rows, 1), "hit@3": hit(rows, 3), "AUROC": auroc(rows),
        "ECE": calibration_error(rows), "kept": share(true, {"supported"}), "prec": mean(row["true"] for row in plain),
        "plain": mean(row["decision"] == "supported" for row in rows), "false": share(false, {"supported"}),
        "true sup/part": share(true, set(LABELS[:2])), "false sup/part": share(false, set(LABELS[:2])),
        "true contra": share(true, {"contradicted"}), "false contra": share(false, {"contradicted"}),
    }


def foreign(rows):
    of = lambda category, decisions: sum(row["decision"] in decisions for row in rows if row["category"] == category)
    both, n = set(LABELS[:2]), sum(row["category"] == "negated" for row in rows)
    return {
        "languages": n, "true_supported": of("true", {"supported"}), "true_supported_or_partially": of("true", both),
        "negated_supported": of("negated", {"supported"}), "negated_supported_or_partially": of("negated", both),
        "negated_contradicted": of("negated", {"contradicted"}),
        "labels": {row["id"]: f"{row['decision']} {row['support_score']:.2f}" for row in rows},
    }


def right(row):
    """Whether the label is right; None where the gold can't tell."""
    if row["decision"] == "contradicted":
        return None if row["set"] in TWO_WAY and not row["true"] else row["gold"] == "contradicted"
    return row["true"] == (row["decision"] in LABELS[:2])


def bins_of(triples, equal_width):
    """(stated, truth, weight) in five bins; equal statements stay together."""
    triples = sorted(triples)
    total, before, at = sum(weight for *_, weight in triples), 0.0, 0
    bins = [[] for _ in range(5)]
    while at < len(triples):
        end = at
        while end < len(triples) and triples[end][0] == triples[at][0]:
            end += 1
        weight = sum(weight for *_, weight in triples[at:end])
        place = triples[at][0] if equal_width else (before + weight / 2) / total
        bins[min(4, int(5 * place))] += triples[at:end]
        before, at = before + weight, end
    return [bin_of(triples) for triples in bins]


def bin_of(triples):
    weight = sum(weight for *_, weight in triples)
    if not weight:
        return {"n": 0, "stated": None, "true": None, "off": None}
    stated, true = (sum(one[at] * one[2] for one in triples) / weight for at in (0, 1))
    return {"n": len(triples), "stated": stated, "true": true, "off": abs(stated - true)}


def reliability(rows):
    sizes = collections.Counter(row["set"] for row in rows)
    weight = {name: min(1.0, SAMPLE / size) for name, size in sizes.items()}
    labels = {}
    for kind in ("claim", "wh", "yes_no", "open"):
        for label in LABELS:
            part = [row for row in rows if row["read"] == kind and row["decision"] == label]
            known = [(right(row), weight[row["set"]]) for row in part if right(row) is not None]
            if part:
                sum_of = sum(weight for _, weight in known)
                share_right = sum(is_right * weight for is_right, weight in known) / sum_of if sum_of else None
                labels[f"{kind} {label}"] = {
                    "n": len(part), "right": share_right,
                    "gold supported": mean(row["true"] for row in part), "confidence": mean(row["confidence"] for row in part),
                    "support_score": mean(row["support_score"] for row in part)}
    told = {"labels": labels}
    for width in (False, True):
        for stated, truth in (("support_score", lambda row: row["true"]), ("confidence", right)):
            of = lambda kept: bins_of([(row[stated], truth(row), weight[row["set"]]) for row in rows
                                       if truth(row) is not None and kept(row)], width)
            key = f"{stated} {'equal width' if width else 'equal weight'}"
            told[key] = of(lambda row: True)
            if not width:
                for kind in ("claim", "wh", "yes_no"):
                    told[f"{key}, {kind}"] = of(lambda row: row["read"] == kind)
    return told


# ---- acceptance ----

def error_of(p, n):
    return (p * (1 - p) / n) ** 0.5 if p is not None and n else None


def error_of_auroc(a, true, false):
    """Hanley and McNeil."""
    if a is None or not true or not false:
        return None
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    return (max(0.0, a * (1 - a) + (true - 1) * (q1 - a * a) + (false - 1) * (q2 - a * a)) / (true * false)) ** 0.5


class Acceptance:
    def __init__(self):
        self.lines = []

    def add(self, what, value, goal, least, error=None, note=""):
        """`least`: the goal is a lower bound."""
        if value is not None:
            ok = value >= goal - 1e-9 if least else value <= goal + 1e-9
            self.lines.append({"line": what, "value": value, "error": error, "goal": f"{'≥' if least else '≤'} {goal:g}",
                               "ok": ok, "note": note})

    def near_misses(self, name, told):
        true, false, categories = told["sums"]["true"], told["sums"]["false"], told["categories"]
        share = lambda what, value, n, goal, least, note="": self.add(
            f"{name}: {what}", value, goal, least, error_of(value, n), note)
        share("false labelled supported", false["plain"], false["n"], .10, False)
        kinds = [(one["plain"], category, one["n"]) for key in ("false claims", "false questions")
                 for category, one in categories[key].items() if one["n"] >= FEWEST]
        if kinds:
            worst, category, n = max(kinds)
            above = sum(value > .20 for value, *_ in kinds)
            share("the same, worst category", worst, n, .20, False, f"{category}, {n} rows; {above} of {len(kinds)} above")
        share("true labelled supported", true["plain"], true["n"], .45, True)
        for category in ("paraphrase", "table_cell", "multi_sentence", "negated_truth"):
            if one := categories["true claims"].get(category):
                value = one["plain"] + one["part"]
                share(f"{category} supported or partially", value, one["n"], .50, True, f"{one['n']} rows")
        share("true labelled contradicted", true["contra"], true["n"], .01, False)
        value = told["auroc"]["all"]
        self.add(f"{name}: AUROC", value, .78, True, error_of_auroc(value, true["n"], false["n"]))

    def shares(self, name, told, bounds):
        words = {"kept": "answerable labelled supported", "prec": "precision of supported", "false": "false labelled supported"}
        true, false = told["true"], told["n"] - told["true"]
        for member, goal, least in bounds:
            value, n = told[member], {"false": false, "prec": round(told["n"] * told["plain"])}.get(member, true)
            error = error_of_auroc(value, true, false) if member == "AUROC" else error_of(value, n)
            self.add(f"{name}: {words.get(member, member)}", value, goal, least, error)


def acceptance(sets, trusted):
    lines = Acceptance()
    for name in ("others", "ours"):
        if name in sets:
            lines.near_misses(name, sets[name])
    plain = [("kept", .40, True), ("prec", .85, True)]
    bounds = {
        "offtopic": [("false", 0, False)], "squad2_doc": [("hit@1", .80, True), ("hit@3", .92, True), *plain],
        "squad2_para": [("hit@1", .90, True), *plain], "fm2": [("AUROC", .73, True), ("hit@3", .65, True)],
        "wice": [("AUROC", .74, True)], "feversym": [("AUROC", .86, True)], "bnli": [("false", .02, False)],
    }
    for name, of in bounds.items():
        if name in sets:
            lines.shares(name, sets[name], of)
    for stated in ("support_score", "confidence"):
        for kind in ("equal weight", "equal width"):
            bins = [one for one in trusted.get(f"{stated} {kind}", []) if one["n"] >= FEWEST]
            if bins:
                worst = max(bins, key=lambda one: one["off"])
                note = f"says {worst['stated']:.2f}, is {worst['true']:.2f}, {worst['n']} rows"
                lines.add(f"{stated} off in the worst of five bins of {kind}", worst["off"], .05, False, None, note)
    if told := sets.get("foreign"):
        lines.add("foreign negations not labelled supported", told["languages"] - told["negated_supported"], 11, True, None,
                  f"{told['languages'] - told['negated_supported_or_partially']} neither supported nor partially")
    return lines.lines


# ---- output ----

def cell(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}".replace("0.", ".", 1) if value < 1 else f"{value:.3f}"
    return str(value)


def table(title, rows):
    """`rows`: a dictionary of named dictionaries."""
    print(f"\n{title}")
    columns = list(next(iter(rows.values())))
    body = [["", *columns]] + [[name, *(cell(row.get(column)) for column in columns)] for name, row in rows.items()]
    widths = [max(len(line[at]) for line in body) for at in range(len(columns) + 1)]
    for line in body:
        print("  " + line[0].ljust(widths[0]) + "".join("  " + one.rjust(width) for one, width in zip(line[1:], widths[1:])))


def print_near_misses(name, told):
    for key, categories in told["categories"].items():
        if categories:
            table(f"{name}: {key}", categories | {"all": told["sums"][key]})
    table(f"{name}: sums", {key: told["sums"][key] for key in ("true", "false", "rows")})
    print("  AUROC " + ", ".join(f"{key} {cell(value)}" for key, value in told["auroc"].items())
          + f"; twins {cell(told['twins'])} of {told['pairs']} pairs")


def print_acceptance(lines, before):
    print("\nacceptance")
    width = max((len(line["line"]) for line in lines), default=0)
    for line in lines:
        error = f"±{cell(line['error'])}" if line["error"] is not None else ""
        was = f"was {cell(before[line['line']]):6}" if line["line"] in before else ""
        said = f"  {'PASS' if line['ok'] else 'miss'}  {line['line'].ljust(width)}  {cell(line['value']):>6} {error:6}"
        print(f"{said} {line['goal']:7}{was} {line['note']}".rstrip())
    print(f"  {sum(line['ok'] for line in lines)} of {len(lines)} lines pass; ± is one standard error.")
    print("  model.txt was fitted to the articles of squad2_doc and squad2_para.")


def rounded(value):
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--data")
    parser.add_argument("--nearmiss", default=HERE / "nearmiss")
    parser.add_argument("--sets")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--split", choices=["train", "dev", "all"], default="dev")
    parser.add_argument("--depth", choices=["quick", "standard", "deep"])
    parser.add_argument("--held", choices=["none", "claims", "all"], default="claims")
    parser.add_argument("--json")
    parser.add_argument("--rows")
    parser.add_argument("--before")
    return parser.parse_args()


def main():
    args = options()
    names = args.sets.split(",") if args.sets else SETS if args.data else ["ours", "own_cases", "cases", *PAGES, "foreign"]
    _, start = ask(args.engine, [], args.depth)
    sets, cpu, everything, documents = {}, {}, [], {}
    out = open(args.rows, "w") if args.rows else None
    for name in names:
        limit = args.limit or (None if args.full or name in NEVER_SAMPLED else SAMPLE)
        rows = load(name, args, documents)
        if args.held != "none" and name in FITTED or args.held == "all" and name in QUESTIONS:
            rows = [row for row in rows if held(row)]
        rows = rows if name == "foreign" else sampled(rows, limit)
        if not rows:
            continue
        answers, seconds = ask(args.engine, rows, args.depth)
        told = [judged(row, answer) for row, answer in zip(rows, answers)]
        if out:
            for row, one, answer in zip(rows, told, answers):
                print(json.dumps(written(row, one, answer), ensure_ascii=False), file=out, flush=True)
        everything += told
        cpu[name] = {"n": len(rows), "cpu ms": 1000 * max(0.0, seconds - start) / len(rows),
                     "citations": sum(one["cited"] for one in told), "exact": sum(one["exact"] for one in told)}
        if name in ("others", "ours", *PAGES):
            sets[name] = near_misses(told)
            print_near_misses(name, sets[name])
        elif name == "foreign":
            sets[name] = foreign(told)
        else:
            sets[name] = sum_up(told)
        sys.stdout.flush()
    if out:
        out.close()
    for title, part in (("questions and mutated sentences", QUESTIONS), ("claims", CLAIMS + MORE_CLAIMS)):
        if any(name in part for name in sets):
            table(title, {name: sets[name] for name in names if name in part and name in sets})
    if "foreign" in sets:
        print("\nforeign: " + ", ".join(f"{key} {value}" for key, value in sets["foreign"].items() if key != "labels"))
        for key, value in sets["foreign"]["labels"].items():
            print(f"  {key:12} {value}")
    trusted = [one for one in everything if one["set"] in RELIABILITY]
    told = reliability(trusted) if trusted else {}
    if told:
        table("labels (" + ", ".join(name for name in RELIABILITY if name in sets) + ")", told["labels"])
        for key, bins in told.items():
            if key != "labels":
                table(key, {str(at + 1): one for at, one in enumerate(bins)})
    table("cost and citations", cpu)
    lines = acceptance(sets, told)
    earlier = json.loads(pathlib.Path(args.before).read_text())["acceptance"] if args.before else []
    print_acceptance(lines, {line["line"]: line["value"] for line in earlier})
    if args.json:
        whole = {"engine": args.engine, "depth": args.depth, "split": args.split, "held": args.held, "limit": args.limit,
                 "full": args.full, "sets": sets, "reliability": told, "cost": cpu, "start_cpu_s": start, "acceptance": lines}
        pathlib.Path(args.json).write_text(json.dumps(rounded(whole), indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

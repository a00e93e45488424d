#!/usr/bin/env python3
"""Fits the last decision of the evidence engine: from the signals of a question to P(stated) and P(contradicted), and the
bounds from which a label is told.

usage: labels.py --engine 'target/release/context402 evidence --jsonl' --data FOLDER [--out data/evidence/labels.txt]
                 [--only questions|model|asked] [--jobs N] [--save signals.npz] [--load signals.npz]
needs: pip install -r data/evidence/requirements.txt; no network. The same data give the same file.

Also writes to figures.json how often each label was right on each kind of question (`reliability`), and how well near-misses
are told apart (`near_misses`), which reports and GET /v1/proof-pack/benchmarks publish.

The sections with the entailment model are fitted to documents that it was not trained on (held() in
entailment/build.py), the ones by words alone to all. model.txt, whose probability is one of the signals, is fitted to the
articles of FOLDER/data; for a question to one of them it is the probability of a model.txt that is fitted without the article.
Figures are printed by out-of-fold predictions, in five parts by document.

--only questions leaves the sections on claims as they are, and their figures; --only model those by words alone. --only asked
chooses nothing but the bound from which a question for yes or no is supported by words alone, as the engine is.
"""
import argparse
import collections
import concurrent.futures
import datetime
import gzip
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys

import lightgbm
import numpy as np
from sklearn.linear_model import LogisticRegression

import measure
import train

HERE = pathlib.Path(__file__).resolve().parent
FOLDS = 5
TREES_SHARE = 0.5
TREES = dict(objective="binary", num_leaves=8, learning_rate=0.05, min_data_in_leaf=25, lambda_l2=5.0,
             feature_fraction=0.5, verbose=-1, num_threads=1, seed=0, deterministic=True, force_row_wise=True)
TREES_COUNT = 110
#: The sets that judge the labels, near-misses first, as /v1/proof-pack/benchmarks names them: where the rows come from.
SETS = {
    "others": "near-misses: true and false statements and questions in nearly the same words, written by others, who never saw "
              "this project's rows",
    "ours": "near-misses written for this project",
    "own_cases": "what somebody checks before acting, put in his own words, written for this project",
    "cases": "what somebody checks before acting, put in his own words, on 24 pages; nothing is fitted to them",
    "fm2": "Fool Me Twice: claims by players of a game who try to fool one another",
    "wice": "WiCE: claims of many facts from Wikipedia, against the page that they cite",
    "feversym": "FEVER-Symmetric: each claim beside a sentence that states it and one that refutes it",
    "bnli": "Breaking NLI: a sentence with one word changed",
    "squad2_doc": "SQuAD 2.0: questions to a whole article; half have no answer there",
    "squad2_para": "SQuAD 2.0: questions to a paragraph; half have no answer there",
    "offtopic": "questions to the right page and to a page about something else; the entailment model knows some of the pages",
}
#: More of it never speaks against a statement, or never for it.
RISES = "plainly e_sup1 e_sup3 e_sup2 e_sup e_sup_rel e_sup_mean cov_r cov_t cov_w lcs_r verbatim q_same likely".split()
FALLS = "q_differs swapped exchanged elsewhere numconf unabs un_num un_name ordconf antadj negd".split()


#: Signals of a question that the decision with the entailment model is fitted to. `likely` weighs the words already, fitted to
#: three times the articles; their signals once more made the decision worse on articles that it had not seen.
BESIDE_THE_MODEL = ("e_", "is_", "likely")
#: The share of SQuAD's questions labelled `supported` that must be answered, by section; as many with an answer as without.
RIGHT = {"": 0.80, ".words": 0.72}
#: The sets whose false claims hold the bounds.
NEAR = ("ours", "own_cases", "others")
#: The most false rows that may be labelled `supported`, of claims of each of these sets and of questions for yes or no, which
#: are told apart less well; and the most true ones `contradicted`.
FALSE_PLAIN, FALSE_PLAIN_ASKED, TRUE_DENIED = 0.095, 0.05, 0.008
#: The weight of a case: at 1 the claims of WiCE are told apart less well, at 0 those of cases/.
OWN_CASES = 0.4
#: Sets of FOLDER/data that model.txt is fitted to.
FITTED = ("squad2_para", "squad2_doc", "qed", "offtopic")


def part(group):
    """One of five, by document."""
    return int(hashlib.sha256(str(group).encode()).hexdigest(), 16) % FOLDS


def held(group):
    """As entailment/build.py leaves them out."""
    return part(group) == 0


class Row:
    def __init__(self, set, kind, query, title, text, sentences, gold, group, category="", seen=False, weight=1.0):
        self.set, self.kind, self.query, self.title, self.text, self.sentences = set, kind, query, title, text, sentences
        self.gold, self.group, self.category, self.seen, self.weight = gold, group, category, seen, weight
        #: The part that a model.txt must not have seen; None where the shipped one has seen nothing of it.
        self.part = part(group) if set in FITTED else None
        asks = category in ("question_yes", "question_no", "yesno_no", "yesno_yes")
        self.wh = kind == "question" and not asks


def read(folder):
    rows, folder = [], pathlib.Path(folder)
    load = lambda path: [json.loads(line) for line in gzip.open(path, "rt")]
    out = subprocess.run([sys.executable, HERE / "nearmiss/check.py", "--json"], capture_output=True, text=True, check=True)
    for line in out.stdout.splitlines():
        r = json.loads(line)
        text = (HERE / "nearmiss" / (r["doc"] + ".md")).read_text()
        name, weight = ("own_cases", OWN_CASES) if r["is_case"] else ("ours", 1.0)
        title = text.split("\n")[0].lstrip("# ").strip()
        rows.append(Row(name, r["kind"], r["query"], title, text, None, r["gold"], r["doc"], r["category"], r["split"] != "dev", weight))
    for line in open(HERE / "cases/rows.jsonl"):
        r = json.loads(line)
        text = (HERE / f"cases/{r['doc']}.md").read_text()
        asks = measure.form_of(r["kind"], r["query"]) == "yes_no"
        title = next(line.lstrip("# ") for line in text.split("\n") if line.startswith("# "))
        rows.append(Row("cases", r["kind"], r["query"], title, text, None, r["gold"], r["doc"], "question_yes" if asks else "", weight=0.0))
    documents = json.load(open(folder / "nearmiss/documents.json"))
    for line in open(folder / "nearmiss/nearmiss.jsonl"):
        r = json.loads(line)
        d = documents[r["doc"]]
        rows.append(Row("others", r["kind"], r["query"], d["title"], d["markdown"], None, r["gold"], r["doc"], r["category"],
                        weight=2.0))
    for name, most, weight in (("fm2", 700, 0.7), ("feversym", 400, 0.7), ("bnli", 500, 0.4), ("wice", 349, 0.7)):
        found = load(folder / f"entailment/{name}.dev.jsonl.gz")
        unseen = [r for r in found if name == "wice" or held(r["group"])]
        for r in unseen[:most] + [r for r in found if r not in unseen][:most]:
            rows.append(Row(name, "claim", r["query"], r["title"], None, [u for u in r["units"] if u.strip()], r["label"],
                            str(r["group"]), seen=r not in unseen, weight=weight))
    documents = json.load(gzip.open(folder / "data/documents.json.gz", "rt"))
    for name, most in (("squad2_para", 1600), ("squad2_doc", 2000), ("qed", 2000), ("offtopic", 2000)):
        n = collections.Counter()
        for r in load(folder / f"data/{name}.jsonl.gz"):
            seen = not held(r["title"]) and name != "offtopic"
            n[seen] += 1
            if n[seen] <= most:
                gold = "supported" if r["gold"]["decision"] == "supported" else "not_stated"
                if name == "qed" and gold != "supported":
                    continue
                rows.append(Row(name, "question", r["query"], r["title"], None, documents[r["doc"]], gold, r["title"], seen=seen))
    return rows


def asked(row, **members):
    line = {"id": 0, "kind": row.kind, "query": row.query, "title": row.title, "document_text": row.text or "\n".join(row.sentences)}
    return json.dumps(line | ({"sentences": row.sentences} if row.sentences else {}) | members)


def signals(engine, rows, depth, jobs):
    def ask(part):
        lines = [asked(r, depth=depth, signals=True) for r in part]
        p = subprocess.run(shlex.split(engine) + ["--training", "--threads", "1"], input="\n".join(lines) + "\n",
                           capture_output=True, text=True)
        if p.returncode:
            sys.exit(p.stderr[-2000:])
        return [json.loads(line) for line in p.stdout.splitlines()]
    parts = [rows[at:at + 100] for at in range(0, len(rows), 100)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = [line for part in pool.map(ask, parts) for line in part]
    return found[0]["names"], np.array([line["signals"] for line in found])


def likely_of_parts(engine, folder, rows):
    """The signal `likely` of rows that have a part, by a model.txt that is fitted to the articles of the other parts."""
    known = train.made(train.read(pathlib.Path(folder) / "data"))
    line = b'{"id":0,"query":"","names":true,"document_text":""}\n'
    told = json.loads(subprocess.run(shlex.split(engine) + ["--training"], input=line, stdout=subprocess.PIPE, check=True).stdout)
    others = [[at for at, row in enumerate(known) if k not in (part(row.group), part(row.title))] for k in range(FOLDS)]
    models = train.fitted(engine, known, others, told["names"], told["rank_names"])
    found = []
    with train.written(models) as options:
        command = shlex.split(engine) + ["--training", "--threads", "1", *options]
        for at in range(0, len(rows), 100):
            lines = "\n".join(asked(row) for row in rows[at:at + 100])
            answers = subprocess.run(command, input=lines + "\n", stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
            for row, answer in zip(rows[at:at + 100], map(json.loads, answers), strict=True):
                decisive = train.floats(answer["decisive"][row.part]).astype(float)[None]
                found.append(models[row.part].likely(answer["gate"], decisive)[0])
    return np.array(found)


def auroc(truth, score):
    order = np.argsort(score, kind="stable")
    values, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    p = truth.sum()
    return (rank[truth].sum() - p * (p + 1) / 2) / (p * (len(truth) - p)) if 0 < p < len(truth) else float("nan")


class Fit:
    """Weights and trees over the columns that are used."""

    def __init__(self, names, X, y, w, use, monotone):
        self.names, self.use = names, use
        self.mean, self.spread = X.mean(0), np.maximum(X.std(0), 1e-6)
        Z = np.clip((X - self.mean) / self.spread, -4, 4)[:, use]
        self.linear = LogisticRegression(C=0.02, max_iter=2000).fit(Z, y, sample_weight=w)
        sign = [(1 if names[i] in RISES else -1 if names[i] in FALLS else 0) if monotone else 0 for i in use]
        data = lightgbm.Dataset(X[:, use], y.astype(int), weight=w)
        self.trees = lightgbm.train({**TREES, "monotone_constraints": sign}, data, TREES_COUNT)
        self.slope, self.offset = 1.0, 0.0

    def sum(self, X):
        Z = np.clip((X - self.mean) / self.spread, -4, 4)[:, self.use]
        linear = Z @ self.linear.coef_[0] + self.linear.intercept_[0]
        return (1 - TREES_SHARE) * linear + TREES_SHARE * self.trees.predict(X[:, self.use], raw_score=True)

    def text(self):
        lines = []
        for at, weight in zip(self.use, self.linear.coef_[0]):
            if abs(weight) > 1e-4:
                lines.append(f"decide {self.names[at]} {self.mean[at]:.5g} {self.spread[at]:.5g} {weight:.5g}")
        lines.append(f"set decide_bias {self.linear.intercept_[0]:.6g}")
        lines.append(f"set trees_share {TREES_SHARE}")
        lines.append(f"set slope {self.slope:.5g}\nset offset {self.offset:.5g}")
        for tree in self.trees.dump_model()["tree_info"]:
            words = []

            def walk(node):
                if "leaf_value" in node:
                    words.append(f"{node['leaf_value']:.5g}")
                else:
                    words.append(f"{self.names[self.use[node['split_feature']]]}>{node['threshold']:.6g}")
                    walk(node["left_child"])
                    walk(node["right_child"])
            if "split_feature" in tree["tree_structure"]:
                walk(tree["tree_structure"])
                lines.append("tree " + " ".join(words))
        return "\n".join(lines)


def fit(names, X, rows, y, use, monotone):
    """Out-of-fold probabilities, and the fit to all."""
    w = np.array([r.weight for r in rows])
    groups = sorted({r.group for r in rows}, key=lambda g: hashlib.sha256(g.encode()).hexdigest())
    fold = np.array([groups.index(r.group) % FOLDS for r in rows])
    of = lambda at: Fit(names, X[at], y[at], w[at], use, monotone)
    total = np.zeros(len(rows))
    for k in range(FOLDS):
        total[fold == k] = of((fold != k) & (w > 0)).sum(X[fold == k])
    # One map for all, on sums for rows that the fit did not see.
    sigmoid = LogisticRegression(C=100.0).fit(total[:, None], y, sample_weight=w)
    whole = of(w > 0)
    whole.slope, whole.offset = sigmoid.coef_[0][0], sigmoid.intercept_[0]
    return 1 / (1 + np.exp(-(whole.slope * total + whole.offset))), whole


def reliability(kind, suffix, rows, p, supported, partly, denial, denied):
    """How often each label was right, by out-of-fold probabilities: rows as src/evidence/report/reliability.rs reads them."""
    found = []
    kinds = np.array([kind == ("wh" if r.wh else "claim" if r.kind == "claim" else "yes_no") for r in rows])
    gold = np.array([r.gold for r in rows])
    is_denied = (denial >= denied) & (denial > p) if denial is not None else np.zeros(len(rows), bool)
    tells = np.array([r.set not in ("wice",) for r in rows])
    for label, at, right in (
        ("supported", ~is_denied & supported, gold == "supported"),
        ("partially_supported", ~is_denied & (p >= partly) & ~supported, gold == "supported"),
        ("unsupported", ~is_denied & (p < partly) & ~supported, gold != "supported"),
        ("weak", ~is_denied & (p < partly) & ~supported, gold != "supported"),
        ("contradicted", is_denied & tells, gold == "contradicted"),
    ):
        of = int((kinds & at).sum())
        if of >= 50:
            for depth in ("quick",) if suffix else ("standard", "deep"):
                found.append({"kind": kind, "label": label, "depth": depth, "right": int((kinds & at & right).sum()), "of": of,
                              "measured_on": str(datetime.date.today())})
    return found


def judged(kind, depth, rows, y, p, supported):
    """How well each set is judged by out-of-fold probabilities: rows as /v1/proof-pack/benchmarks publishes them."""
    found = []
    for name in SETS:
        at = np.array([r.set == name for r in rows])
        if (at & y).any() and (at & ~y).any():
            share = lambda truth: round(float(supported[at & (y == truth)].mean()), 4)
            found.append({"set": name, "asked": kind, "depth": depth, "rows": int(at.sum()), "false_plain": share(False),
                          "true_plain": share(True), "auroc": round(float(auroc(y[at], p[at])), 4),
                          "measured_on": str(datetime.date.today())})
    return found


def bounds(claims, asked, partly):
    """The lines of a section that say from which probability on its labels are told."""
    return f"plain {claims:.4f}\nplain_asked {asked:.4f}\npartly {partly:.4f}\n"


def bound(holds):
    """The least bound from which something holds."""
    return next(b for b in np.arange(0.4, 0.99, 0.0025) if holds(b))


def show(name, rows, y, p, bounds):
    for s in sorted({r.set for r in rows}):
        at = np.array([r.set == s for r in rows])
        line = f"{name} {s} n {at.sum()} AUROC {auroc(y[at], p[at]):.3f}"
        for b in bounds:
            false, true = p[at & ~y] > b, p[at & y] > b
            line += f" | {b:.3f}: false {false.mean() if len(false) else 0:.3f} true {true.mean() if len(true) else 0:.3f}"
        print(line)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--engine", required=True)
    a.add_argument("--data", required=True)
    a.add_argument("--out", default=str(HERE / "labels.txt"))
    a.add_argument("--only", choices=["questions", "model", "asked"])
    a.add_argument("--jobs", type=int, default=2)
    a.add_argument("--load")
    a.add_argument("--save")
    a = a.parse_args()
    rows = read(a.data)
    if a.only == "asked":
        return choose_asked(a.engine, [r for r in rows if not r.seen and r.kind == "question" and not r.wh], pathlib.Path(a.out))
    wanted = np.array([(r.wh or a.only != "questions") and not (r.seen and a.only == "model") for r in rows])
    rows = [r for r, w in zip(rows, wanted) if w]
    if a.load:
        kept = dict(np.load(a.load))
        # What was saved of all rows serves for some of them.
        if len(kept["words"]) == len(wanted):
            kept |= {name: kept[name][wanted] for name in ("words", "model")}
        if len(kept["words"]) != len(rows):
            sys.exit(f"{a.load} has {len(kept['words'])} rows, the data {len(rows)}: ask the engine again")
        names, words, model = list(kept["names"]), kept["words"], kept["model"]
    else:
        unseen = [r for r in rows if not r.seen]
        names, found = signals(a.engine, unseen, "standard", a.jobs)
        words = np.zeros((len(rows), len(names))) if a.only == "model" else signals(a.engine, rows, "quick", a.jobs)[1]
        model = np.zeros_like(words)
        model[[i for i, r in enumerate(rows) if not r.seen]] = found
        known = [i for i, r in enumerate(rows) if r.part is not None]
        likely = likely_of_parts(a.engine, a.data, [rows[i] for i in known])
        words[known, names.index("likely")] = model[known, names.index("likely")] = likely
    if a.save:
        np.savez_compressed(a.save, names=names, words=words, model=model)
    sections, share, told_apart = {}, [], []
    seen, wh = np.array([r.seen for r in rows]), np.array([r.wh for r in rows])
    fitted_to = [i for i, n in enumerate(names) if n != "never_plain"]
    for suffix, X, use in (("", model, fitted_to), (".words", words, [i for i in fitted_to if not names[i].startswith("e_")])):
        if suffix and a.only == "model":
            break
        may = ~seen if not suffix else np.ones(len(rows), bool)
        for told, fitted in ((may & ~wh, fit_claims), (may & wh, fit_questions)):
            at = np.flatnonzero(told)
            if len(at):
                of_kind = fitted(suffix, names, X[at], [rows[i] for i in at], list(use))
                sections |= of_kind[0]
                share += of_kind[1]
                told_apart += of_kind[2]
    write_sections(pathlib.Path(a.out), sections)
    write_figures(share, told_apart)


def labelled(names, X, p, plain):
    """Which rows get the label `supported`, with the rules above the fit as the engine tells them."""
    of = lambda name: X[:, names.index(name)]
    return (of("plainly") > 0) | (of("plainly") == 0) & ((of("verbatim") > 0) | (p > plain)) & (of("never_plain") == 0)


def fit_claims(suffix, names, X, rows, use):
    """The sections on claims, the rows of `reliability` and those of `near_misses`."""
    gold, depth = np.array([r.gold for r in rows]), "quick" if suffix else "standard"
    y = gold == "supported"
    p, whole = fit(names, X, rows, y, use, True)
    asks = np.array([r.kind == "question" for r in rows])
    near = [~y & ~asks & np.array([r.set == s for r in rows]) for s in NEAR]
    plain = bound(lambda b: all(labelled(names, X, p, b)[false].mean() <= FALSE_PLAIN for false in near))
    asked = bound(lambda b: labelled(names, X, p, b)[~y & asks].mean() <= FALSE_PLAIN_ASKED)
    partly = min(0.5, plain - 0.05, asked - 0.05)
    supported = labelled(names, X, p, np.where(asks, asked, plain))
    show("claim" + suffix, rows, y, p, [partly, plain, asked])
    for s in NEAR:
        by = collections.defaultdict(list)
        for r, value, plainly, truth in zip(rows, p, supported, y):
            if r.set == s:
                by[("T " if truth else "F ") + r.category].append((plainly, value > partly))
        for c, v in sorted(by.items()):
            plainly, partially = np.mean(v, axis=0)
            print(f"   {s:7}{c:28}{len(v):5} plain {plainly:.3f} or partly {partially:.3f}")
    stated = (p, supported, partly)
    told_apart = []
    for asked_as, of in (("claims", ~asks), ("yes_no", asks)):
        at = np.flatnonzero(of)
        told_apart += judged(asked_as, depth, [rows[i] for i in at], y[at], p[at], supported[at])
    sections = {"claim" + suffix: bounds(plain, asked, partly) + whole.text()}
    tells = np.array([r.set in (*NEAR, "fm2", "feversym", "bnli") for r in rows])
    y = gold[tells] == "contradicted"
    rows = [r for r, t in zip(rows, tells) if t]
    p, whole = fit(names, X[tells], rows, y, use, False)
    asks = asks[tells]
    true = lambda kind: np.sort(p[kind & np.array([r.gold == "supported" and r.set in NEAR for r in rows])])[::-1]
    plain, asked = (float(true(kind)[int(TRUE_DENIED * true(kind).size)]) for kind in (~asks, asks))
    show("denial" + suffix, rows, y, p, [plain, asked])
    share = []
    for kind in ("claim", "yes_no"):
        share += reliability(kind, suffix, rows, stated[0][tells], stated[1][tells], stated[2], p, np.where(asks, asked, plain))
    sections["denial" + suffix] = bounds(plain, asked, min(0.5, plain - 0.01)) + whole.text()
    return sections, share, told_apart


def choose_asked(engine, rows, path):
    """The bound of questions for yes or no by words alone, from what the engine answers with a lower one."""
    lines = "\n".join(asked(r, depth="quick") for r in rows)
    p = subprocess.run(shlex.split(engine) + ["--depth", "quick"], input=lines + "\n", stdout=subprocess.PIPE, text=True, check=True)
    found = [json.loads(line) for line in p.stdout.splitlines()]
    support, label = np.array([f["support_score"] for f in found]), np.array([f["decision"] for f in found])
    y = np.array([r.gold == "supported" for r in rows])
    told = lambda b: (label == "supported") & (support >= b)
    kept = path.read_text()
    plain = float(re.search(r"section claim\.words\nplain (.*)", kept)[1])
    least = max(plain, bound(lambda b: told(b)[~y].mean() <= FALSE_PLAIN_ASKED))
    path.write_text(re.sub(r"(section claim\.words\nplain .*\nplain_asked ).*", rf"\g<1>{least:.4f}", kept))
    partly = ((label == "supported") | (label == "partially_supported")) * 1.0
    denial = (label == "contradicted") * 1.0
    share = reliability("yes_no", ".words", rows, partly, told(least), 0.5, denial, 1.0)
    print(len(rows), "by words:", {b: (round(told(b)[~y].mean(), 3), round(told(b)[y].mean(), 3)) for b in (plain, least)})
    write_figures(share, [])


def fit_questions(suffix, names, X, rows, use):
    """The section on questions, the rows of `reliability` and those of `near_misses`."""
    y = np.array([r.gold == "supported" for r in rows])
    if not suffix:
        use = [i for i in use if names[i].startswith(BESIDE_THE_MODEL)]
    p, whole = fit(names, X, rows, y, use, True)
    natural = np.array([r.set in ("squad2_para", "squad2_doc") for r in rows])
    told = lambda b: labelled(names, X, p, b)
    rate = lambda truth, b: told(b)[natural & (y == truth)].mean()
    plain = bound(lambda b: rate(True, b) >= RIGHT[suffix] * (rate(True, b) + rate(False, b)))
    partly = min(0.45, plain - 0.05)
    show("question" + suffix, rows, y, p, [0.4, plain, 0.6, 0.7])
    told_apart = judged("questions", "quick" if suffix else "standard", rows, y, p, told(plain))
    share = reliability("wh", suffix, rows, p, told(plain), partly, None, None)
    return {"question" + suffix: bounds(plain, plain, partly) + whole.text()}, share, told_apart


def write_sections(path, sections):
    """Sections that were not fitted stay as they are."""
    kept = re.split("^section ", path.read_text(), flags=re.M)[1:] if path.exists() else []
    sections = {name: text for name, _, text in (part.rstrip("\n").partition("\n") for part in kept)} | sections
    head = "# Written by data/evidence/labels.py: the decisions on claims and questions, with the entailment model and by words alone."
    order = [kind + suffix for suffix in ("", ".words") for kind in ("claim", "denial", "question")]
    path.write_text("\n".join([head] + [f"section {name}\n{sections[name]}" for name in order]) + "\n")


def merged(rows, kept, key):
    """Rows, and those of what was not measured, in the order in which all of it is measured."""
    now = {(row[key], row["depth"]) for row in rows}
    rows = rows + [row for row in kept if (row[key], row["depth"]) not in now]
    return rows if not kept else sorted(rows, key=lambda row: next((n for n, k in enumerate(kept) if same(row, k)), len(kept)))


def same(one, other):
    return all(one.get(name) == other.get(name) for name in ("kind", "label", "depth", "set", "asked"))


def write_figures(share, told_apart):
    figures = json.loads((HERE / "figures.json").read_text())
    figures["reliability"] = {"rows": merged(share, figures["reliability"]["rows"], "kind")}
    # The hardest rows come first in the file, as they do wherever the figures are published.
    figures = {"near_misses": {
        "method": "out of fold: the labels are fitted in five parts by document, and each row is judged by a fit that saw "
                  "nothing of its document; the entailment model was trained on other documents, except for offtopic; what the "
                  "words say of a question is estimated by weights that were fitted to other articles",
        "command": "python3 data/evidence/labels.py --engine E --data FOLDER",
        "sets": SETS,
        "measures": {
            "depth": "quick reads words alone; standard and deep have the entailment model too",
            "asked": "claims are statements; yes_no are questions for yes or no, true where the page says yes; questions are those "
                     "that ask for an answer",
            "false_plain": "the share of false rows that are labelled supported; lower is better",
            "true_plain": "the share of true rows that are labelled supported",
            "auroc": "how often a true row gets a higher score than a false one; 0.5 is chance",
        },
        "rows": merged(told_apart, figures["near_misses"]["rows"], "asked"),
    }} | {name: value for name, value in figures.items() if name != "near_misses"}
    (HERE / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

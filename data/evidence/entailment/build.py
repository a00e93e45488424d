#!/usr/bin/env python3
"""Makes the examples that the entailment model is trained on: (claim or question, evidence, label) from sets with known
answers; `at` is the passage that decides, by which twins find each other. Splits are by document. Rows whose text has no licence that allows shipping weights are left out.

usage: WORDNET=wordnet/dict build.py FOLDER ROWS     (the files of WordNet 3.1; how many rows to make by rules: 22000)
needs: pip install lemminflect. FOLDER is laid out as ../README.md says. Writes train.jsonl and dev.jsonl.
"""
import collections, gzip, hashlib, json, math, pathlib, random, re, subprocess, sys
import mutate
from mutate import MUT, NOTSTATED, STOP, SKIP, reword, context

R = random.Random(23)
SHARED = pathlib.Path(sys.argv[1]); E = SHARED / 'entailment'; NM = pathlib.Path(__file__).resolve().parent.parent / 'nearmiss'
Y = {'supported': 0, 'contradicted': 1, 'not_stated': 2}
def load(p): return [json.loads(l) for l in gzip.open(p, 'rt')]
def h(x): return int(hashlib.sha256(str(x).encode()).hexdigest(), 16)
def held(group): return h(group) % 5 == 0
def st(w): w = w.lower(); return w[:6] if len(w) > 6 else re.sub(r'(es|s|ed|ing)$', '', w) or w
def bag(s): return {st(w) for w in re.findall(r'\w+', s)}
def rank(q, units):
    B = [bag(u) for u in units]; df = collections.Counter(w for b in B for w in b); n = len(B); qb = bag(q)
    idf = {w: math.log(1 + n / (1 + df[w])) * (0.2 if w in STOP else 1) + .05 for w in qb}
    sc = [sum(idf[w] for w in qb & b) / (1 + .02 * len(b)) for b in B]
    return sorted(range(n), key=lambda i: -sc[i])

SENT = re.compile(r'(?<=[.!?])["”’)*]*\s+(?=["“‘(*]*[A-Z0-9ÅÄÖÉ])')
ABBR = re.compile(r'\b(?:Mr|Mrs|Ms|Dr|St|No|vs|e\.g|i\.e|approx|ca|[A-Z])\.$')
def sentences(t):
    out = []
    for s in SENT.split(t):
        if out and ABBR.search(out[-1]): out[-1] += ' ' + s
        else: out.append(s)
    return [s for s in out if s.strip()]
def plain(s):
    s = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', s); s = re.sub(r'(\*\*|__|`|~~)', '', s); s = re.sub(r'(?<!\w)[*_](\S.*?\S|\S)[*_](?!\w)', r'\1', s)
    return re.sub(r'\s+', ' ', s.replace('\\', '')).strip()
YES, NO = set('✓ ✔ ✔️ ✅ ☑ ☑️ ● •'.split()), set('– — - ✗ ✘ ✕ ✖ ✖️ × ❌'.split())
def signs(cells):
    """A row's signs in words, where one of them says yes."""
    if not any(c in YES or c.lower() == 'yes' for c in cells): return cells
    return ['yes' if c in YES else 'no' if c in NO else c for c in cells]
def denies(lead): return lead.rstrip().endswith(':') and re.search(r"\b(no|not|never|none|without|cannot|except|unless|avoid)\b|n['’]t\b", lead, re.I)
def units(md):
    """[(text, heading, raw)] in order; the first level-one heading is the title."""
    out = []; title = ''; head = ''; lead = ''; lines = md.split('\n'); i = 0; header = None
    while i < len(lines):
        l = lines[i]; s = l.strip()
        if not s: i += 1; header = None; continue
        if s.startswith('```'):
            i += 1
            while i < len(lines) and not lines[i].strip().startswith('```'):
                if lines[i].strip(): out.append((plain(lines[i]), head, lines[i]))
                i += 1
            i += 1; continue
        m = re.match(r'(#{1,6})\s+(.*)', s)
        if m:
            t = plain(m.group(2))
            if not title and len(m.group(1)) == 1: title = t
            else: head = t
            out.append((t, '' if t == title else '', s)); i += 1; continue
        if s.startswith('|'):
            cells = [plain(c) for c in s.strip('|').split('|')]
            if header is None: header = cells
            elif not re.fullmatch(r'[|\s:\-]+', s):
                row = '; '.join((f'{a}: {b}' if a else b) for a, b in zip(header + [''] * len(cells), signs(cells)) if b)
                out.append((row, head, s))
            i += 1; continue
        m = re.match(r'(?:[-*+]|\d+[.)])\s+(.*)', s)
        if m:
            lead = out[-1][0] if out and not re.match(r'[-*+] |\d+[.)] ', lines[i - 1].strip()) else lead if out else ''
            for x in sentences(m.group(1)): out.append((f"{lead.rstrip(': ')} {plain(x)}" if denies(lead) else plain(x), head, x))
            i += 1; continue
        para = [s.lstrip('> ')]; i += 1
        while i < len(lines) and lines[i].strip() and not re.match(r'\s*(#{1,6}\s|\||[-*+]\s|\d+[.)]\s|```)', lines[i]): para.append(lines[i].strip().lstrip('> ')); i += 1
        for x in sentences(' '.join(para)): out.append((plain(x), head, x))
    return title, out

def render(title, us, ids, p=.8):
    """us: [(text, heading, ..)]; what stands above is named once in front."""
    ids = sorted(set(ids)); t = plain(title or '')[:80]; hd = us[ids[0]][1][:80] if ids else ''
    body = ' '.join(us[i][0] for i in ids); pre = []
    if t and R.random() < p: pre.append(t)
    if hd and hd != t and R.random() < p: pre.append(hd)
    return ' : '.join(pre + [body])

def auxiliaries():
    words = re.search(r'\[auxiliary\]([^\[#]*)', (NM.parent / 'words.txt').read_text()).group(1); return set(words.split())
AUXILIARIES = auxiliaries()
def as_statement(question):
    """What a question for yes or no asks to be so, as the engine puts it to the model (`as_statement` in claims.rs)."""
    t = question.strip().rstrip('?？ '); m = re.match(r'is it (?:true|correct|the case) that ', t, re.I); w = t.split(' ', 1)
    first = w[0].lower().replace('’', "'"); s = t[m.end():] if m else w[1] if len(w) > 1 and (first in AUXILIARIES or re.fullmatch(r"[a-z]+n't", first)) else t
    s = s.lstrip(); return s[:1].upper() + s[1:] + '.'
train, dev = [], []
def put(q, e, y, src, isdev, cat='', **k):
    if cat in ('question_yes', 'question_no'): q = as_statement(q)
    (dev if isdev else train).append(dict(q=q, e=e, y=y, src=src, cat=cat, **k))

def variants(q, y, g, title, us, n, src, isdev, cat='', at=()):
    """Evidence as the engine gives it: one unit, with the one before it, the best three; now and then without the gold."""
    texts = [u[0] for u in us]; rk = rank(q, texts); g = list(dict.fromkeys(g))[:4]; at = g or at
    if isdev:
        ids = rk[:3]
        if g and y != 2: ids = list(dict.fromkeys(g + ids))[:max(3, len(g))]
        put(q, render(title, us, ids, 1), y, src, True, cat); return
    for k in range(n):
        m = R.random(); yy = y
        if g and R.random() < .12 and len(us) > 4:
            o = [i for i in rk[:8] if i not in g]; ids = R.sample(o, min(len(o), R.choice([1, 1, 2, 3]))); yy = 2
        elif not g: ids = R.choice([rk[:1], rk[:3], rk[:2], [R.choice(rk[:5])]])
        elif m < .45: ids = g
        elif m < .6: ids = g + [g[0] - 1] if g[0] else g
        elif m < .75: ids = g + [i for i in rk if i not in g][:1]
        else: ids = list(dict.fromkeys(g + rk[:3]))[:max(3, len(g))]
        if ids: put(q, render(title, us, ids), yy, src, False, cat, **({'at': f'{title}/{at[0]}'} if at else {}))

# --- near-misses, ours: rows of dev documents are held
docs = {}
for p in sorted(NM.glob('*.md')):
    if p.name != 'README.md': docs[p.stem] = units(p.read_text())
def gold_units(us, ex):
    g = []
    for x in ex:
        px = plain(x); raw = x.strip()
        for i, u in enumerate(us):
            if raw and (raw in u[2] or u[2].strip() in raw and len(u[2]) > 15) or px and (px in u[0] or u[0] in px and len(u[0]) > 15): g.append(i)
        if not any(True for _ in g) and len(px) > 12:
            b = bag(px); best = max(range(len(us)), key=lambda i: len(b & bag(us[i][0])) / (3 + len(b)), default=None)
            if best is not None: g.append(best)
    return g
rows = [json.loads(l) for l in subprocess.run([sys.executable, NM / 'check.py', '--json'], capture_output=True, text=True).stdout.splitlines()]
nog = 0
for r in rows:
    title, us = docs[r['doc']]; g = gold_units(us, r['gold_excerpts']); nog += not g
    variants(r['query'], Y[r['gold']], g if r['gold'] != 'not_stated' or r['kind'] == 'claim' else [], title, us, 2, 'nearmiss', r['split'] == 'dev', r['category'], g)
print('near-miss rows without a gold unit', nog)
# --- the set of other writers: only measured
J = json.load(open(SHARED / 'nearmiss/documents.json')); jd = {k: units(v['markdown']) for k, v in J.items()}
for l in open(SHARED / 'nearmiss/nearmiss.jsonl'):
    r = json.loads(l); title, us = jd[r['doc']]
    variants(r['query'], Y[r['gold']], gold_units(us, r['gold_excerpts']), title or J[r['doc']]['title'], us, 1, 'others', True, r['category'])
jtexts = {u[0] for _, us in jd.values() for u in us}
jtitles = {v['title'].replace('_', ' ').lower() for v in J.values()}
# --- FM2, FEVER-Symmetric
def u3(units): return [(plain(u), '') for u in units]
for r in load(E / 'fm2.dev.jsonl.gz'): variants(r['query'], Y[r['label']], r['gold_units'], r['title'], u3(r['units']), 4, 'fm2', held(r['group']))
for r in load(E / 'feversym.dev.jsonl.gz'): variants(r['query'], Y[r['label']], r['gold_units'], r['title'], u3(r['units']), 1, 'feversym', held(r['group']))
for r in load(E / 'wice.dev.jsonl.gz'): variants(r['query'], Y[r['label']], r['gold_units'], r['title'], u3(r['units']), 1, 'wice', True)
# --- pairs of sentences
def pair(r, src, isdev, cat=''): put(r['query'], ' '.join(r['units']), Y[r['label']], src, isdev, cat)
for r in load(E / 'med.dev.jsonl.gz'): pair(r, 'med', held(r['group']))
for r in load(E / 'help.dev.jsonl.gz'): pair(r, 'help', False)
b = load(E / 'bnli.dev.jsonl.gz'); R.shuffle(b); neg = 0
for r in b:
    if held(r['group']): pair(r, 'bnli', True); continue
    if r['label'] == 'contradicted':
        neg += 1
        if neg > 1500: continue
    pair(r, 'bnli', False)
for r in load(E / 'snli.dev.jsonl.gz'):
    if r['id'].split('-')[0] in ('snlid', 'snlitest'): pair(r, 'snli', h(r['group']) % 40 == 0)
for r in load(E / 'mnli.dev.jsonl.gz'): pair(r, 'mnli', h(r['group']) % 40 == 0)
# --- tables
n = 0
for r in load(E / 'infotabs.jsonl.gz'):
    us = [(plain(x), '') for x in r['rows']]; rk = rank(r['q'], [u[0] for u in us]); ids = rk[:R.choice([3, 4, 5])]
    put(r['q'], render(r['title'], us, ids, 1), r['y'], 'infotabs', h(r['title']) % 12 == 0)
# --- SQuAD: claims by rules, and questions with answers and without
for r in load(E / 'squad_claims.dev.jsonl.gz'):
    isdev = held(r['title']) or r['title'].lower() in jtitles
    variants(r['query'], Y[r['label']], r['gold_units'], r['title'], u3(r['units']), 1, 'squad', isdev)
D = json.load(gzip.open(SHARED / 'data/documents.json.gz', 'rt'))
for s, n in (('squad2_para', 2), ('qed', 2)):
    for r in load(SHARED / f'data/{s}.jsonl.gz'):
        us = u3(D[r['doc']]); g = r['gold']['sentences']; isdev = held(r['title']); texts = [u[0] for u in us]; rk = rank(r['query'], texts)
        if g:
            put(r['query'], render(r['title'], us, g[:2]), 0, s, isdev)
            o = [i for i in rk[:4] if i not in g]
            if o: put(r['query'], render(r['title'], us, [R.choice(o)]), 2, s, isdev)
            if R.random() < .5: put(r['query'], render(r['title'], us, list(dict.fromkeys(g[:2] + rk[:2]))), 0, s, isdev)
        else:
            put(r['query'], render(r['title'], us, rk[:1]), 2, s, isdev)
            if len(rk) > 1 and R.random() < .5: put(r['query'], render(r['title'], us, rk[:2]), 2, s, isdev)
# --- changed by rules: SQuAD's articles, FM2's pages, our documents
pool = []; paras = collections.defaultdict(list)
for r in load(SHARED / 'data/squad2_para.jsonl.gz'): paras[r['title']].append(r['doc'])
for t, ds in paras.items():
    if held(t) or t.lower() in jtitles: continue
    ds = list(dict.fromkeys(ds)); 
    for i in range(0, len(ds), 2): pool.append((t, [s for d in ds[i:i + 2] for s in D[d]]))
fd = collections.defaultdict(list)
for r in load(E / 'fm2.dev.jsonl.gz'):
    if not held(r['group']): fd[r['title']] += r['units']
pool += [(t, list(dict.fromkeys(u))) for t, u in fd.items()]
split = {r['doc']: r['split'] for r in rows}
own = [(t, [u[0] for u in us]) for k, (t, us) in docs.items() if split.get(k) == 'train']
pool += own * 2
CW = dict(number=1.6, unit=3, date=1.6, entity_swap=1.3, role_swap=1.5, noun_swap=1.3, predicate=1.3, modality=3, antonym=1.3, negation=1.2, quantifier=1.5, comparison_direction=2, attribution=.5, scope_condition=.6, temporal_scope=1, invented_detail=.5)
ok = lambda s: 6 <= len(s.split()) <= 38 and s[-1:] in '.!' and s[:1].isupper() and s.count('"') % 2 == 0
def falsify(s, c):
    for k in sorted(MUT, key=lambda k: -R.random() ** (1 / CW[k]))[:9]:
        x = MUT[k](s, c, R)
        if x and x != s and x.lower() != s.lower(): return x, k
    return None, None
low = lambda x: x if x.split(' ')[0] not in SKIP else x[0].lower() + x[1:]
N = collections.Counter(); target = int(sys.argv[2]); it = 0; ctx = {}
while sum(N.values()) < target and it < target * 6:
    it += 1; d = R.randrange(len(pool)); t, U = pool[d]
    if len(U) < 3: continue
    i = R.randrange(len(U)); s = U[i].strip()
    if not ok(s) or s in jtexts: continue
    if d not in ctx: ctx[d] = context(U, t)
    c = ctx[d]; us = [(u, '') for u in U]
    def ev(txt):
        V = list(us); V[i] = (txt, ''); m = R.random()
        ids = [i] if m < .5 else ([i - 1, i] if i else [i, i + 1]) if m < .7 else [i] + [j for j in rank(s, U)[:4] if j != i][:2]
        return render(t, V, [j for j in ids if 0 <= j < len(V) and (j == i or len(V[j][0]) < 400)], .7)
    def add(q, e, y, cat): N[cat] += 1; put(q, e, y, 'mut', False, cat)
    T, used = reword(s, c, R, R.choices([0, 1, 2, 3], [.12, .33, .33, .22])[0]); mode = R.random()
    if mode < .06 and i + 1 < len(U) and ok(U[i + 1]) and len(s.split()) + len(U[i + 1].split()) < 45:
        a, bb = s.rstrip('.'), low(U[i + 1].rstrip('.')); e = render(t, us, [i, i + 1]); x, k = falsify(U[i + 1], c)
        add(f'{a}, and {bb}.', e, 0, 'two_true')
        if x: add(f'{a}, and {low(x.rstrip("."))}.', e, 2 if k in NOTSTATED else 1, 'two_part')
        continue
    F, k = falsify(s, c)
    if not F: continue
    F2, _ = reword(F, c, R, R.choices([0, 1, 2], [.3, .4, .3])[0]); yF = 2 if k in NOTSTATED else 1
    if k == 'attribution' and F2[:6] == 'It is ': F2 = F
    if mode < .12 and k not in NOTSTATED:
        e = ev(R.choice([f'{s} An earlier version of this page wrongly said: {F}', f'Correction: it was first reported that {low(F)} This was an error. {s}', f'{F} That is a common misconception. In fact, {low(s)}']))
        add(T, e, 0, 'correction_true'); add(F2, e, 1, 'correction'); continue
    if mode < .35 and k not in NOTSTATED:
        e = ev(F); add(T, e, 1, k); add(F2, e, 0, 'true_mirror'); continue
    if mode < .41:
        o = [j for j in rank(s, U)[:8] if j != i][:R.choice([1, 2, 3])]
        if o: add(T, render(t, us, o), 2, 'absent')
        continue
    add(T, ev(s), 0, 'true:' + ('+'.join(used[:1]) or 'verbatim')); add(F2, ev(s), yF, k)
R.shuffle(train)
for f, x in (('train', train), ('dev', dev)): open(f'{f}.jsonl', 'w').write('\n'.join(map(json.dumps, x)) + '\n')
for name, x in (('train', train), ('dev', dev)):
    c = collections.Counter((r['src'], r['y']) for r in x); print(name, len(x), {s: [c[s, 0], c[s, 1], c[s, 2]] for s in sorted({k[0] for k in c})})

#!/usr/bin/env python3
"""Writes what the tests compare with: tests/evidence/entailment/tiny.bin (a random model), pieces.tsv and pairs.tsv; or, with --big,
big.bin and pairs.tsv of MiniLM-L6 to measure with examples/measure.rs.

usage: goldens.py --xenc DIR --examples examples.jsonl.gz [--big DIR --base MODEL_DIR --vocab vocab.txt [--state m.pt]]

--xenc      folder of xenc.py, which defines the network in PyTorch.
--examples  JSON lines with a claim "q" and a passage "e".
--base      folder of vocab.txt and model.safetensors of MiniLM-L6.
--vocab     the part of that vocabulary to keep.
--state     trained weights with that vocabulary; without them, those of --base with a random classifier.
"""
import argparse
import collections
import gzip
import json
import os
import random
import sys

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from export import export, quantise, read_vocabulary

SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]']
TEXTS = [
    '', ' ', '\t\r\n', 'The tower was built in 1889.', 'UNAFFABLE unaffable, un-affable', "don't can't it's",
    'a\x00b\ufffdc\u200bd\xade\x85f\u2028g\xa0h\u3000i', 'e0\ue000f\U000f0000g\u0378h',
    'caf\xe9 cafe\u0301 CAF\xc9 \xc5ngstr\xf6m na\xefve \u0130stanbul I\u0307 \u01c5',
    'stra\xdfe \u1e9e \xd8re \u0131', '\u0391\u03b8\u03ae\u03bd\u03b1 \u039f\u0394\u039f\u03a3 \u03c3\u03c2',
    '\u4e2d\u56fd\u548c\u65e5\u672c tokyo\u6771\u4eacx \uf900 \u3042\u304c', '\ud55c\uad6d\uc5b4 \ud55c',
    '\u0939\u093f\u0928\u094d\u0926\u0940 \u0e20\u0e32\u0e29\u0e32', '\ufb01ne \u2460 \xbd x\xb2 \u2122 \uff21\uff42',
    '$5.00 + 3% = <x> ^ ` | ~ _', '\u201cquote\u201d \u2014 dash\u2026 \xbfque? \xa7 \u2022 \u20ac10',
    '[SEP] [CLS] [UNK] ##ing', 'word\u0301\u0302\u0327s \u0301', '\U0001f600 ok \U0001f468\u200d\U0001f469',
    '\u1100\u1161 \u0622 \u0627\u0653 \u05e9\u05c1', 'x\u20dd y\u0903 z', '\xb5 \u2126 \u212b \u1fb3',
    'tab\tnew\nline\rend\x0bv\x0cf\x1cg', '1,000,000.5 10-12 3\u20134 a/b c&d', '\xaa\xba \u2167 \u24b6 \u02b0',
    '\u061f \u060c \u3002\u300c\u300d \u0964', '\u180e\u2000x\u200by\ufeffz', 'a' * 100, 'a' * 101,
    '\u00e9' * 100 + ' ' + '\u00e9' * 101,
]


def escaped(text):
    keep = lambda c: (c.isprintable() or c == ' ') and c != '\\' and ord(c) < 0x250
    return ''.join(c if keep(c) else f'\\u{{{ord(c):x}}}' for c in text)


def tokenizer(pieces):
    made = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token='[UNK]',
                                      max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def encode(made, claim, evidence, longest, claim_longest):
    """As train_xenc.py."""
    q = made.encode(claim, add_special_tokens=False).ids[:claim_longest]
    e = made.encode(evidence, add_special_tokens=False).ids[:longest - 3 - len(q)]
    cls, sep = made.token_to_id('[CLS]'), made.token_to_id('[SEP]')
    types = [0] + [0 if i in e else 2 for i in q] + [0] + [1 if i in q else 3 for i in e] + [1]
    return [cls] + q + [sep] + e + [sep], types


@torch.no_grad()
def probabilities(model, encoded):
    ids, types = (torch.tensor([part]) for part in encoded)
    return torch.softmax(model(ids, types, torch.ones_like(ids, dtype=torch.bool)), -1)[0].tolist()


@torch.no_grad()
def balance(model, made, pairs):
    """Gives a random classifier scores of mean 0 and deviation 1.5 for each label, so that all labels occur."""
    model.eval()
    encoded = [[torch.tensor([part]) for part in encode(made, *pair, 160, 44)] for pair in pairs]
    scores = torch.cat([model(ids, types, torch.ones_like(ids, dtype=torch.bool)) for ids, types in encoded])
    factor = 1.5 / scores.std(0)
    model.out.weight *= factor[:, None]
    model.out.bias.copy_((model.out.bias - scores.mean(0)) * factor)


def rounded(model):
    """The state of a model with its matrices as the weights file has them."""
    state = {}
    for name, value in model.state_dict().items():
        if value.ndim == 2 and name not in ('p.weight', 't.weight', 'out.weight'):
            values, scale = quantise(value.numpy())
            value = torch.from_numpy(values.astype(np.float32) * scale[:, None])
        state[name] = value
    return state


def write(folder, name, model, pieces, pairs, heads, longest, claim_longest):
    model.eval()
    with open(f'{folder}/{name}.bin', 'wb') as file:
        file.write(export(model.state_dict(), pieces, list(range(len(pieces))), heads, longest, claim_longest))
    made = tokenizer(pieces)
    exact = [probabilities(model, encode(made, *pair, longest, claim_longest)) for pair in pairs]
    model.load_state_dict(rounded(model))
    with open(f'{folder}/pairs.tsv', 'w') as file:
        for pair, p in zip(pairs, exact):
            same = probabilities(model, encode(made, *pair, longest, claim_longest))
            file.write('\t'.join([*map(escaped, pair), *(f'{x:.6f}' for x in same + p)]) + '\n')
    return made


def words_of(examples):
    plain = tokenizer(['[UNK]'])
    count = collections.Counter()
    for example in examples:
        for text in (example['q'], example['e']):
            count.update(word for word, _ in
                         plain.pre_tokenizer.pre_tokenize_str(plain.normalizer.normalize_str(text)))
    return count


def main():
    options = argparse.ArgumentParser()
    for name in ('xenc', 'examples'):
        options.add_argument('--' + name, required=True)
    for name in ('big', 'base', 'vocab', 'state'):
        options.add_argument('--' + name, default='')
    options = options.parse_args()
    sys.path.insert(0, options.xenc)
    from xenc import XEnc
    torch.set_num_threads(1)
    torch.manual_seed(1)
    examples = [json.loads(line) for line in gzip.open(options.examples, 'rt')]
    random.Random(1).shuffle(examples)
    if options.big:
        os.makedirs(options.big, exist_ok=True)
        full, pieces = read_vocabulary(options.base + '/vocab.txt'), read_vocabulary(options.vocab)
        number = {piece: i for i, piece in enumerate(full)}
        model = XEnc.from_st(options.base)
        model.w = torch.nn.Embedding.from_pretrained(model.w.weight.data[[number[piece] for piece in pieces]])
        model.p = torch.nn.Embedding.from_pretrained(model.p.weight.data[:160])
        if options.state:
            model.load_state_dict(torch.load(options.state, map_location='cpu', weights_only=True))
        pairs = [(example['q'], example['e']) for example in examples[:200]]
        if not options.state:
            balance(model, tokenizer(pieces), pairs[:60])
        write(options.big, 'big', model, pieces, pairs, 12, 160, 44)
        return
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../tests/evidence/entailment')
    letters = [chr(c) for c in range(33, 127) if not chr(c).isupper()]
    letters += list('\u00df\u00f8\u03b1\u03b8\u03b7\u03bd\u03c3\u4e2d\u56fd\u65e5\u1112')
    pieces = SPECIAL + letters + ['##' + c for c in letters if c.isalnum()]
    pieces += ['##aff', '##able', 'una', 'built', 'tower']
    pieces += ['##' + end for end in ('s', 'ed', 'ing', 'er', 'ly', 'tion', 'al', 'on', 'in', 'en', '\u1161\u11ab')]
    for word, _ in sorted(words_of(examples).items(), key=lambda item: (-item[1], item[0])):
        if len(pieces) < 560:
            pieces.append(word)
    pieces = list(dict.fromkeys(pieces))
    model = XEnc(len(pieces), 64, 4, 128, 2, maxpos=48)
    for name, value in model.named_parameters():
        if value.ndim == 2:
            deviation = {'w.weight': 1., 'p.weight': .3, 't.weight': .5, 'out.weight': .3}.get(name, .12)
            torch.nn.init.normal_(value, std=deviation)
        elif name.endswith('bias'):
            torch.nn.init.normal_(value, std=.1)
    pairs = [(example['q'], example['e']) for example in examples[:16]]
    pairs += [('', ''), ('', pairs[0][1]), (pairs[1][0], ''), (TEXTS[8], TEXTS[11])]
    made = write(here, 'tiny', model, pieces, pairs, 4, 48, 16)
    number = {piece: i for i, piece in enumerate(sorted(pieces, key=str.encode))}
    texts = TEXTS + [text for example in examples[16:30] for text in (example['q'], example['e'])]
    with open(f'{here}/pieces.tsv', 'w') as file:
        for text in texts:
            encoded = made.encode(text, add_special_tokens=False).tokens
            file.write(escaped(text) + '\t' + ' '.join(str(number[piece]) for piece in encoded) + '\n')


if __name__ == '__main__':
    main()

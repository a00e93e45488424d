#!/usr/bin/env python3
"""Writes the sentence encoder that src/evidence/entailment/similarity.rs reads, as differences from the entailment model, or
the small one that its tests compare with.

usage: similarity.py --weights weights.bin --base MODEL_DIR --out similarity.bin
       similarity.py --weights tiny.bin --tiny --out tiny-similarity.bin --goldens similarity.tsv
needs: pip install numpy safetensors (--tiny: tokenizers); no network. The same files give the same bytes.

--weights   the entailment model, as export.py writes it.
--base      folder of model.safetensors of all-MiniLM-L6-v2, from which the entailment model was trained.
--tiny      random differences in place of a base, and in --goldens cosines by numpy in f32.

Nothing is trained. Of each output the four levels are those that the differences are nearest to (Lloyd, 1982).
"""
import argparse
import hashlib
import struct

import numpy as np

from export import MAGIC as BASE_MAGIC, LARGEST

MAGIC, VERSION = b'SIMILAR2', 1
PARTS = ('qkv', 'o', 'i', 'f')
ROUNDS = 25


class Base:
    """An entailment model: int8 values and f32 scales of each matrix."""

    def __init__(self, data):
        self.data, self.at = data, len(BASE_MAGIC)
        assert data[:self.at] == BASE_MAGIC
        head = struct.unpack_from('<12I', data, self.at)
        self.at += 48
        _, pieces, self.width, self.heads, inner, layers, longest, _, *self.special, text_length = head
        offsets = self.take('<u4', pieces + 1)
        text = bytes(self.take(np.uint8, text_length))
        self.take(np.uint8, -text_length % 4)
        self.pieces = [text[a:b].decode() for a, b in zip(offsets, offsets[1:])]
        scales = self.take('<f4', pieces)
        self.words = self.take(np.int8, pieces, self.width) * scales[:, None]
        self.positions, self.types = self.take('<f4', longest, self.width), self.take('<f4', 4, self.width)
        self.norm = self.take('<f4', 2, self.width)
        self.layers = []
        for _ in range(layers):
            layer = {'qkv': self.linear(3 * self.width, self.width), 'o': self.linear(self.width, self.width)}
            layer['n1'] = self.take('<f4', 2, self.width)
            layer |= {'i': self.linear(inner, self.width), 'f': self.linear(self.width, inner)}
            layer['n2'] = self.take('<f4', 2, self.width)
            self.layers.append(layer)

    def take(self, kind, *shape):
        count = int(np.prod(shape))
        found = np.frombuffer(self.data, kind, count, self.at).reshape(shape)
        self.at += found.nbytes
        return found

    def linear(self, outputs, inputs):
        scales, bias = self.take('<f4', outputs), self.take('<f4', outputs)
        values = self.take(np.int8, outputs // 16, inputs // 2, 16, 2)
        return scales, bias, values.transpose(0, 2, 1, 3).reshape(outputs, inputs)


def encoder(folder):
    """The norm of the embeddings and the layers of a sentence encoder."""
    from safetensors.numpy import load_file
    found = {name.removeprefix('bert.'): np.asarray(value, np.float32)
             for name, value in load_file(f'{folder}/model.safetensors').items()}
    norm = lambda name: np.stack([found[name + '.weight'], found[name + '.bias']])
    layers = []
    while f'encoder.layer.{len(layers)}.output.dense.weight' in found:
        prefix = f'encoder.layer.{len(layers)}.'
        linear = lambda *names: tuple(np.concatenate([found[f'{prefix}{name}.{part}'] for name in names]) for part in ('weight', 'bias'))
        layers.append({
            'qkv': linear(*(f'attention.self.{part}' for part in ('query', 'key', 'value'))),
            'o': linear('attention.output.dense'), 'n1': norm(prefix + 'attention.output.LayerNorm'),
            'i': linear('intermediate.dense'), 'f': linear('output.dense'), 'n2': norm(prefix + 'output.LayerNorm'),
        })
    return norm('embeddings.LayerNorm'), layers


def four_levels(differences):
    """Four integers for each row, and the number of the nearest for each value."""
    spread = differences.std(1, keepdims=True) + 1e-9
    levels = spread * np.array([-1.51, -0.4528, 0.4528, 1.51])
    nearest = lambda: np.abs(differences[:, :, None] - levels[:, None, :]).argmin(2)
    for _ in range(ROUNDS):
        codes = nearest()
        for level in range(4):
            of = codes == level
            count = of.sum(1)
            levels[:, level] = np.where(count > 0, (differences * of).sum(1) / np.maximum(count, 1), levels[:, level])
    levels = np.clip(np.rint(levels), -127, 127)
    return levels.astype(np.int8), nearest().astype(np.uint8)


def written(base, norm, layers):
    """The file, and the layers as it has them."""
    out, as_read = [MAGIC, struct.pack('<I', VERSION), hashlib.sha256(base.data).digest()], []

    def floats(array):
        assert np.isfinite(array).all() and np.abs(array).max() <= LARGEST
        out.append(np.asarray(array, '<f4').tobytes())

    floats(norm)
    for of, layer in zip(base.layers, layers, strict=True):
        read = dict(layer)
        for part in ('qkv', 'o', 'n1', 'i', 'f', 'n2'):
            if part not in PARTS:
                floats(layer[part])
                continue
            (scales, _, values), (weight, bias) = of[part], layer[part]
            divisor = np.where(scales > 0, scales, np.float32(1))[:, None]
            levels, codes = four_levels(np.rint(weight / divisor).astype(np.float64) - values)
            new = np.clip(values.astype(int) + np.take_along_axis(levels.astype(int), codes.astype(int), 1), -128, 127)
            read[part] = (new * scales[:, None]).astype(np.float32), bias
            floats(bias)
            out.append(levels.tobytes())
            outputs, inputs = codes.shape
            ordered = codes.reshape(outputs // 16, 16, inputs // 2, 2).transpose(0, 2, 1, 3).reshape(-1, 4)
            out.append((ordered << np.array([0, 2, 4, 6], np.uint8)).sum(1).astype(np.uint8).tobytes())
        as_read.append(read)
    return b''.join(out), as_read


def mean(base, norm, layers, pieces):
    """The mean hidden state of a text, of length 1."""
    def normed(x, norm):
        x = x - x.mean(1, keepdims=True)
        return x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-12) * norm[0] + norm[1]

    from math import erf
    gelu = lambda x: x * 0.5 * (1 + np.vectorize(erf)(x / 2 ** 0.5))
    linear = lambda x, part: x @ part[0].T + part[1]
    x = normed(base.words[pieces] + base.positions[:len(pieces)] + base.types[0], norm)
    for layer in layers:
        query, key, value = (part.reshape(len(pieces), base.heads, -1).transpose(1, 0, 2)
                             for part in np.split(linear(x, layer['qkv']), 3, 1))
        scores = query @ key.transpose(0, 2, 1) / query.shape[2] ** 0.5
        scores = np.exp(scores - scores.max(2, keepdims=True))
        mixed = (scores / scores.sum(2, keepdims=True)) @ value
        x = normed(x + linear(mixed.transpose(1, 0, 2).reshape(x.shape), layer['o']), layer['n1'])
        x = normed(x + linear(gelu(linear(x, layer['i'])), layer['f']), layer['n2'])
    total = x.sum(0)
    return total / np.linalg.norm(total)


def tiny(base):
    """Weights at random, near those of the base."""
    chance = np.random.default_rng(2)
    near = lambda array, by: (array + chance.normal(0, by, array.shape)).astype(np.float32)
    layers = []
    for of in base.layers:
        layer = {'n1': near(of['n1'], 0.05), 'n2': near(of['n2'], 0.05)}
        for part in PARTS:
            scales, bias, values = of[part]
            weight = values * scales[:, None]
            layer[part] = near(weight, 0.3 * weight.std()), near(bias, 0.05)
        layers.append(layer)
    return near(base.norm, 0.05), layers


def goldens(base, norm, layers):
    from goldens import tokenizer
    made = tokenizer(base.pieces)
    query = 'When was the tower built?'
    texts = ['The tower was built in 1889.', 'It is painted every seven years.', '', 'a', 'the tower ' * 40]
    def of(text):
        room = base.positions.shape[0] - 2
        return mean(base, norm, layers, [base.special[1], *made.encode(text, add_special_tokens=False).ids[:room], base.special[2]])
    return ''.join(f'{query}\t{text}\t{of(query) @ of(text):.7f}\n' for text in texts)


def main():
    options = argparse.ArgumentParser()
    for name in ('weights', 'out'):
        options.add_argument('--' + name, required=True)
    options.add_argument('--base')
    options.add_argument('--tiny', action='store_true')
    options.add_argument('--goldens')
    options = options.parse_args()
    base = Base(open(options.weights, 'rb').read())
    data, layers = written(base, *(known := tiny(base) if options.tiny else encoder(options.base)))
    with open(options.out, 'wb') as file:
        file.write(data)
    if options.goldens:
        with open(options.goldens, 'w', encoding='utf-8') as file:
            file.write(goldens(base, known[0], layers))
    print(f'{options.out}: {len(data)} bytes')


if __name__ == '__main__':
    main()

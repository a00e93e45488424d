#!/usr/bin/env python3
"""Writes a trained cross-encoder as the weights file that the `entailment` crate reads (layout: src/evidence/entailment/weights.rs).

usage: export.py --state m.pt --vocab vocab.txt --out entailment.bin [--full-vocab vocab_full.txt]
                 [--heads 12] [--pieces 160] [--claim-pieces 44]

--state       state_dict of XEnc (torch.save).
--vocab       WordPiece vocabulary to write, one piece a line; holds [UNK], [CLS] and [SEP].
--full-vocab  the vocabulary that the rows of the word embeddings follow, where --vocab is a part of it.
--pieces      longest input in pieces, with [CLS] and both [SEP]; positions past it are left out.

Matrices become int8 with one f32 scale per output row (weight = int8 * scale); the rest stays f32. Pieces are written
in byte order, which renumbers them. The same input gives the same bytes.
"""
import argparse
import struct
import sys

import numpy as np

MAGIC = b'ENTAILQ8'
VERSION = 1
LARGEST = 1000.0  # FLOAT_MAX in src/evidence/entailment/weights.rs


def quantise(matrix):
    """int8 values and f32 scales of the rows of a matrix."""
    matrix = np.asarray(matrix, np.float32)
    scale = (np.abs(matrix).max(1) / np.float32(127)).astype(np.float32)
    divisor = np.where(scale > 0, scale, np.float32(1))
    values = np.clip(np.rint(matrix / divisor[:, None]), -127, 127).astype(np.int8)
    return values, scale


def read_vocabulary(path):
    with open(path, encoding='utf-8', newline='\n') as file:
        pieces = file.read().split('\n')
    return pieces[:-1] if pieces[-1] == '' else pieces


def export(state, pieces, rows, heads, longest, claim_longest):
    """Bytes of the file. `rows[i]` is the row of the word embeddings that belongs to `pieces[i]`."""
    state = {name: np.asarray(value.detach().float().numpy(), np.float32) for name, value in state.items()}
    order = sorted(range(len(pieces)), key=lambda i: pieces[i].encode())
    names = [pieces[i].encode() for i in order]
    assert len(set(names)) == len(names), 'a piece occurs twice'
    words = state['w.weight'][[rows[i] for i in order]]
    width, layers = words.shape[1], sum(name.endswith('.qkv.weight') for name in state)
    assert longest <= state['p.weight'].shape[0] and state['t.weight'].shape[0] == 4
    text = b''.join(names)
    offsets = np.cumsum([0] + [len(name) for name in names])
    special = [names.index(name) for name in (b'[UNK]', b'[CLS]', b'[SEP]')]
    feed_forward = state['layers.0.i.weight'].shape[0]
    out = [MAGIC, struct.pack('<12I', VERSION, len(names), width, heads, feed_forward, layers, longest, claim_longest,
                              *special, len(text))]

    def floats(array):
        array = np.asarray(array, '<f4')
        assert np.isfinite(array).all() and np.abs(array).max() <= LARGEST
        out.append(array.tobytes())

    def linear(name):
        values, scale = quantise(state[name + '.weight'])
        floats(scale)
        floats(state[name + '.bias'])
        outputs, inputs = values.shape
        out.append(values.reshape(outputs // 16, 16, inputs // 2, 2).transpose(0, 2, 1, 3).tobytes())

    def norm(name):
        floats(state[name + '.weight'])
        floats(state[name + '.bias'])

    out.append(offsets.astype('<u4').tobytes())
    out.append(text + bytes(-len(text) % 4))
    values, scale = quantise(words)
    floats(scale)
    out.append(values.tobytes())
    floats(state['p.weight'][:longest])
    floats(state['t.weight'])
    norm('n')
    for layer in range(layers):
        prefix = f'layers.{layer}.'
        linear(prefix + 'qkv')
        linear(prefix + 'o')
        norm(prefix + 'n1')
        linear(prefix + 'i')
        linear(prefix + 'f')
        norm(prefix + 'n2')
    linear('pool')
    floats(state['out.weight'])
    floats(state['out.bias'])
    return b''.join(out)


def main():
    import torch
    options = argparse.ArgumentParser()
    for name in ('state', 'vocab', 'out'):
        options.add_argument('--' + name, required=True)
    options.add_argument('--full-vocab', default='')
    for name, default in (('heads', 12), ('pieces', 160), ('claim-pieces', 44)):
        options.add_argument('--' + name, type=int, default=default)
    options = options.parse_args()
    torch.set_num_threads(1)
    pieces = read_vocabulary(options.vocab)
    full = read_vocabulary(options.full_vocab) if options.full_vocab else pieces
    number = {piece: i for i, piece in enumerate(full)}
    state = torch.load(options.state, map_location='cpu', weights_only=True)
    if state['w.weight'].shape[0] != len(full):
        sys.exit(f"{state['w.weight'].shape[0]} word embeddings for {len(full)} pieces: is --full-vocab missing?")
    data = export(state, pieces, [number[piece] for piece in pieces], options.heads, options.pieces,
                  options.claim_pieces)
    with open(options.out, 'wb') as file:
        file.write(data)
    print(f'{options.out}: {len(data)} bytes, {len(pieces)} pieces')


if __name__ == '__main__':
    main()

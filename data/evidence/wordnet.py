#!/usr/bin/env python3
"""Derives wordnet-synonyms.txt: words that WordNet has in one sense, as the engine's stems.

usage: wordnet.py --dict FOLDER > data/evidence/wordnet-synonyms.txt
needs: pip install -r data/evidence/requirements.txt; FOLDER holds WordNet 3.1's data.* and index.* files.

A pair is kept when both words stand in the tagged texts that WordNet counts, in one of the first senses of each: words
of one set, adjectives that WordNet calls similar, and words that are derived from one another but do not begin alike.
"""
import argparse
import pathlib

import Stemmer

SENSES = 2
HEAD = """\
# Words of one sense, derived from WordNet 3.1 by wordnet.py: a stem and those that may stand for it, in order.
#"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dict", required=True, type=pathlib.Path)
    folder = parser.parse_args().dict
    here = pathlib.Path(__file__).parent
    senses, known = read_index(folder)
    pairs = {}
    for one, other in related(folder, senses, known):
        one, other = stems(here)(one), stems(here)(other)
        if one != other and min(len(one), len(other)) > 2:
            pairs.setdefault(one, set()).add(other)
            pairs.setdefault(other, set()).add(one)
    print(HEAD)
    for line in (folder / "data.noun").read_text().splitlines():
        if line.startswith(" "):
            print(f"# {line.strip().lstrip('0123456789').strip()}".rstrip())
    for one in sorted(pairs):
        print(one, *sorted(pairs[one]))


def stems(here, kept={}):
    """The engine's stemmer: irregular forms, then Snowball's English."""
    if not kept:
        lines = (line.split() for line in (here / "irregular.txt").read_text().splitlines() if line[:1] not in ("#", ""))
        irregular = {form: line[0] for line in lines for form in line[1:]}
        english = Stemmer.Stemmer("english")
        kept["stem"] = lambda word: english.stemWord(irregular.get(word, word))
    return kept["stem"]


def words_of(folder, kind):
    for line in (folder / kind).read_text().splitlines():
        if not line.startswith(" "):
            yield line.split(" | ")[0].split()


def read_index(folder):
    """The number of each sense of a word, and the words that are counted in tagged texts."""
    senses, known = {}, set()
    for letter, name in zip("nvar", ("noun", "verb", "adj", "adv")):
        for word, _, count, pointers, *rest in words_of(folder, f"index.{name}"):
            rest = rest[int(pointers) + 1:]
            known |= {word} if int(rest[0]) else set()
            senses |= {(word, letter, offset): at for at, offset in enumerate(rest[1:])}
    return senses, known


def related(folder, senses, known):
    """Pairs of words, from all files."""
    sets = {}
    for letter, name in zip("nvar", ("noun", "verb", "adj", "adv")):
        for offset, _, _, count, *rest in words_of(folder, f"data.{name}"):
            count = int(count, 16)
            words = [word.lower().split("(")[0] for word in rest[:2 * count:2]]
            pointers, rest = int(rest[2 * count]), rest[2 * count + 1:]
            pointers = [rest[4 * at:4 * at + 4] for at in range(pointers)]
            sets[letter, offset] = (words, [one for one in pointers if one[0] in ("&", "+", "\\")])
    for (letter, offset), (words, pointers) in sets.items():
        place = lambda word, letter=letter, offset=offset: senses.get((word, letter, offset), 9)
        found = [(one, other, place(one) + place(other)) for one in words for other in words if one < other]
        for symbol, target, kind, ends in pointers:
            kind = kind.replace("s", "a")
            others = sets.get((kind, target), ([], []))[0]
            there = lambda word, kind=kind, target=target: senses.get((word, kind, target), 9)
            if symbol == "&":
                found += [(one, other, 9 * (place(one) + there(other))) for one in words for other in others]
            elif ends != "0000":
                one, other = words[int(ends[:2], 16) - 1], others[int(ends[2:], 16) - 1]
                found.append((one, other, place(one) + there(other)))
        for one, other, rank in found:
            if rank <= SENSES and one in known and other in known and (one + other).isalpha() and one[:4] != other[:4]:
                yield one, other


if __name__ == "__main__":
    main()

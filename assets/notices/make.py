#!/usr/bin/env python3
"""Writes notices.txt: who else's work is in the program, under which license, with the licenses' texts.

usage: assets/notices/make.py          (after any change of Cargo.lock; tests/it/notices.rs says when it is due)
needs: cargo install --locked --features cli --version 0.9.3 cargo-about; no network once the crates are there

The crates come from cargo-about (about.toml says which, and which license is taken where there is a choice). It knows
licenses by crate; what else is in the program stands in `others` below. Texts that differ in white space and in their
copyright lines alone are one text: it stands once, below all of its copyright lines.
"""
import argparse
import json
import pathlib
import re
import subprocess
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RULE = "=" * 80
INTRO = """\
context402 contains the work of others. This is all of it, by license: what is under the license, the copyright lines,
then the license's text. Where a work offers several licenses, the one named here is the one taken. The source of each
crate is at https://crates.io/crates/NAME/VERSION, that of crates under the Mozilla Public License included."""
#: Files of C in crates, with a license of their own: the crate, the file, what it is, the license.
VENDORED = [
    ("secp256k1-sys", "depend/secp256k1/COPYING", "libsecp256k1, in secp256k1-sys", "MIT"),
    ("tikv-jemalloc-sys", "jemalloc/COPYING", "jemalloc, in tikv-jemalloc-sys", "BSD-2-Clause"),
    ("ring", "third_party/fiat/LICENSE", "fiat-crypto, in ring", "Apache-2.0"),
]
NAMES = {
    "0BSD": "BSD Zero Clause License", "Apache-2.0": "Apache License 2.0", "BSD-2-Clause": "BSD 2-Clause License",
    "BSD-3-Clause": "BSD 3-Clause License", "CC0-1.0": "Creative Commons Zero 1.0", "ISC": "ISC License",
    "CDLA-Permissive-2.0": "Community Data License Agreement, Permissive 2.0", "MIT": "MIT License",
    "MPL-2.0": "Mozilla Public License 2.0", "OFL-1.1": "SIL Open Font License 1.1", "Unicode-3.0": "Unicode License 3",
    "Zlib": "zlib License",
}
COPYRIGHT = re.compile(r"^\W*((portions )?copyright\b|\(c\) |© ).*", re.I)
TEMPLATE = re.compile(r"[\[{<](yyyy|year|name|owner|copyright)|copyright (notice|owner|holder|law|license|and|statement|,)", re.I)


class Text:
    """A license's text, with what is under it."""

    def __init__(self, license, text):
        self.license, self.text, self.works, self.lines = license, text, [], []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="what cargo-about has written already", type=pathlib.Path)
    given = parser.parse_args().json
    found = json.loads(given.read_text() if given else about())
    texts = {}
    for entry in found["licenses"]:
        works = [f"{crate['name']} {crate['version']}" for crate in (user["crate"] for user in entry["used_by"])]
        if entry["source_path"] is None:
            works = [with_authors(user["crate"]) for user in entry["used_by"]]
        add(texts, entry["id"], entry["text"], works)
    for crate, path, work, license in VENDORED:
        package = next(one["package"] for one in found["crates"] if one["package"]["name"] == crate)
        add(texts, license, (pathlib.Path(package["manifest_path"]).parent / path).read_text(), [work])
    for package in (one["package"] for one in found["crates"]):
        for path in sorted(pathlib.Path(package["manifest_path"]).parent.glob("NOTICE*")):
            # subsetter's goes on with the fonts of its tests, which are not in the program.
            work = f"{package['name']} {package['version']}"
            add(texts, f"Notices of {work}", path.read_text().partition("\n# Fonts\n")[0], [work])
    for license, text, works in others():
        add(texts, license, text, works)
    ordered = sorted(texts.values(), key=lambda one: (one.license != DATA_TITLE, one.license, -len(one.works), one.works))
    parts = [f"Third-party notices\n\n{INTRO}"]
    for one in ordered:
        alike = [other for other in ordered if other.license == one.license]
        number = f", text {alike.index(one) + 1} of {len(alike)}" if len(alike) > 1 else ""
        title = f"{NAMES[one.license]} ({one.license}){number}" if one.license in NAMES else f"{one.license}{number}"
        works = "".join(f"- {work}\n" for work in sorted(set(one.works), key=str.lower))
        lines = "".join(f"{line}\n" for line in sorted(set(one.lines)))
        parts.append("\n\n".join(filter(None, [f"{RULE}\n{title}\n{RULE}", works.strip(), lines.strip(), one.text])))
    (HERE / "notices.txt").write_text("\n\n".join(parts) + "\n")


def about():
    command = ["cargo", "about", "generate", "--locked", "--offline", "--manifest-path", ROOT / "systemd/published/Cargo.toml",
               "--format", "json", "-c", HERE / "about.toml"]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


def with_authors(crate):
    """A crate that brings no text of its license, and so nobody's name."""
    authors = ", ".join(re.sub(r" <.*?>", "", author) for author in crate.get("authors", []))
    return f"{crate['name']} {crate['version']}" + (f", by {authors}" if authors else "")


def add(texts, license, text, works):
    lines, text = taken_apart(license, text)
    one = texts.setdefault((license, squeezed(text)), Text(license, text))
    one.works += works
    one.lines += lines


def taken_apart(license, text):
    """Copyright lines, and the text without them."""
    text = text.replace("\r\n", "\n")
    if license in NAMES and re.match(r"\s*(//|/\*)", text):
        text = comment(text)
    if license in ("CC0-1.0", "CDLA-Permissive-2.0", "MPL-2.0", "OFL-1.1"):
        return [], clean(text)
    if license == "Apache-2.0":
        if "END OF TERMS" not in text:
            # It only says that the license applies.
            text = (ROOT / "assets/swagger/LICENSE").read_text() + text
        terms, end, rest = text.partition("END OF TERMS AND CONDITIONS")
        lines = copyrights(rest)
        # The appendix says how to apply the license; more than that is a text of its own.
        if "LLVM" in rest or "BoringSSL" in terms or len(rest) > 2500:
            return [], clean(text)
        return lines, clean(terms + end)
    if license not in NAMES:
        return [], clean(text)
    lines, kept = copyrights(text), []
    for line in text.split("\n"):
        said = is_copyright(line) or re.match(r"^\s*Copyright \(c\) <year>", line)
        if not said and not re.match(r"^\W*(\(?the )?(MIT|ISC|BSD)[ -]?(\d-clause )?licen[cs]e.{0,12}$", line.strip(), re.I):
            kept.append(line)
    return lines, clean("\n".join(kept))


def comment(text):
    """The comment that a file begins with."""
    kept = []
    for line in text.split("\n"):
        if kept and not re.match(r"^\s*(//|\*|/\*)", line):
            break
        kept.append(re.sub(r"^\s*(//[/!]?|/\*+|\*/?) ?", "", line).replace("*/", ""))
    return "\n".join(kept)


def copyrights(text):
    lines = [line.lstrip(" \t*/#").rstrip(" \t*/") for line in text.split("\n") if is_copyright(line)]
    return [line.replace("©", "(c)").replace("(C)", "(c)").rstrip(".") for line in lines]


def is_copyright(line):
    return COPYRIGHT.match(line) and not TEMPLATE.search(line)


def clean(text):
    lines = [line.rstrip() for line in textwrap.dedent(text).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def squeezed(text):
    return re.sub(r"[^a-z0-9]", "", text.lower().replace("https", "http"))


def others():
    """What is in the program and comes from no crate: license, text, what is under it."""
    read = lambda path: (ROOT / path).read_text()
    yield "Apache-2.0", read("assets/swagger/LICENSE"), ["Swagger UI 5.35.0, https://github.com/swagger-api/swagger-ui"]
    yield "Swagger UI: notices of its own", (
        read("assets/swagger/NOTICE").strip() + "\n\n" + read("assets/swagger/swagger-ui-bundle.js.LICENSE.txt")
    ), ["Swagger UI 5.35.0 and what is bundled with it"]
    yield "OFL-1.1", read("assets/fonts/OFL.txt"), ["Noto Sans, subsets: the fonts of the PDF documents"]
    yield "MIT", MIT_RUST, ["The Rust standard library, https://github.com/rust-lang/rust"]
    yield "BSD-3-Clause", BSD_ADOBE, [
        "Adobe Glyph List, shortened: data/glyphs.txt, https://github.com/adobe-type-tools/agl-aglfn"]
    for version, name in ("3.0", "antonyms"), ("3.1", "synonyms"):
        head = [line[2:] for line in read(f"data/evidence/wordnet-{name}.txt").split("\n") if line.startswith("#")]
        text = "\n".join(head[2:])
        yield f"WordNet {version} license", text, [f"WordNet {version}: data/evidence/wordnet-{name}.txt is derived from it"]
    yield DATA_TITLE, DATA, []


MIT_RUST = """\
Copyright (c) The Rust Project Developers (see https://thanks.rust-lang.org)

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE."""
BSD_ADOBE = """\
Copyright 2002-2019 Adobe (http://www.adobe.com/).

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this
   list of conditions and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice,
   this list of conditions and the following disclaimer in the documentation
   and/or other materials provided with the distribution.

3. Neither the name of Adobe nor the names of its contributors may be used to
   endorse or promote products derived from this software without specific
   prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND
ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE
FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER
CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY,
OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE."""
DATA_TITLE = "Data that the program was fitted to or contains"
DATA = """\
Of these data sets the program contains weights that were fitted to them, and none of their text.

The evidence engine's model (data/evidence/model.txt) was fitted to:
- SQuAD 2.0, Pranav Rajpurkar, Robin Jia and Percy Liang, Creative Commons Attribution-ShareAlike 4.0
  (https://creativecommons.org/licenses/by-sa/4.0/legalcode), https://rajpurkar.github.io/SQuAD-explorer/
- QED, Matthew Lamm and others, Creative Commons Attribution-ShareAlike 3.0
  (https://creativecommons.org/licenses/by-sa/3.0/legalcode), https://github.com/google-research-datasets/QED

The entailment model (data/evidence/entailment/weights.bin) is all-MiniLM-L6-v2, by the sentence-transformers team,
Apache License 2.0 (its text stands below), changed: a part of its vocabulary, a classifier in place of its last layer,
int8 weights, and fitted to SQuAD 2.0 and QED as above and to:
- FoolMeTwice, Julian Eisenschlos and others, Apache License 2.0; its text from Wikipedia,
  Creative Commons Attribution-ShareAlike 3.0, https://github.com/google-research/fool-me-twice
- FEVER-Symmetric 0.2, Tal Schuster and others, Creative Commons Attribution-ShareAlike 3.0,
  https://github.com/TalSchuster/FeverSymmetric
- Breaking NLI, Max Glockner, Vered Shwartz and Yoav Goldberg, Creative Commons Attribution-ShareAlike 4.0,
  https://github.com/BIU-NLP/Breaking_NLI
- MED and HELP, Hitomi Yanaka and others, Creative Commons Attribution-ShareAlike 4.0,
  https://github.com/verypluming/MED, https://github.com/verypluming/HELP
- SNLI, Samuel R. Bowman and others, Creative Commons Attribution-ShareAlike 4.0, https://nlp.stanford.edu/projects/snli/
- MultiNLI, Adina Williams, Nikita Nangia and Samuel R. Bowman, by genre under the terms of the Open American National
  Corpus, Creative Commons Attribution 3.0 or Attribution-ShareAlike 3.0, https://cims.nyu.edu/~sbowman/multinli/
- InfoTabs, Vivek Gupta and others, Apache License 2.0; its tables from Wikipedia, Creative Commons
  Attribution-ShareAlike 3.0, https://infotabs.github.io
Sentences of some of them were changed with words from WordNet 3.1, whose license stands below.
The sentence encoder (data/evidence/entailment/similarity.bin) is all-MiniLM-L6-v2 as differences from the entailment model.

The labels (data/evidence/labels.txt) were fitted to held parts of the same sets and to WiCE, Ryo Kamoi and others,
Open Data Commons Attribution License 1.0, https://github.com/ryokamoi/wice

The selection of a page's main content (data/selection/model.bin) was fitted to:
- WCXB, the Web Content eXtraction Benchmark, Murrough Foley, Creative Commons Attribution 4.0
  (https://creativecommons.org/licenses/by/4.0/legalcode)
- article-extraction-benchmark, Copyright (c) 2020 Scrapinghub, MIT License (its text stands below),
  https://github.com/scrapinghub/article-extraction-benchmark
- a set of 48 Chinese pages, MIT License

The list of public suffixes in the crate psl is made from the Public Suffix List (https://publicsuffix.org/list/), under
the Mozilla Public License 2.0, whose text stands below. The root certificates in the crate webpki-roots are Mozilla's,
under the Community Data License Agreement, Permissive 2.0, whose text stands below."""

if __name__ == "__main__":
    main()

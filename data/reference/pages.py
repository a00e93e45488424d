#!/usr/bin/env python3
"""Makes a set of real reference pages from Debian's documentation packages, with the content of each as its generator marks it.

usage: pages.py --download POOL            (apt-get download; needs Debian 12 and network)
       pages.py --packages POOL --out FOLDER [--each 20]
needs: pip install -r data/reference/requirements.txt; dpkg-deb. The same packages give the same pages.

FOLDER gets `gold.jsonl` (a line a page: id, url, generator, bytes, text, neutral, code, headings, signatures) and `html/`.
The pages keep their authors' licences and stay out of this repository.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import tempfile

import lxml.html

from sources import SOURCES

BLOCKS = set(
    "address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr "
    "li main nav ol p pre section summary table td th tr ul".split()
)
UNSEEN = {"script", "style", "template", "head", "noscript", "svg", "button", "select"}
WORDS_MIN = 100
BYTES_MIN, BYTES_LONG, BYTES_MAX = 3_000, 30_000, 3_000_000


def download(pool):
    pool.mkdir(parents=True, exist_ok=True)
    for package in sorted({source.package for source in SOURCES}):
        subprocess.run(["apt-get", "download", package], cwd=pool, check=True)


def text_of(element, without=frozenset()):
    """The text that a reader sees, without the elements in `without`; a line a block."""
    out = []
    stack = [("open", element)]
    while stack:
        what, node = stack.pop()
        if what == "text":
            out.append(node)
            continue
        if not isinstance(node.tag, str) or node.tag in UNSEEN or node in without:
            continue
        edge = "\n" if node.tag in BLOCKS else ""
        out.append(edge + (node.text or ""))
        stack.append(("text", edge))
        for child in reversed(node):
            stack.append(("text", child.tail or ""))
            stack.append(("open", child))
    return re.sub(r"[ \t\xa0]+", " ", re.sub(r"\s*\n\s*", "\n", "".join(out))).strip()


def found(tree, paths):
    return [node for path in paths for node in tree.xpath(path) if isinstance(getattr(node, "tag", None), str)]


def gold(source, html):
    """What this page's content is, or None when it is not a page of this generator."""
    try:
        tree = lxml.html.document_fromstring(html, parser=lxml.html.HTMLParser(encoding="utf-8"))
    except (lxml.etree.ParserError, ValueError):
        return None
    main = next((nodes[0] for nodes in map(tree.xpath, source.main) if nodes), None)
    if main is None:
        return None
    beside, neutral = set(found(main, source.beside)), set(found(main, source.neutral))
    unwanted = beside | neutral
    within = lambda node: any(above in unwanted for above in node.iterancestors())
    wanted = lambda path: [node for node in main.xpath(path) if node not in unwanted and not within(node)]
    texts = lambda path: [text for text in (text_of(node, unwanted) for node in wanted(path)) if re.search(r"\w", text)]
    text = text_of(main, unwanted)
    return {
        "text": text,
        "neutral": "\n".join(text_of(node, beside) for node in neutral),
        "code": texts(".//pre[not(.//pre)]"),
        "headings": texts(".//h1|.//h2|.//h3|.//h4|.//h5|.//h6"),
        "signatures": texts(source.signatures) if source.signatures else [],
    }


def pages(source, number, pool, each):
    """The pages of one source: three in five of them long, if there are so many; otherwise whatever comes first by its hash."""
    archives = sorted(pool.glob(source.package + "_*.deb"))
    if not archives:
        return []
    with tempfile.TemporaryDirectory() as folder:
        tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", archives[-1]], stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "x", "-C", folder, "--wildcards", "*.html", "*.html.en"], input=tar, stderr=subprocess.DEVNULL)
        folder = pathlib.Path(folder)
        files = [path for path in folder.rglob("*.html*") if path.is_file() and not path.is_symlink()]
        names = {str(path.relative_to(folder)): path for path in files if BYTES_MIN <= path.stat().st_size <= BYTES_MAX}
        names = {n: p for n, p in names.items() if re.search(source.paths, n) and not re.search(source.without, n)}
        order = sorted(names, key=lambda name: hashlib.md5(name.encode()).hexdigest())
        long = [name for name in order if names[name].stat().st_size >= BYTES_LONG]
        first = long[: each * 3 // 5]
        taken, texts = [], set()
        for name in first + [name for name in order if name not in first]:
            if len(taken) == each:
                break
            html = names[name].read_bytes()
            page = gold(source, html)
            if page is None or len(page["text"].split()) < WORDS_MIN or page["text"] in texts:
                continue
            texts.add(page["text"])
            address = "https://example.org/" + name.removeprefix("usr/share/").removeprefix("doc/")
            about = {"id": f"{number:02}-{source.package}-{len(taken):02}", "url": address.removesuffix(".en"), "generator": source.generator, "bytes": len(html)}
            taken.append((about | page, html.decode("utf-8", "replace")))
        return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--download", type=pathlib.Path)
    parser.add_argument("--packages", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--each", type=int, default=20)
    args = parser.parse_args()
    if args.download:
        return download(args.download)
    (args.out / "html").mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ProcessPoolExecutor() as pool, open(args.out / "gold.jsonl", "w") as gold_file:
        jobs = [pool.submit(pages, source, number, args.packages, args.each) for number, source in enumerate(SOURCES)]
        for source, job in zip(SOURCES, jobs):
            taken = job.result()
            long = sum(page["bytes"] >= BYTES_LONG for page, _ in taken)
            print(f"{source.package:28} {source.generator:30} {len(taken):3} pages, {long} of them long", flush=True)
            for page, html in taken:
                (args.out / "html" / (page["id"] + ".html")).write_text(html)
                gold_file.write(json.dumps(page, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

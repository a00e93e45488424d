#!/usr/bin/env python3
"""Measures whether the converter keeps long pages whole: makes pages of many shapes and sizes, each in the frame of an ordinary
site, and looks for every piece of their content and of their frame in the markdown.

usage: long.py --engine target/release/context402 [--sizes 50,500,5000] [--shapes NAME,…] [--worst N] [--write FOLDER]
needs: pip install -r data/selection/requirements.txt; no network.

The text is made by a small grammar with a fixed seed: the same pages each time. A piece counts by its words, as kept if its words
stand in the markdown one after the other.
"""
import argparse
import collections
import html
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

import pages as judge

NOUNS = (
    "harbour engine letter council river teacher garden market bridge window doctor village winter machine record valley paper "
    "station farmer island method report school colour signal forest captain kitchen patient library tower meadow answer merchant "
    "contract railway theory journal sample cottage weather customer surface battery orchard pattern channel member treaty lantern"
).split()
ADJECTIVES = (
    "old quiet heavy narrow public early modern simple distant bright careful northern common serious hollow wooden recent private "
    "useful broken gentle strange regular wide final local cold steady modest empty"
).split()
VERBS = (
    "crossed repaired described reached followed carried opened measured refused watched covered divided explained remembered "
    "supported replaced found raised lost planned joined passed needed changed left"
).split()
PLACES = "near behind under beyond beside across above within around along".split()
ENDS = (
    "after a long delay|before the first snow|without any help|for several years|in the following spring|because nobody had asked|"
    "as the law required|with great care|when the rain stopped|although it was late|since the previous autumn|at half the price"
).split("|")
NAMES = "Alice Boyd Clara Dawit Elena Farid Greta Hugo Ines Jonas Karim Lena Marta Nils Olga Pavel Rosa Samir Tove Umar".split()
FAMILIES = "Abbott Berger Castle Duarte Ekman Fisher Gomez Haddad Ivanov Jensen Keller Larsen Moreau Novak Okafor Petrov".split()


class Writer:
    """Writes a page and remembers which pieces of text are its content and which its frame."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pieces = []

    def pick(self, *lists):
        return " ".join(self.random.choice(one) for one in lists)

    def thing(self):
        return f"the {self.pick(NOUNS)}" if self.random.random() < 0.5 else f"the {self.pick(ADJECTIVES, NOUNS)}"

    def sentence(self):
        text = f"{self.thing()} {self.pick(VERBS)} {self.thing()} {self.pick(PLACES)} {self.thing()}"
        if self.random.random() < 0.4:
            text += f", and {self.pick(NAMES)} {self.pick(VERBS)} {self.thing()}"
        if self.random.random() < 0.6:
            text += f" {self.pick(ENDS)}"
        return text[0].upper() + text[1:] + "."

    def prose(self, least=2, most=6):
        return " ".join(self.sentence() for _ in range(self.random.randint(least, most)))

    def title(self):
        return self.pick(ADJECTIVES, NOUNS).capitalize() + " " + self.pick(PLACES) + " " + self.thing()

    def name(self):
        return self.pick(NAMES, FAMILIES)

    def phrase(self):
        """A few words without a verb."""
        return self.pick(ADJECTIVES, ADJECTIVES, NOUNS).capitalize() + f" {self.random.randint(2, 9999)}"

    def say(self, text):
        """Content."""
        self.pieces.append((True, text))
        return html.escape(text)

    def frame(self, text):
        self.pieces.append((False, text))
        return html.escape(text)


def paragraphs(w, n):
    return "".join(f"<p>{w.say(w.prose())}</p>" for _ in range(n))


def divisions(w, n):
    return "".join(f"<div>{w.say(w.prose())}</div>" for _ in range(n))


def nested(w, n):
    return "".join(f'<div class="block"><div class="text"><p>{w.say(w.prose())}</p></div></div>' for _ in range(n))


def sections(w, n):
    return "".join(f"<section><h2>{w.say(w.title())}</h2><p>{w.say(w.prose())}</p></section>" for _ in range(n))


def chapters(w, n):
    return "".join(
        (f"<h2>{w.say(w.title())}</h2>" if at % 12 == 0 else "") + f"<p>{w.say(w.prose())}</p>" for at in range(n)
    )


def chapter_elements(w, n):
    pages = []
    for at in range(0, n, 20):
        pages.append(f'<div class="chapter"><h2>{w.say("Chapter " + str(at // 20 + 1))}</h2>{paragraphs(w, min(20, n - at))}</div>')
    return "".join(pages)


def breaks(w, n):
    return "<div>" + "<br><br>".join(w.say(w.prose()) for _ in range(n)) + "</div>"


def poems(w, n):
    def line():
        return w.say(f"{w.thing()} {w.pick(VERBS)} {w.thing()}".capitalize())

    return "".join("<p>" + "<br>".join(line() for _ in range(4)) + "</p>" for _ in range(n))


def list_short(w, n):
    return f"<p>{w.say(w.prose())}</p><ul>" + "".join(f"<li>{w.say(w.phrase())}</li>" for _ in range(n)) + "</ul>"


def list_long(w, n):
    return f"<p>{w.say(w.prose())}</p><ol>" + "".join(f"<li>{w.say(w.prose(1, 3))}</li>" for _ in range(n)) + "</ol>"


def list_paragraphs(w, n):
    return f"<ol>" + "".join(f"<li><p>{w.say(w.prose(1, 3))}</p></li>" for _ in range(n)) + "</ol>"


def list_nested(w, n):
    inner = lambda: "".join(f"<li>{w.say(w.prose(1, 1))}</li>" for _ in range(4))
    return "<ul>" + "".join(f"<li>{w.say(w.phrase())}<ul>{inner()}</ul></li>" for _ in range(-(-n // 4))) + "</ul>"


def list_links(w, n):
    """A list of works, each with a link and a line about it."""
    return "<ul>" + "".join(
        f'<li><a href="/title/{at}">{w.say(w.title())}</a> {w.say(w.sentence())}</li>' for at in range(n)
    ) + "</ul>"


def lists_headed(w, n):
    """A log of changes: a heading, a date, a list; again and again."""
    parts = []
    for at in range(0, n, 5):
        items = "".join(f"<li>{w.say(w.sentence())}</li>" for _ in range(min(5, n - at)))
        parts.append(f"<h3>{w.say(f'Version {n - at}.{at % 7}')}</h3><ul>{items}</ul>")
    return "".join(parts)


def glossary(w, n):
    return "<dl>" + "".join(f"<dt>{w.say(w.phrase())}</dt><dd>{w.say(w.prose(1, 3))}</dd>" for _ in range(n)) + "</dl>"


def table_figures(w, n):
    def row(at):
        cells = "".join(f"<td>{w.say(str(w.random.randint(10_000, 999_999)))}</td>" for _ in range(3))
        return f"<tr><td>{w.say(w.name() + ' ' + str(at))}</td>{cells}</tr>"

    head = "<tr><th>Name</th><th>First</th><th>Second</th><th>Third</th></tr>"
    return f"<p>{w.say(w.prose())}</p><table>{head}" + "".join(row(at) for at in range(n)) + "</table>"


def table_text(w, n):
    rows = (f"<tr><td>{w.say(w.phrase())}</td><td>{w.say(w.prose(1, 2))}</td></tr>" for _ in range(n))
    return "<table><tr><th>Term</th><th>Meaning</th></tr>" + "".join(rows) + "</table>"


def table_pairs(w, n):
    rows = (f"<tr><td>{w.say(w.phrase())}</td><td>{w.say(w.title())}</td></tr>" for _ in range(n))
    return f"<p>{w.say(w.prose())}</p><table>" + "".join(rows) + "</table>"


def directory(w, n):
    def row(at):
        name = w.name()
        return (
            f'<tr><td><a href="/p/{at}">{w.say(name + " " + str(at))}</a></td><td>{w.say(w.title())}</td>'
            f"<td>{w.say(f'+44 20 {w.random.randint(1000, 9999)} {w.random.randint(1000, 9999)}')}</td></tr>"
        )

    return "<table><tr><th>Name</th><th>Room</th><th>Telephone</th></tr>" + "".join(row(at) for at in range(n)) + "</table>"


def code_between(w, n):
    def part(at):
        lines = "\n".join(f"let {w.pick(NOUNS)}_{at}_{line} = {w.pick(VERBS)}({w.random.randint(1, 999)});" for line in range(4))
        return f"<p>{w.say(w.prose())}</p><pre><code>{w.say(lines)}</code></pre>"

    return "".join(part(at) for at in range(n))


def transcript(w, n):
    return "".join(f"<p><b>{w.pick(NAMES)}:</b> {w.say(w.prose(1, 4))}</p>" for _ in range(n))


def transcript_timed(w, n):
    def line(at):
        time = f"{at // 360}:{at // 6 % 60:02}:{at % 6 * 10:02}"
        return f'<div class="cue"><span class="time">{time}</span> <span class="said">{w.say(w.sentence())}</span></div>'

    return "".join(line(at) for at in range(n))


def play(w, n):
    """Short lines, each with the name of who says it."""
    return "".join(f"<p>{w.pick(NAMES).upper()}. {w.say(w.thing().capitalize() + ' ' + w.pick(VERBS) + '!')}</p>" for _ in range(n))


def law(w, n):
    parts = []
    for at in range(-(-n // 3)):
        sections = "".join(f'<p class="paragraph">({number}) {w.say(w.prose(1, 2))}</p>' for number in (1, 2, 3))
        parts.append(f"<h3>{w.say(f'Article {at + 1}')}</h3>{sections}")
    return "".join(parts)


def law_elements(w, n):
    parts = []
    for at in range(-(-n // 3)):
        points = "".join(f"<li>{w.say(w.prose(1, 1))}</li>" for _ in range(2))
        parts.append(
            f'<div class="article" id="a{at}"><p class="number">{w.say(f"Article {at + 1}")}</p>'
            f'<p class="title">{w.say(w.title())}</p><div class="text">{w.say(w.prose(1, 2))}</div><ol>{points}</ol></div>'
        )
    return "".join(parts)


def questions(w, n):
    return "".join(
        f'<div class="item"><h3 class="question">{w.say(w.sentence().rstrip(".") + "?")}</h3>'
        f'<div class="answer"><p>{w.say(w.prose(1, 3))}</p></div></div>'
        for _ in range(n)
    )


def questions_details(w, n):
    return "".join(
        f"<details><summary>{w.say(w.sentence().rstrip('.') + '?')}</summary><p>{w.say(w.prose(1, 3))}</p></details>"
        for _ in range(n)
    )


def verses(w, n):
    parts = []
    for at in range(0, n, 25):
        lines = "".join(f'<span class="verse"><sup>{v + 1}</sup> {w.say(w.sentence())}</span> ' for v in range(min(25, n - at)))
        parts.append(f"<h2>{w.say(f'Chapter {at // 25 + 1}')}</h2><p>{lines}</p>")
    return "".join(parts)


def minutes(w, n):
    parts = []
    for at in range(0, n, 4):
        points = "".join(f"<li>{w.say(w.name() + ' ' + w.pick(VERBS) + ' ' + w.thing() + '.')}</li>" for _ in range(3))
        parts.append(f"<h3>{w.say(f'{at // 4 + 1}. {w.title()}')}</h3><p>{w.say(w.prose(1, 2))}</p><ul>{points}</ul>")
    return "".join(parts)


def notes(w, n):
    """Prose with as many notes after it, each with a link back."""
    text = "".join(
        f'<p>{w.say(w.prose(1, 2))}<sup id="fnref{at}"><a href="#fn{at}">{at + 1}</a></sup> {w.say(w.prose(1, 2))}</p>' for at in range(n // 2)
    )
    items = "".join(f'<li id="fn{at}">{w.say(w.sentence())} <a href="#fnref{at}">↩</a></li>' for at in range(n // 2))
    return f'{text}<h2>{w.say("Notes")}</h2><ol class="notes">{items}</ol>'


def bibliography(w, n):
    return "".join(
        f'<p>{w.say(w.name())}, <i>{w.say(w.title())}</i>. <a href="https://doi.example/{at}">{w.say(f"doi.example/{at}")}</a>. '
        f"{w.say(w.sentence())}</p>"
        for at in range(n)
    )


def cards(w, n):
    """An archive: titles with links, each with its date and the first words of what it leads to."""
    return "".join(
        f'<div class="entry"><h3><a href="/e/{at}">{w.say(w.title())}</a></h3><p class="date">{w.say(f"{at % 28 + 1} May {1990 + at % 30}")}</p>'
        f'<p>{w.say(w.prose(1, 2))}</p></div>'
        for at in range(n)
    )


def index(w, n):
    """An archive of titles alone."""
    return f"<p>{w.say(w.prose())}</p><ul>" + "".join(f'<li><a href="/e/{at}">{w.say(w.title())}</a></li>' for at in range(n)) + "</ul>"


def plain(w, n):
    """A book as plain text in one element."""
    lines = []
    for _ in range(n):
        lines.append(w.say(w.prose()))
    return "<pre>" + "\n\n".join(lines) + "</pre>"


def figures(w, n):
    return "".join(
        f'<p>{w.say(w.prose())}</p><figure><img src="/p/{at}.jpg" alt=""><figcaption>{w.say(w.title())}</figcaption></figure>'
        for at in range(n)
    )


def quotes(w, n):
    return "".join(f"<blockquote><p>{w.say(w.prose(1, 2))}</p></blockquote><p>{w.say(w.name())}</p>" for _ in range(n))


SHAPES = [
    paragraphs, divisions, nested, sections, chapters, chapter_elements, breaks, poems, plain, list_short, list_long,
    list_paragraphs, list_nested, list_links, lists_headed, glossary, table_figures, table_text, table_pairs, directory,
    code_between, transcript, transcript_timed, play, law, law_elements, questions, questions_details, verses, minutes, notes,
    bibliography, figures, quotes, cards, index,
]  # fmt: skip

FRAMES = {
    "main": "<main><h1>{title}</h1>{body}</main>",
    "article": '<div id="page"><article class="post"><h1>{title}</h1><div class="entry-content">{body}</div></article></div>',
    "div": '<div class="wrapper"><div class="row"><div class="col-9"><div class="inner"><h1>{title}</h1>{body}</div></div></div></div>',
    "table": '<table width="100%"><tr><td width="160">{side}</td><td><h1>{title}</h1>{body}</td></tr></table>',
    "bare": "<h1>{title}</h1>{body}",
}


def page(shape, frame, size):
    """A page's HTML and its pieces."""
    w = Writer(f"{shape.__name__} {frame} {size}")
    links = lambda count: "".join(f'<li><a href="/{at}">{w.frame(w.phrase())}</a></li>' for at in range(count))
    title = w.title()
    body = shape(w, size)
    menu, footer = links(12), links(9)
    related = "".join(
        f'<div class="card"><h4><a href="/r{at}">{w.frame(w.title())}</a></h4><p>{w.frame(w.sentence())}</p></div>' for at in range(6)
    )
    side = f'<div class="sidebar widget"><h3>{w.frame("Latest posts")}</h3><ul>{links(8)}</ul></div>'
    cookie = w.frame("We use cookies to give you the best experience on our site and to measure how it is used.")
    inner = FRAMES[frame].format(title=html.escape(title), body=body, side=side if frame == "table" else "")
    if frame == "bare":
        return f"<!DOCTYPE html><title>{html.escape(title)}</title><body>{inner}", [one for one in w.pieces if one[0]]
    text = (
        f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{html.escape(title)} - The Gazette</title></head><body>"
        f'<div id="cookie-banner" class="cookie-consent"><p>{cookie}</p><button>Accept</button></div>'
        f'<header class="site-header"><a href="/">The Gazette</a><nav><ul>{menu}</ul></nav></header>'
        f"{inner}{side if frame != 'table' else ''}"
        f'<div class="related-posts"><h3>{w.frame("Related articles")}</h3>{related}</div>'
        f'<footer class="site-footer"><ul>{footer}</ul><p>{w.frame("Copyright 2024 The Gazette. All rights reserved.")}</p></footer>'
    )
    return text, w.pieces


def shares(markdown, pieces):
    """The shares of the content's and of the frame's words that were written."""
    text = " " + " ".join(judge.words(judge.rendered(markdown))) + " "
    found, all_words = collections.Counter(), collections.Counter()
    wrong = {True: [], False: []}
    for is_content, piece in pieces:
        words = judge.words(piece)
        all_words[is_content] += len(words)
        is_found = " " + " ".join(words) + " " in text
        if is_found:
            found[is_content] += len(words)
        if is_found != is_content:
            wrong[is_content].append(piece)
    share = lambda which: found[which] / all_words[which] if all_words[which] else 0.0
    return share(True), share(False), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--sizes", default="50,500,5000")
    parser.add_argument("--shapes", default="")
    parser.add_argument("--frames", default=",".join(FRAMES))
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--write", help="a folder for the pages; otherwise they are not kept")
    args = parser.parse_args()
    asked = set(filter(None, args.shapes.split(",")))
    sizes = [int(size) for size in args.sizes.split(",")]
    made = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(args.write or folder)
        folder.mkdir(parents=True, exist_ok=True)
        for shape in SHAPES:
            for frame in args.frames.split(","):
                for size in sizes:
                    if not asked or shape.__name__ in asked:
                        text, pieces = page(shape, frame, size)
                        path = folder / f"{shape.__name__}-{frame}-{size}.html"
                        path.write_text(text, "utf-8")
                        made.append((shape.__name__, frame, size, pieces, path))
        calls = "".join(
            json.dumps({"id": str(at), "url": "https://gazette.example/page", "path": str(one[4])}) + "\n"
            for at, one in enumerate(made)
        )
        done = subprocess.run([args.engine, "convert", "--jsonl"], input=calls.encode(), stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    rows = []
    for (shape, frame, size, pieces, _), answer in zip(made, answers):
        kept, noise, wrong = shares(answer.get("markdown") or "", pieces)
        rows.append((kept, noise, shape, frame, size, wrong))
    print(f"{'shape':18}" + "".join(f"{size:>16}" for size in sizes) + "   worst of")
    for name in dict.fromkeys(row[2] for row in rows):
        line = f"{name:18}"
        for size in sizes:
            own = [row for row in rows if row[2] == name and row[4] == size]
            line += f"  {statistics.mean(row[0] for row in own):.3f} ({min(row[0] for row in own):.3f})"
        worst = min((row for row in rows if row[2] == name), key=lambda row: row[0])
        print(line + f"   {worst[3]} {worst[4]}")
    for frame in args.frames.split(","):
        own = [row for row in rows if row[3] == frame]
        print(f"in {frame:8} kept {statistics.mean(row[0] for row in own):.4f}, of the frame {statistics.mean(row[1] for row in own):.4f}")
    low = sum(row[0] < 0.99 for row in rows)
    print(
        f"{len(rows)} pages: kept {statistics.mean(row[0] for row in rows):.4f}, {low} below .99; of the frame "
        f"{statistics.mean(row[1] for row in rows):.4f}, {sum(row[1] > 0.05 for row in rows)} above .05"
    )
    for kept, noise, shape, frame, size, wrong in sorted(rows, key=lambda row: row[0] - row[1])[: args.worst]:
        lost, noise_pieces = wrong[True], wrong[False]
        ends = lambda pieces: [one[:50] for one in pieces[:1] + pieces[-1:]]
        print(f"{kept:.3f} {noise:.3f} {shape} {frame} {size}: {len(lost)} lost {ends(lost)}, {len(noise_pieces)} of the frame {ends(noise_pieces)}")


if __name__ == "__main__":
    main()

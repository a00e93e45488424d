//! Elements that make blocks: which of them begin and end, and how each is written.

use super::*;

#[test]
fn paragraphs_headings_and_rules() {
    check("<h1>One</h1><p>two<p>three", "# One\n\ntwo\n\nthree");
    check("<h2>a <b>b</b><h3>c</h3>d", "## a **b**\n\n### c\n\nd");
    check("a<hr>b<hr><hr>", "a\n\n---\n\nb\n\n---");
    check("a<br>b<br><br>c", "a  \nb\n\nc");
    check("<h1>a<br>b</h1>", "# a b");
    check("<h2>C #</h2>", "## C \\#");
    check("<p>  a \n\t b&nbsp;&nbsp;c ", "a b c");
    check("<h2>Title <a href='#title'>#</a></h2>", "## Title");
}

#[test]
fn end_tags_that_are_missing_or_misplaced() {
    check("<p>a<div>b</p>c</div>", "a\n\nb\n\nc");
    check("<b>bold<p>still</b> not</p>", "**bold**\n\n**still** not");
    check("<ul><li>a<li>b</ul>c", "- a\n- b\n\nc");
    check("<div><nav>a</div>b", "a\n\nb");
    check(
        "<table><tr><td>1<td>2<tr><td>3<td>4</table>x",
        "| 1 | 2 |\n| --- | --- |\n| 3 | 4 |\n\nx",
    );
    check(
        "<a href=/1>one<a href=/2>two</a>",
        "[one](https://example.org/1)[two](https://example.org/2)",
    );
    check("<p><svg><text>drawn</text></p>after", "after");
    check("<i>a</b></i></div>b", "*a*b");
    check("a</p>b</div>c</section>d", "a\n\nbcd");
    check("a</br>b", "a  \nb");
    check("<h2>a</h3>b", "## a\n\nb");
    check("<div>a</body></html>b</div>c", "ab\n\nc");
    check("<section>a<div>b</section>c", "a\n\nb\n\nc");
    check(
        "<ul><li>a<ul><li>b</li></li><li>c</ul></ul>d",
        "- a\n  - b\n  - c\n\nd",
    );
    check(
        "<div>x<table><tr><td>1</div></p><td>2<tr><td>3</tr></tr><td>4</table>y",
        "x\n\n| 1 | 2 |\n| --- | --- |\n| 3 |\n| 4 |\n\ny",
    );
    check(
        "<p>a<!-- > </p> --->b<!-->c<!--->d</ x></>e<?f?>g<!h>i",
        "abcdegi",
    );
    check("a<div class='>' id=\">\">b</div x='>'>c", "a\n\nb\n\nc");
}

#[test]
fn formatting_goes_on_after_the_block_it_began_in() {
    check("<p><b>a<p>b</b>c", "**a**\n\n**b**c");
    check("<p><b>a</p>b<div>c</div>", "**a**\n\n**b**\n\n**c**");
    check("<p><i>a<ul><li>b</i><li>c</ul>", "*a*\n\n- *b*\n- c");
    check("<p><code>a<p>b</code>c", "`a`\n\n`b`c");
    // Not what is no formatting, nor out of a cell.
    check("<p><del>a<p>b", "~~a~~\n\nb");
    check(
        "<table><tr><th><b>a<th>b<tr><td>c<td>d</table>e",
        "| **a** | b |\n| --- | --- |\n| c | d |\n\ne",
    );
    // A link goes on only while it has no text.
    check(
        "<p><a href=/x></p><div>a</div><div>b</div></a>c",
        "[a](https://example.org/x)\n\nb\n\nc",
    );
    check("<p><a href=/x>a<p>b", "[a](https://example.org/x)\n\nb");
    let nested = "<p><b>".repeat(2000);
    assert_eq!(
        full_page(&format!("{nested}a</b></b></b></b>b")).markdown,
        "**a**b\n"
    );
}

#[test]
fn what_is_left_out_ends_where_it_should() {
    check("a<svg><g><p>b", "a\n\nb");
    check("a<svg><foreignObject><p>x</p></foreignObject></svg>b", "ab");
    check("a<svg><path/><title>x</title><svg>y</svg>z</svg>b", "ab");
    check("<div>a<video><div>x</div>y</div>b", "a\n\nb");
    check(
        "<div>a<template><p>x</div></p>y</template>b</div>c",
        "ab\n\nc",
    );
    check(
        "<table><tr><td><select><option>x<td>a<tr><td><select><option>y</td><td>b</table>",
        "| | a |\n| --- | --- |\n| | b |",
    );
    let html = format!("{}<span hidden>x<span>y</span>z</span>b", words(30));
    let page = main_page(&html);
    assert_eq!(page.markdown, format!("{}b\n", words(30)));
}

#[test]
fn buttons_stand_apart() {
    check("b<button>c<button>d</button>e", "b\n\nc\n\nd\n\ne");
    check(
        "<h2><button>a</button></h2><dl><dt><button>b</button><dd>c</dl>",
        "## a\n\n**b**\n\nc",
    );
    check("<pre>a <button>Copy</button>b</pre>", "```\na b\n```");
}

#[test]
fn lists() {
    check("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c");
    check("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b");
    check("<ol start=9><li>a<li>b<p>c</ol>", "9. a\n10. b\n\n    c");
    check("<ol><li>a<li value=7>b<li>c</ol>", "1. a\n7. b\n8. c");
    check("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n* b");
    check("<ul><li>a</ul><ul><ul><li>b</ul></ul>", "- a\n\n* b");
    check("<ol><li>a</ol><ul><li>b</ul>", "1. a\n\n- b");
    check("<li>a<li>b", "- a\n- b");
    check(
        "<ul><li><p>a<p>b<pre>c\nd</pre></ul>",
        "- a\n\n  b\n\n  ```\n  c\n  d\n  ```",
    );
    check(
        "<ul><li><input type=checkbox checked> done<li><input type=checkbox>open</ul>",
        "- [x] done\n- [ ] open",
    );
    check(
        "<dl><dt>Price<dd>12 EUR<dt>Made by:<dd>Orrin<dt>Gate<dd>It squeaks.<dt>Sizes<dd>S<dd>M</dl>",
        "**Price**: 12 EUR\n\n**Made by:** Orrin\n\n**Gate**\n\nIt squeaks.\n\n**Sizes**\n\nS\n\nM",
    );
}

#[test]
fn quotes() {
    check("<blockquote>a<p>b</blockquote>c", "> a\n>\n> b\n\nc");
    check(
        "<blockquote><blockquote>a</blockquote>b</blockquote>",
        "> > a\n>\n> b",
    );
    check(
        "<blockquote><ul><li>a<li>b</ul></blockquote>",
        "> - a\n> - b",
    );
    check(
        "<ul><li><blockquote>a<br>b</blockquote></ul>",
        "- > a  \n  > b",
    );
    check("say <q>so</q>", "say “so”");
}

#[test]
fn code() {
    check(
        "<pre><code class=language-rust>\nfn main() {}\n\n  // end\n</code></pre>",
        "```rust\nfn main() {}\n\n  // end\n```",
    );
    check(
        "<div><pre class='hljs go'>a&lt;b</pre></div>",
        "```go\na<b\n```",
    );
    check("<pre>```\nx</pre>", "````\n```\nx\n````");
    check(
        "<pre><span class=line>a</span>\n<p>b</p><div>c</div></pre>d",
        "```\na\nb\nc\n```\n\nd",
    );
    check(
        "<pre><span class=lineno>1 </span>a<br><span class=lineno>2 </span>b</pre>",
        "```\na\nb\n```",
    );
    check(
        "<table><tr><td class=gutter><pre>1\n2</pre><td><pre>a\nb</pre></table>",
        "```\na\nb\n```",
    );
    check("a<code>b`c</code>d <code> *e* </code>", "a``b`c``d `*e*`");
    check("<code>a</code><code>b</code>", "`ab`");
    check("<code><p>a</code>", "`a`");
}

#[test]
fn code_as_highlighters_leave_it() {
    let row = |number: u32, code: &str| {
        format!("<tr>\n<td class=blob-num>{number}</td>\n<td class=blob-code>{code}</td>\n</tr>")
    };
    check(
        &format!(
            "<table>{}{}{}</table>c",
            row(1, "a"),
            row(2, "\n"),
            row(3, " b")
        ),
        "```\na\n\n b\n```\n\nc",
    );
    check(
        "<div class='language-js highlighter-rouge'><pre><code>a</code></pre></div><pre>b</pre>",
        "```js\na\n```\n\n```\nb\n```",
    );
    check(
        "<table><tr><td><pre>7\n8\n9</pre><td><pre>7\n9</pre></table>",
        "```\n7\n9\n```",
    );
    check(
        "<pre><div>a</div><div></div><div>b</div></pre>",
        "```\na\n\nb\n```",
    );
    check("<pre><code>a</code><code>b</code></pre>", "```\na\nb\n```");
    check(
        "<pre><button>Copy</button><i class=copy-btn>Copy</i>a&nbsp;b</pre>",
        "```\na b\n```",
    );
    check("<p><code>a<br>&nbsp;b</code></p>", "```\na\n b\n```");
    check("<p>x <code>a<br>b</code> y", "x `a b` y");
    check(
        "<table><tr><th>x<th>y<tr><td><code>a<br>b</code><td>c</table>",
        "| x | y |\n| --- | --- |\n| `a b` | c |",
    );
    check(
        "<pre>See <a href=/x>X</a>, <a href=/x>X</a>, <a href='#y'>Y</a></pre>",
        "```\nSee X, X, Y\n```\n\n[X](https://example.org/x)",
    );
    check(
        "<pre><a href=/x>X<a href=/y>Y</pre><a href=/z>Z</a>",
        "```\nXY\n```\n\n[X](https://example.org/x) [Y](https://example.org/y)\n\n[Z](https://example.org/z)",
    );
    check(
        "<table><tr><td class=gutter><table><tr><td>1</table></div></td><td><pre>a</table>b",
        "```\na\n```\n\nb",
    );
    check(
        "<form><div class=highlight-js><p></form><pre>a</pre></div><pre>b</pre>",
        "```js\na\n```\n\n```\nb\n```",
    );
    check(
        "<pre><code>use <a href=/x>X</a></code></pre>",
        "```\nuse X\n```",
    );
}

/// Notes that are no items: their numbers lead back. Substack, and pages that Word has written.
#[test]
fn footnotes_begin_with_their_numbers() {
    check(
        "<p>a<a id=footnote-anchor-1-9 href=#footnote-1-9>1</a> b<div class=footnote><a id=footnote-1-9 href=#footnote-anchor-1-9>1</a>\
         <div><p>One note.<p>More.</div></div>",
        "a[^1-9] b\n\n[^1-9]: One note.\n\n    More.",
    );
    check(
        "<p>a<a name=_ftnref1 href=#_ftn1>[1]</a><p><a name=_ftn1 href=#_ftnref1>[1]</a> One note.<p>b",
        "a[^1]\n\n[^1]: One note.\n\nb",
    );
    // Nothing refers to it.
    check(
        "<p><a name=_ftn1 href=#_ftnref1>[1]</a> One note.",
        "[1] One note.",
    );
}

#[test]
fn footnotes() {
    let notes = "<ol><li id='fn:1'><p>The first note.<a href='#fnref:1'>↩︎</a><p>More.<li id=fn-b>Word<li id=fn3>Third note</ol>";
    check(
        &format!(
            "a<sup><a href='#fn:1'>1</a></sup> <b>b<a href='#fn-b'><sup>[2]</sup></a></b>{notes}"
        ),
        "a[^1] **b[^b]**\n\n[^1]: The first note.\n\n    More.\n\n[^b]\\: Word\n3. Third note",
    );
    check(
        "a <a href='#fn1'>see the note</a><sup><a href='#x'>1</a></sup>",
        "a see the note[^1]",
    );
    check(
        "a<sup><a href='#fn1'>*</a></sup> <b><a href='#fn2'>2</a></b>",
        "a\\* **2**",
    );
}

/// Doxygen writes each line of code as an element, with its number and what shows under the pointer.
#[test]
fn code_of_doxygen() {
    check(
        "<div class=fragment><div class=line><a id=l1></a><span class=lineno>    1</span>&#160;<span>#include</span> &lt;a.h&gt;</div>\
         \n<div class=line><span class=lineno> 2</span> </div>\n<div class=line><span class=lineno>    3</span>&#160;\u{A0} <a href=/f>f</a>();</div>\
         <div class=ttc><div class=ttname>f</div></div></div><p>b",
        "```\n#include <a.h>\n\n  f();\n```\n\nb",
    );
    // A slide that comes in parts.
    check(
        "<div class=fragment><p>a</div><div class=fragment><p>b</p><div>c</div></div>",
        "a\n\nb\n\nc",
    );
}

/// Doxygen writes declarations as tables: of members, and of the words of one.
#[test]
fn declarations_of_doxygen() {
    check(
        "<table class=memberdecls><tr class=heading><td colspan=2><h2>Functions</h2></td></tr>\
         <tr class='memitem:a1'><td class=memItemLeft>size_t&#160;</td><td class=memItemRight><a href='#a1'>size</a> () const</td></tr>\
         <tr class='memdesc:a1'><td class=mdescLeft>&#160;</td><td class=mdescRight>Bytes in it.<br></td></tr>\
         <tr class='memitem:a2'><td class=memItemLeft>void&#160;</td><td class=memItemRight><a href='#a2'>clear</a> ()</td></tr></table>",
        "## Functions\n\nsize_t size () const\n\nBytes in it.\n\nvoid clear ()",
    );
    check(
        "<h2 class=memtitle><span class=permalink><a href='#a2'>&#9670;&#160;</a></span>append()</h2><div class=memproto>\
         <table class=memname>\n<tr>\n<td class=memname>void append </td>\n<td>(</td>\n<td class=paramtype>int&#160;</td>\n\
         <td class=paramname><em>a</em>, </td></tr>\n<tr>\n<td class=paramkey></td>\n<td></td>\n<td class=paramtype>int&#160;</td>\n\
         <td class=paramname><em>b</em></td></tr>\n<tr>\n<td></td>\n<td>)</td>\n<td></td><td></td></tr></table></div><p>Adds.",
        "## append()\n\nvoid append ( int *a*, int *b* )\n\nAdds.",
    );
}

/// Javadoc's summaries are cells without rows, its lists of parts are none.
#[test]
fn grids_of_cells_alone() {
    check(
        "<ul class=blockList><li class=blockList><p>a<ul class=blockListLast><li class=blockList><h3>b</h3><ul><li>c</ul></ul></ul>",
        "a\n\n### b\n\n- c",
    );
    let cell =
        |text: &str| format!("<div class='col-last even-row-color'><code>{text}</code>\n</div>\n");
    let head = "<div class='table-header col-first'>Type</div><div class='table-header col-last'>Use</div>";
    check(
        &format!(
            "<div class='summary-table two-column-summary' id=x>{head}{}</div>c",
            ["a", "b", "c", "d"].map(cell).concat()
        ),
        "| Type | Use |\n| --- | --- |\n| `a` | `b` |\n| `c` | `d` |\n\nc",
    );
}

/// Notes of other ids: their links say that they lead to one, or stand above the line.
#[test]
fn footnotes_of_docutils_and_of_any_id() {
    let reference = |id: u32| {
        format!("a<a class='footnote-reference brackets' href=#id{id} id=ref{id}>[{id}]</a> ")
    };
    let references = reference(5) + &reference(6);
    let notes = "\n\n[^5]: One note.\n\n[^6]: Other note.\n\nb";
    for written in [
        "<dl class=footnote><dt class=label id=id5><span class=brackets><a class=fn-backref href=#ref5>5</a></span></dt>\
         <dd><p>One note.</dd><dt class=label id=id6><a href=#ref6>6</a></dt><dd><p>Other note.</dd></dl>b",
        "<table class='docutils footnote' id=id5><tbody><tr><td class=label><a href=#ref5>[5]</a></td><td>One note.</table>\
         <table class='docutils footnote' id=id6><tbody><tr><td class=label>[6]</td><td>Other note.</table>b",
        "<aside class=footnote id=id5><p>One note.</aside><div class=footnote id=id6><p>Other note.</div><p>b",
        "<p><a name=id5 href=#ref5>5</a> One note.<p id=id6>Other note.<p>b",
    ] {
        check(
            &format!("<p>{references}</p>{written}"),
            &format!("a[^5] a[^6]{notes}"),
        );
    }
    // Above the line; two notes of one number.
    check(
        "<p>a<sup><a href=#x-1>1</a></sup><p>b<a href=#y-1><sup>1</sup></a><ol><li id=x-1>One note.</ol><ol><li id=y-1>Other note.</ol>",
        "a[^1]\n\nb[^y-1]\n\n[^1]: One note.\n\n[^y-1]: Other note.",
    );
    // Its number is written before it, too.
    check(
        "a<sup><a href=#n2>2</a></sup><p id=n2>2. One note here.",
        "a[^2]\n\n[^2]: One note here.",
    );
    // All of them lead to the same list.
    check(
        "a<sup><a href=#notes>4</a></sup> b<sup><a href=#notes>37</a></sup> c<sup><a href=#notes>4</a></sup><p id=notes>d",
        "a[^4] b[^37] c[^4]\n\nd",
    );
    // What holds more than a note is none; a term that nothing refers to is one.
    check(
        "a<sup><a href=#x>3</a></sup><div id=x>b</div><dl class=footnote><dt class=label id=y>c<dd>d</dl>",
        "a[^3]\n\nb\n\n**c**: d",
    );
}

/// Each row and each column can be read alone.
#[test]
fn cells_that_cover_rows_and_columns_are_repeated() {
    check(
        "<table><thead><tr><th rowspan=2>Name<th colspan=2>Score<tr><th>Oral<th>Written</thead>\
         <tr><td>Ann<td>1<td>2<tr><td rowspan=2>Bob<td>3<td>4<tr><td>5<td>6<tr><td>Cid<td>7<td>8</table>",
        "| Name | Score: Oral | Score: Written |\n| --- | --- | --- |\n| Ann | 1 | 2 |\n| Bob | 3 | 4 |\n| Bob | 5 | 6 |\n\
         | Cid | 7 | 8 |",
    );
    // A row without cells of its own is covered too.
    check(
        "<table><tr><th>a<th>b<tr><td rowspan=3>1<td>2<tr><tr><td>3<tr><td>4<td>5</table>",
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 1 | 3 |\n| 4 | 5 |",
    );
    // A title over the whole width names no columns together with others.
    check(
        "<table><tr><th colspan=2>Sizes<tr><th>a<th>b<tr><td>1<td>2</table>",
        "| Sizes | |\n| --- | --- |\n| a | b |\n| 1 | 2 |",
    );
    // A long text stands in its first place alone.
    let long = "long ".repeat(30);
    check(
        &format!("<table><tr><th>a<th>b<tr><td rowspan=2>{long}<td>2<tr><td>3</table>"),
        &format!(
            "| a | b |\n| --- | --- |\n| {} | 2 |\n| | 3 |",
            long.trim_end()
        ),
    );
}

#[test]
fn what_covering_cells_repeat_is_bounded() {
    let cell = format!("<td rowspan=1000>{}", "x".repeat(100));
    let rows = "<tr><td>y".repeat(1_000);
    let html = format!("<table><tr>{}{rows}</table>", cell.repeat(60));
    let page = full_page(&html);
    assert!(
        page.markdown.len() < 2 * 256 * 1024,
        "{}",
        page.markdown.len()
    );
}

/// Lists of the page's parts, of articles, of methods: as parts.
#[test]
fn an_item_that_begins_with_a_heading_is_a_part() {
    check(
        "<ul><li><section><h2>One</h2><p>a<ul><li>b<li>c</ul></section><li><h2>Two</h2>d</ul>",
        "## One\n\na\n\n- b\n- c\n\n## Two\n\nd",
    );
    check(
        "<ol><li><h3>Mix</h3><p>a<li><h3>Bake</h3><p>b</ol>",
        "1. ### Mix\n\n   a\n2. ### Bake\n\n   b",
    );
    check(
        "<ul><li>a<h3>b</h3><li><h3>c</h3>d</ul>",
        "- a\n\n  ### b\n- ### c\n\n  d",
    );
}

#[test]
fn players_and_documents_in_frames_are_links() {
    check(
        "<p>See:</p><iframe src='https://www.youtube.com/embed/abc?rel=0' title='The harbour in 1932'></iframe><p>b",
        "See:\n\n[The harbour in 1932](https://www.youtube.com/watch?v=abc)\n\nb",
    );
    check(
        "<iframe data-src='//player.vimeo.com/video/12' title='Video player'></iframe>",
        "[Video](https://vimeo.com/12)",
    );
    check(
        "<video controls poster=/p.jpg><source src=/a.webm type=video/webm><source src=/a.mp4>Your browser is old.</video>",
        "[Video](https://example.org/a.webm)",
    );
    check(
        "a <audio controls src=/talk.mp3 aria-label='The talk'></audio> b",
        "a [The talk](https://example.org/talk.mp3) b",
    );
    check(
        "<object data=/form.pdf type=application/pdf>No reader.</object><embed src='/b.PDF?x=1'>",
        "[PDF](https://example.org/form.pdf) [PDF](https://example.org/b.PDF?x=1)",
    );
    // Decoration, advertisements, what has no address.
    check(
        "<video autoplay muted loop src=/v.mp4></video><iframe src=https://ads.example/x></iframe>\
         <object data=/x.swf></object><video controls src=blob:x></video><p>a",
        "a",
    );
}

#[test]
fn tables() {
    check(
        "<table><caption>Sizes</caption><thead><tr><th>A<th>B|C</thead><tr><td>1<td><code>x|y</code></table>",
        "Sizes\n\n| A | B\\|C |\n| --- | --- |\n| 1 | `x\\|y` |",
    );
    check(
        "<table><tr><th>a<th>b<th>c<tr><td colspan=2>wide<td>x<tr><td>1<td><td>3</table>",
        "| a | b | c |\n| --- | --- | --- |\n| wide | | x |\n| 1 | | 3 |",
    );
    check(
        "<table><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3</table>",
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 1 | 3 |",
    );
    check(
        "<table><tr><th>a<th>b<tr><td><p>x<p>y<td><ul><li>p<li>q</ul></table>",
        "| a | b |\n| --- | --- |\n| x<br>y | • p<br>• q |",
    );
    check(
        "<table><tr><th>a * <br><i>b</i><th>c<tr><td>1<td>2</table>",
        "| a * <br> *b* | c |\n| --- | --- |\n| 1 | 2 |",
    );
    check(
        "<table><tr><td><h1>Layout</h1><td>side</table>",
        "# Layout\n\nside",
    );
    check(
        "<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>",
        "a\n\nb\n\nc\n\nd",
    );
    check(
        "<ul><li>x<table><tr><th>a<th>b<tr><td>1<td>2</table></ul>",
        "- x\n\n  | a | b |\n  | --- | --- |\n  | 1 | 2 |",
    );
}

#[test]
fn what_is_no_text_is_left_out() {
    check(
        "a<script>b()</script><style>c{}</style><template><p>d</template><textarea>e</textarea><svg><title>f</title></svg>\
         <select><option>g</select><noscript>h</noscript><iframe>i</iframe><!-- j -->k",
        "ak",
    );
    check("x<select><option>a</div>y</select>z", "xz");
    check("<title>t</title><body>b", "b");
}

#[test]
fn passages_are_slices_of_the_markdown() {
    let page = full_page(
        "<h1>Tea</h1><p>Green 🍵 tea.</p><h2>Kinds</h2><ul><li>one<li>two<ul><li>three</ul></ul><blockquote>said\
         </blockquote><pre>code</pre><table><tr><th>a<th>b<tr><td>c<td>茶</table>",
    );
    let levels: Vec<u8> = page.headings.iter().map(|heading| heading.level).collect();
    let found: Vec<_> = page
        .passages
        .iter()
        .map(|passage| {
            let path = passage.heading_path(&levels);
            (passage.kind, &page.markdown[passage.range()], path)
        })
        .collect();
    assert_eq!(
        found,
        [
            (PassageKind::Heading, "Tea", vec![]),
            (PassageKind::Paragraph, "Green 🍵 tea.", vec![0]),
            (PassageKind::Heading, "Kinds", vec![0]),
            (PassageKind::Item, "one", vec![0, 1]),
            (PassageKind::Item, "two", vec![0, 1]),
            (PassageKind::Item, "three", vec![0, 1]),
            (PassageKind::Quote, "said", vec![0, 1]),
            (PassageKind::Code, "```\ncode\n```", vec![0, 1]),
            (PassageKind::Row, "| a | b |", vec![0, 1]),
            (PassageKind::Row, "| c | 茶 |", vec![0, 1]),
        ]
    );
}

#[test]
fn of_very_many_blocks_the_last_are_one() {
    let page = full_page(&"<h2>x</h2><ul><li>y<pre>z</pre></ul><hr>".repeat(40_000));
    let count = |letter| page.markdown.matches(letter).count();
    assert_eq!(
        (count('x'), count('y'), count('z')),
        (40_000, 40_000, 40_000)
    );
    let blocks = page.markdown.matches("\n\n").count();
    assert!((16_000..19_000).contains(&blocks), "{blocks}");
    assert!(
        page.markdown
            .trim_end()
            .ends_with("x  \ny  \nz  \nx  \ny  \nz")
    );
}

//! Tests of the whole conversion: small pieces of HTML, whole pages beside their expected markdown, and pages made to
//! break it.

use std::fmt::Write as _;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

fn settings(kind: ContentKind) -> Settings {
    Settings {
        kind,
        url: Url::parse("https://example.org/docs/page").expect("a valid URL"),
        charset: None,
        full: true,
    }
}

fn convert(settings: Settings, bytes: &[u8]) -> Result<Page, ConvertError> {
    let mut converter = Converter::new(settings);
    converter.push(bytes)?;
    converter.finish()
}

pub(super) fn full_page(html: &str) -> Page {
    convert(settings(ContentKind::Html), html.as_bytes()).expect("the page converts")
}

/// The main content of a page.
fn main_page(html: &str) -> Page {
    let settings = Settings {
        full: false,
        ..settings(ContentKind::Html)
    };
    convert(settings, html.as_bytes()).expect("the page converts")
}

fn check(html: &str, expected: &str) {
    assert_eq!(full_page(html).markdown.trim_end(), expected, "{html}");
}

fn check_text(kind: ContentKind, text: &str, expected: &str) {
    let page = convert(settings(kind), text.as_bytes()).expect("the text converts");
    assert_eq!(page.markdown, expected, "{text:?}");
}

fn words(count: usize) -> String {
    "word ".repeat(count)
}

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
        "<dl><dt>Term<dd>Meaning<dt>Other<dd>Thing</dl>",
        "**Term**\n\nMeaning\n\n**Other**\n\nThing",
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
fn emphasis_stays_readable() {
    check("<b>a</b><b>b</b>", "**ab**");
    check("<b> a </b>b", "**a** b");
    check("<b>a <i>b</i></b>c", "**a *b***c");
    check("<b></b><i> </i>x", "x");
    check("<b><b>x</b></b>", "**x**");
    check("a<b>:b</b>", "a:**b**");
    check("<b>a:</b>b", "**a**:b");
    check("<b>a</b><b><i>:</i></b>b <b>(c)</b>d", "**a**:b (c)d");
    check("<i>a</i><b>b</b>", "*a***b**");
    check(
        "x<b><a href=/>y</a></b>z",
        "x[**y**](https://example.org/)z",
    );
    check("重<b>「要」</b>点", "重「**要**」点");
    check("<del>old</del> <s>older</s>", "~~old~~ ~~older~~");
    check("<b>a<p>b</b>", "**a**\n\n**b**");
    check(
        "10<sup>6</sup> 1<sup>st</sup> m<sup> 2</sup>",
        "10^6 1st m 2",
    );
    check("<b>x<i>y</b>z</i>w", "**x*y***zw");
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

#[test]
fn formulas() {
    let mathml =
        "<math><mi>a</mi><annotation encoding='application/x-tex'>a_1 &lt;b*c</annotation></math>";
    check(&format!("x {mathml}y"), "x $a_1 < b*c$y");
    check(
        &format!(
            "<span class=katex-display><span class=katex-mathml>{mathml}</span><span class=katex-html>a</span></span>z"
        ),
        "$$a_1 < b*c$$\n\nz",
    );
    check(
        "x <span class=MathJax_Preview>a</span><span class=MathJax>a</span><script type=math/tex>a &lt; b</script>.",
        "x $a &lt; b$.",
    );
    check(
        "x<script type='math/tex; mode=display'>\na\n</script>y",
        "x\n\n$$a$$\n\ny",
    );
    check(
        "x <mjx-container data-latex='\\alpha'><math><mi>α</mi></math></mjx-container>",
        "x $\\alpha$",
    );
    check(
        "x <mjx-container><mjx-math>drawn</mjx-math><mjx-assistive-mml><math><mfrac><mrow><mi>a</mi><mo>+</mo>\
         <mi>b</mi></mrow><msup><mi>c</mi><mn>2</mn></msup></mfrac></math></mjx-assistive-mml></mjx-container>",
        "x (a+b)/(c^2)",
    );
    check(
        "<b>x</b> <math><mspace/><msup><mi/><mi>a</mi></span></b></math>b <math><mi>c</mi> <p>d",
        "**x** ^ab c\n\nd",
    );
    check(
        "x <math><mi>a</mi><annotation-xml encoding=MathML-Content><apply><plus/><ci>a</ci></apply></annotation-xml><mo>+</mo><annotation/></math>y",
        "x a+y",
    );
    check(
        "x <math alttext='a^2'><mi>a</mi></math> <math alttext='a'><mi>a</mi></math>",
        "x $a^2$ a",
    );
    let wiki = "<img class=mwe-math-fallback-image-inline aria-hidden=true alt='{\\displaystyle x^{2}}' src=/x.svg>";
    check(&format!("w {wiki}"), "w $x^{2}$");
    check(
        &format!("w <math alttext='{{\\displaystyle x^{{2}}}}'><mi>x</mi></math>{wiki}"),
        "w $x^{2}$",
    );
    check(
        "<table><tr><th>a<th>b<tr><td><math alttext='\\|x|_2'><mi>x</mi></math><td>c</table>",
        "| a | b |\n| --- | --- |\n| $\\Vert x\\vert _2$ | c |",
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
        "a see the note^1",
    );
    check(
        "a<sup><a href='#fn1'>*</a></sup> <b><a href='#fn2'>2</a></b>",
        "a\\* **2**",
    );
}

#[test]
fn text_is_escaped_only_where_it_means_something() {
    check(
        "a*b_c_d __init__ 2 * 3 [x] ~5",
        "a\\*b_c_d \\_\\_init\\_\\_ 2 * 3 [x] ~5",
    );
    check(
        "&lt;div&gt; 1 &lt; 2 AT&amp;T &amp;amp; &amp;copy;",
        "\\<div> 1 < 2 AT&T &amp\\; &copy\\;",
    );
    check("[a](b) and [c]: d", "[a]\\(b) and [c]\\: d");
    check("C:\\dir \\* `x`", "C:\\dir \\\\\\* \\`x\\`");
    for (text, expected) in [
        ("# no heading", "\\# no heading"),
        ("#hashtag", "#hashtag"),
        ("1. no item", "1\\. no item"),
        ("2024 was", "2024 was"),
        ("- no item", "\\- no item"),
        ("+ no item", "\\+ no item"),
        ("* no item", "\\* no item"),
        ("> no quote", "\\> no quote"),
        ("--- no rule", "\\--- no rule"),
        ("| no | table", "\\| no | table"),
        ("=====", "\\====="),
    ] {
        check(&text.replace('>', "&gt;"), expected);
        check(
            &format!("x<br>{}", text.replace('>', "&gt;")),
            &format!("x  \n{expected}"),
        );
    }
}

#[test]
fn entities_are_decoded_once() {
    check(
        "&eacute;&#x41;&hellip;&notin; &amp;lt;b&amp;gt;",
        "éA…∉ &lt\\;b&gt\\;",
    );
    check(
        "<a href='/?a=1&amp;b=2'>x</a>",
        "[x](https://example.org/?a=1&b=2)",
    );
}

#[test]
fn links_and_images() {
    check(
        "<base href='/b/'><a href=x>x</a>",
        "[x](https://example.org/b/x)",
    );
    check("Hi!<a href=/x> y </a>z", "Hi! [y](https://example.org/x) z");
    check("Hi!<a href=/x>y</a>", "Hi\\![y](https://example.org/x)");
    check(
        "!<b><a href=/x>y</a></b>“z”",
        "\\![y](https://example.org/x)“z”",
    );
    check(
        "<a href='javascript:x()'>a</a> <a href='data:,x'>b</a> <a href='#c'>c</a>",
        "a b c",
    );
    check(
        "<a href='/a_(b)'>a</a> <a href='/a(b'>b</a>",
        "[a](https://example.org/a_(b)) [b](https://example.org/a%28b)",
    );
    check(
        "<a href=/x>[1] <b>two</b></a>",
        "[\\[1\\] **two**](https://example.org/x)",
    );
    check(
        "<a href=/x><div><h3>Card</h3><p>Text</p></div></a>",
        "### [Card](https://example.org/x)\n\nText",
    );
    check("<a href=/x></a>y", "y");
    check(
        "<a href=/x><img src=/i.png alt='An *image*'></a>y",
        "[![An \\*image\\*](https://example.org/i.png)](https://example.org/x)y",
    );
    check(
        "<img src='data:image/gif;base64,x' data-src=/lazy.png>y",
        "![](https://example.org/lazy.png)y",
    );
    check(
        "<img data-srcset='/s.png 1x, /l.png 2x'>y",
        "![](https://example.org/l.png)y",
    );
    check("<img src=/pixel.gif width=1 height=1>y", "y");
    check(
        "<picture><source srcset='/w.webp 2x'><img src='data:,' alt=a></picture>b",
        "![a](https://example.org/w.webp)b",
    );
    let real = "![a](https://example.org/i.png)";
    for html in [
        "<img src=data:,><noscript><img src=/i.png alt=a></noscript>",
        "<noscript><img src=/i.png alt=a></noscript><img src=/blank.gif class=lazy>",
        "<noscript><img src=/i.png alt=a></noscript><div><img data-src=/i-300.png></div>",
        "<img data-src=/i.png alt=a><noscript><img src=/i-300.png></noscript>",
        "<div><noscript><img src=/i.png alt=a></noscript></div>",
        "<img src=/i.png alt=a><noscript><img src=/i.png></noscript>",
        "<picture><source srcset='/w.webp 2x'><img src=/i.png alt=a></picture>",
    ] {
        check(
            &format!("{html}b"),
            &format!("{real}b").replace(
                ")b",
                if html.contains("<div>") && html.ends_with("</div>") {
                    ")\n\nb"
                } else {
                    ")b"
                },
            ),
        );
    }
    check(
        "<noscript><img height=1 width=1 style='display:none' src=/count></noscript>b",
        "b",
    );
    check(
        "<a href=/x title='A &quot;title&quot;'>y</a>",
        "[y](https://example.org/x \"A \\\"title\\\"\")",
    );
    check(
        "<figure><img src=/i.png><figcaption>Seen</figcaption></figure>",
        "![](https://example.org/i.png)\n\nSeen",
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
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| | 3 |",
    );
    check(
        "<table><tr><th>a<th>b<tr><td><p>x<p>y<td><ul><li>p<li>q</ul></table>",
        "| a | b |\n| --- | --- |\n| x<br>y | p<br>q |",
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

/// As long as text on a page is, so that it is known as such.
const STORY: [&str; 4] = [
    "The boats leave at dawn, when the tide is high enough to carry them over the bar. Each has a crew of three, and \
     the youngest of them has been at sea since she was twelve.",
    "They fish for herring in spring and for mackerel in summer. In winter the nets hang in the sheds behind the quay, \
     where the old men mend them and argue about the weather of other years.",
    "Nobody in the village owns a boat alone. The harbour society bought the first four in 1921, after a storm had sunk \
     the fleet, and every family holds a share that cannot be sold.",
    "What is caught is auctioned in the hall before noon. Two buyers come from the city, and whatever they leave is \
     smoked over beech wood the same afternoon.",
];

fn story() -> String {
    STORY.map(|text| format!("<p>{text}</p>")).concat()
}

/// What is left out brought its neighbours together, and text became markup.
#[test]
fn dropped_characters_hide_no_markup() {
    check("&lt;\u{13}script>a", "\\<script>a");
    check("&lt;\u{200b}!-- a", "\\<!-- a");
    check("&lt;\u{ad}\u{1b}/b>", "\\</b>");
    check("a*\u{200b} b", "a\\* b");
    check("1 &lt;\u{200b} 2", "1 < 2");
}

/// The backslash in front of the bracket was itself escaped, and the page had written a link.
#[test]
fn text_after_a_backslash_is_no_link() {
    check("[a\\](javascript:b)", "[a\\\\]\\(javascript:b)");
    check("[a\\\\](b)", "[a\\\\\\\\]\\(b)");
    check("[a](b)", "[a]\\(b)");
}

/// TeX is not escaped, so that a link in it was a link.
#[test]
fn formulas_hold_no_markup() {
    let formula = |tex: &str| format!("a<script type='math/tex'>{tex}</script>");
    check(&formula("[b](javascript:c)"), "a$[b] (javascript:c)$");
    check(&formula("b<!--c"), "a$b< !--c$");
}

#[test]
fn main_content_is_found() {
    let story = story();
    let page = main_page(&format!(
        "<title>The boats of Orrin - Harbour Notes</title>\
         <header><a href=/>Harbour Notes</a><nav><ul><li><a href=/>Home</a><li><a href=/about>About us</a></ul></nav></header>\
         <div class='cookie-banner'><p>We use cookies to improve your visit.</p><button>Accept</button></div>\
         <main><article><header><h1>The boats of Orrin</h1></header>{story}<div hidden>secret</div>\
         <p>The last boat is home by six <span class=sr-only>only heard</span>, and the bar closes behind it.</p>\
         <button>Click</button></article></main>\
         <aside><h3>See also</h3><ul><li><a href=/a>The net makers</a><li><a href=/b>The smokehouse</a></ul></aside>\
         <form>Sign up</form><footer><p>© Harbour Notes. <a href=/imprint>Imprint</a></p></footer>"
    ));
    let last = "The last boat is home by six , and the bar closes behind it.";
    assert_eq!(
        page.markdown,
        format!("# The boats of Orrin\n\n{}\n\n{last}\n", STORY.join("\n\n"))
    );

    let single = format!(
        "<div>Menu</div><article><header><h2>Head</h2></header>{story}</article><div>Related</div>"
    );
    let expected = format!("## Head\n\n{}\n", STORY.join("\n\n"));
    assert_eq!(main_page(&single).markdown, expected);
}

#[test]
fn selection_falls_back_to_the_page() {
    let text = words(80);
    let html = format!("<form><header><p>{text}</p></header></form><footer>end</footer>");
    assert_eq!(main_page(&html).markdown, format!("{}\n", text.trim()));
    assert_eq!(
        main_page("<nav>Only navigation</nav>").markdown,
        "Only navigation\n"
    );
    assert!(
        full_page("<nav>Menu</nav><main>Text</main>")
            .markdown
            .contains("Menu")
    );
}

#[test]
fn threads_served_to_readers_without_scripts_are_read() {
    let html = format!(
        "<div>Loading</div><noscript><h1>Thread</h1><p>{}</p></noscript>",
        words(80)
    );
    assert!(main_page(&html).markdown.starts_with("# Thread\n\nword"));
}

/// Where else a page's text may be, when its markup holds next to none.
#[test]
fn text_is_found_outside_of_the_markup() {
    let check = |rest: &str, source: ContentSource, expected: &str| {
        let html = format!("<title>Boats</title><body><div>Loading</div>{rest}");
        let page = main_page(&html);
        assert_eq!(page.source, source, "{html}");
        assert!(
            page.markdown.starts_with("# Boats\n\n"),
            "{}",
            page.markdown
        );
        assert!(page.markdown.contains(expected), "{}", page.markdown);
    };
    let story = STORY.join(" ");
    let json = |value: serde_json::Value| value.to_string();
    let article = |body: &str| {
        let item = json(serde_json::json!({"@type": "NewsArticle", "articleBody": body}));
        format!("<script type=application/ld+json>{item}</script>")
    };
    let state = |text: &str| json(serde_json::json!({"props": {"title": "x", "body": text}}));
    let from_json_ld = ContentSource::JsonLd;
    check(
        &article(&format!("{story}\n\nThe & end.")),
        from_json_ld,
        "\n\nThe & end.",
    );
    check(
        &article(&format!("<p>{story}</p><h2>The end</h2>")),
        from_json_ld,
        "\n\n## The end",
    );
    let next = format!(
        "<script id=__NEXT_DATA__ type=application/json>{}</script>",
        state(&story)
    );
    check(&next, ContentSource::AppState, "dawn");
    let nuxt = format!(
        "<script>window.__NUXT__={};</script>",
        state(&format!("<p>{story}</p><ul><li>end</ul>"))
    );
    check(&nuxt, ContentSource::AppState, "\n\n- end");
    let noscript = format!("<noscript><h1>Boats</h1><p>{story}</p></noscript>");
    check(&noscript, ContentSource::Noscript, "dawn");
    // The order, when there are several.
    check(
        &format!("{next}{noscript}"),
        ContentSource::Noscript,
        "dawn",
    );
    check(
        &format!("{next}{noscript}{}", article(&story)),
        from_json_ld,
        "dawn",
    );
    let description =
        "<meta name=description content='All the boats that leave the harbour at dawn'>";
    check(description, ContentSource::Description, "All the boats");
}

#[test]
fn the_page_itself_is_kept_unless_much_more_is_found() {
    let article = "<script type=application/ld+json>{\"@type\":\"Article\",\"articleBody\":\"Too short to gain.\"}</script>";
    let page = main_page(&format!("<title>Boats</title><p>{}{article}", words(20)));
    assert_eq!(page.source, ContentSource::Page);
    let same = format!(
        "<p>{}<script type=application/ld+json>{{\"articleBody\":\"{}\"}}</script>",
        words(200),
        words(210)
    );
    assert_eq!(main_page(&same).source, ContentSource::Page);
    let teaser = format!(
        "<p>{}<script type=application/ld+json>{{\"articleBody\":\"{}\"}}</script>",
        words(120),
        words(900)
    );
    assert_eq!(main_page(&teaser).source, ContentSource::JsonLd);
    let shell = "<title>App</title><div></div><script id=__NEXT_DATA__ type=application/json>{\"a\":\"b\"}</script>";
    let settings = Settings {
        full: false,
        ..settings(ContentKind::Html)
    };
    assert_eq!(
        convert(settings, shell.as_bytes()),
        Err(ConvertError::Empty)
    );
}

#[test]
fn metadata_is_collected() {
    let page = full_page(
        "<html lang=en-GB><head><title> A &amp; B </title><meta name=Description content='About it'>\
         <meta property=og:site_name content=Site><meta property=og:type content=article>\
         <meta property=article:published_time content=2024-05-06T07:08:09Z><meta property=og:image content=/i.png>\
         <meta name=keywords content='x, y,,x'><meta name=robots content='NoIndex, noarchive'>\
         <meta name=context402 content='noarchive, noai'><meta name=otherbot content=none>\
         <link rel=canonical href=/docs/page><link rel='shortcut icon' href=/f.ico>\
         <script type=application/ld+json>{\"@graph\":[{\"datePublished\":\"2020-01-01\",\n\"author\":[{\"name\":\"Ann Lee\"}]}]}</script>\
         </head><body><h1>Head</h1>text",
    );
    let some = |text: &str| Some(text.to_owned());
    let expected = Metadata {
        title: some("A & B"),
        description: some("About it"),
        author: some("Ann Lee"),
        site_name: some("Site"),
        published_at: some("2024-05-06T07:08:09Z"),
        modified_at: None,
        language: some("en-GB"),
        canonical_url: some("https://example.org/docs/page"),
        image: some("https://example.org/i.png"),
        favicon: some("https://example.org/f.ico"),
        kind: some("article"),
        keywords: vec!["x".to_owned(), "y".to_owned()],
        ..Metadata::default()
    };
    assert_eq!(page.metadata, expected);
    assert_eq!(page.meta_robots, ["noindex", "noarchive", "noai"]);
    assert_eq!(
        full_page("<h1>Only <b>this</b></h1>").metadata.title,
        some("Only this")
    );
}

#[test]
fn links_and_headings_are_listed() {
    let mut html =
        "<h2>One <code>two</code></h2><a href=/a rel='nofollow ugc'>first</a><a href=/a>again</a>\
                    <a href=mailto:a@example.org>mail</a>"
            .to_owned();
    for number in 0..300 {
        write!(html, "<p><a href=/{number}>{number}</a>").expect("writing to a string");
    }
    let page = full_page(&html);
    assert_eq!(
        page.headings,
        [Heading {
            level: 2,
            text: "One two".to_owned()
        }]
    );
    assert_eq!(page.links.len(), LINKS_MAX);
    let first = Link {
        text: "first".to_owned(),
        url: "https://example.org/a".to_owned(),
        rel: "nofollow ugc".to_owned(),
    };
    assert_eq!(page.links[0], first);
    assert_eq!(page.links[1].url, "https://example.org/0");
}

#[test]
fn warnings_say_what_to_doubt() {
    assert_eq!(full_page("few words").warnings, [Warning::ThinContent]);
    assert_eq!(full_page(&words(60)).warnings, []);
    let app = "<div id=root>App</div><noscript>Please enable JavaScript.</noscript>";
    assert_eq!(
        main_page(app).warnings,
        [Warning::ThinContent, Warning::JsRequired]
    );
    let chinese = "汉字".repeat(60);
    assert_eq!(full_page(&chinese).warnings, []);
}

#[test]
fn charsets() {
    let russian = "Сегодня в городе ожидается переменная облачность и небольшой дождь. ".repeat(10);
    let (bytes, _, _) = encoding_rs::WINDOWS_1251.encode(&russian);
    let guessed = convert(settings(ContentKind::Html), &bytes).expect("the page converts");
    assert_eq!(guessed.markdown.trim_end(), russian.trim_end());
    assert_eq!(guessed.warnings, [Warning::CharsetGuessed]);

    let declared = Settings {
        charset: Some("windows-1251".to_owned()),
        ..settings(ContentKind::Html)
    };
    assert_eq!(
        convert(declared, &bytes)
            .expect("the page converts")
            .warnings,
        []
    );

    let japanese = "<p>日本語のページ</p>";
    let (bytes, _, _) = encoding_rs::ISO_2022_JP.encode(japanese);
    let mut in_meta = b"<meta charset=iso-2022-jp>".to_vec();
    in_meta.extend_from_slice(&bytes);
    let page = convert(settings(ContentKind::Html), &in_meta).expect("the page converts");
    assert_eq!(page.markdown, "日本語のページ\n");

    let wide: Vec<u8> = std::iter::once(0xFEFF)
        .chain(japanese.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let page = convert(settings(ContentKind::Html), &wide).expect("the page converts");
    assert_eq!(page.markdown, "日本語のページ\n");
}

#[test]
fn markdown_passes_as_it_is() {
    check_text(
        ContentKind::Markdown,
        "\u{FEFF}# A\r\n\r\n* b\r\n\r\n\r\n",
        "# A\n\n* b\n",
    );
    let text = "# Top #\n\n```\n# code [x](/no)\n```\n\n## Sub\n[a](/x \"t\") ![i](/i.png) [b](https://b.example/)\n";
    let page =
        convert(settings(ContentKind::Markdown), text.as_bytes()).expect("the text converts");
    let absolute = text
        .replace("](/x", "](https://example.org/x")
        .replace("](/i", "](https://example.org/i");
    assert_eq!(page.markdown, absolute);
    assert_eq!(page.metadata.title.as_deref(), Some("Top"));
    let headings: Vec<_> = page
        .headings
        .iter()
        .map(|h| (h.level, h.text.as_str()))
        .collect();
    assert_eq!(headings, [(1, "Top"), (2, "Sub")]);
    let urls: Vec<_> = page.links.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(urls, ["https://example.org/x", "https://b.example/"]);
}

#[test]
fn markdown_is_left_without_scripts_and_html() {
    let check = |text: &str, expected: &str| check_text(ContentKind::Markdown, text, expected);
    check(
        "[a](javascript:alert(1)) [b](JaVa&#x73;cript:x)\n",
        "[a]() [b]()\n",
    );
    check(
        "![i](data:image/png;base64,x) <javascript:x> <https://b.example/>\n",
        "![i]()  <https://b.example/>\n",
    );
    check(
        "[a]: /x 'T'\n\nsee [a]: not\n",
        "[a]: https://example.org/x 'T'\n\nsee [a]: not\n",
    );
    check(
        "[a](<b c> \"t\") [d](e(f)g)\n",
        "[a](https://example.org/docs/b%20c \"t\") [d](https://example.org/docs/e(f)g)\n",
    );
    check(
        "<p align=center><a href=/x><img src='i.png' alt=\"A > B\"></a>one<br/>two <script>no()</script><!-- no --></p>\n",
        "[![A > B](https://example.org/docs/i.png)](https://example.org/x)one two \n",
    );
    check(
        "`<b>` 1 < 2 <3 \\<i> ``a ` <u>``\n",
        "`<b>` 1 < 2 <3 \\<i> ``a ` <u>``\n",
    );
    check(
        "text\n\n    <b>code</b>\n\n~~~\n<i>\n~~~\n",
        "text\n\n    <b>code</b>\n\n~~~\n<i>\n~~~\n",
    );
}

#[test]
fn text_of_old_systems_is_text() {
    check_text(
        ContentKind::PlainText,
        "a\rb\r\rc\u{7}\u{1b}[1md\u{c}e",
        "a\nb\n\nc[1md\ne\n",
    );
    let wide: Vec<u8> = "\u{FEFF}Grüße\r\n"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let page = convert(settings(ContentKind::PlainText), &wide).expect("the text converts");
    assert_eq!(page.markdown, "Grüße\n");
}

#[test]
fn plain_text_reads_like_the_text() {
    check_text(
        ContentKind::PlainText,
        "A line\nand *another*\n\n\n\n# 1\n",
        "A line\nand \\*another\\*\n\n\\# 1\n",
    );
    check_text(
        ContentKind::PlainText,
        "Table\n\n  a   b\n  ```\n\nend",
        "Table\n\n````\n  a   b\n  ```\n````\n\nend\n",
    );
}

#[test]
fn what_is_not_text_is_refused() {
    let refused = |bytes: &[u8]| convert(settings(ContentKind::Html), bytes).err();
    assert_eq!(refused(b"%PDF-1.7 ..."), Some(ConvertError::NotText));
    assert_eq!(refused(&[b'a', 0, b'b']), Some(ConvertError::NotText));
    assert_eq!(refused(&vec![0; 100_000]), Some(ConvertError::NotText));
    assert_eq!(refused(b""), Some(ConvertError::Empty));
    assert_eq!(
        refused(b" <p> <script>x</script><img src=/x.png>"),
        Some(ConvertError::Empty)
    );
    assert_eq!(
        convert(settings(ContentKind::PlainText), b" \n").err(),
        Some(ConvertError::Empty)
    );
}

#[test]
fn the_size_limit_is_exact() {
    let size = usize::try_from(PAGE_BYTES_MAX).expect("fits");
    let page = "a ".repeat(size / 2);
    let mut converter = Converter::new(settings(ContentKind::Html));
    converter
        .push(page.as_bytes())
        .expect("the limit itself passes");
    assert_eq!(converter.push(b"a"), Err(ConvertError::TooLarge));
    assert_eq!(converter.push(b""), Err(ConvertError::TooLarge));
    assert_eq!(converter.finish().err(), Some(ConvertError::TooLarge));
    let page =
        convert(settings(ContentKind::Html), page.as_bytes()).expect("the limit itself passes");
    assert_eq!(page.markdown.len(), size);
}

/// Pages made to exhaust time, memory or the stack. Each must end in an answer, and no answer may be much larger than
/// the page.
#[test]
fn bombs_end_in_an_answer() {
    let size = usize::try_from(PAGE_BYTES_MAX).expect("fits") / 20;
    let repeated = |piece: &str| piece.repeat(size / piece.len());
    let long_base = format!("<base href='/{}/'>", "b".repeat(1500));
    let bombs = [
        repeated("<div>"),
        repeated("<div>a"),
        repeated("<p><b>"),
        repeated("<b><div>"),
        repeated("<ul><li>"),
        repeated("<ul><li>a"),
        repeated("<blockquote>a<br>"),
        repeated("<table><tr><td>a"),
        repeated("<td>"),
        format!("<table>{}", repeated("<tr><td colspan=1000 rowspan=9999>x")),
        format!("<table><tr>{}", repeated("<td>a")),
        format!("<p {}>text", repeated("a=b ")),
        format!("<p class='{}'>text", repeated("token ")),
        format!("text<!--{}", repeated("x ")),
        format!("text<p title='{}", repeated("x ")),
        format!("<a href='{}'>text</a>", repeated("x")),
        format!("{long_base}{}", repeated("<a href=x>y</a>")),
        repeated("&amp;"),
        repeated("&am"),
        repeated("<"),
        repeated("</p></div>"),
        repeated("<svg><style>"),
        repeated("<a href=x>a<li>"),
        repeated("*_[`~"),
        repeated("<i>.</i>a"),
        repeated("<code>`"),
        repeated("<dl><dt>"),
        repeated("<x-y>"),
        format!("{}{}", words(200), repeated("\0")),
        format!("text<plaintext>{}", repeated("<p>")),
        format!("text<frameset>{}", repeated("<select><iframe>")),
        repeated("<pre><div>a"),
        repeated("<h1>a<br>"),
        repeated("<noscript><p>a</noscript>"),
        repeated("<title>a</title>"),
        repeated("<meta name=a content=b>"),
    ];
    for bomb in bombs {
        let name = &bomb[..bomb.len().min(60)];
        for full in [true, false] {
            let settings = Settings {
                full,
                ..settings(ContentKind::Html)
            };
            match convert(settings, bomb.as_bytes()) {
                // Addresses have a bound of their own.
                Ok(page) => assert!(
                    page.markdown.len() < 12 * size + 5 * 1024 * 1024,
                    "{name}: {}",
                    page.markdown.len()
                ),
                Err(error) => assert!(
                    matches!(error, ConvertError::Empty | ConvertError::OutOfMemory),
                    "{name}: {error}"
                ),
            }
        }
    }
}

/// Every folder in tests/pages holds a page and what it must give: `expected.md` is its main content, `full.md` all of
/// it, `expected.json` what else is known of it. `UPDATE_GOLDEN=1` writes those of the three that are there, so a new
/// page needs its `source.html` and an empty file.
#[test]
fn pages_convert_as_expected() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages"));
    let mut count = 0;
    let mut differences = String::new();
    for folder in std::fs::read_dir(&root).expect("the folder is there") {
        let folder = folder.expect("the folder can be read").path();
        let source = std::fs::read(folder.join("source.html")).expect("every folder has a page");
        let mut is_checked = false;
        for (name, full) in [
            ("expected.md", false),
            ("full.md", true),
            ("expected.json", false),
        ] {
            let golden = folder.join(name);
            let Ok(expected) = std::fs::read_to_string(&golden) else {
                continue;
            };
            let settings = Settings {
                full,
                ..settings(ContentKind::Html)
            };
            let page = convert(settings, &source).expect("the page converts");
            round_trip::check_again(&page.markdown);
            let found = match name {
                "expected.json" => beside_the_markdown(&page),
                _ => page.markdown,
            };
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&golden, found).expect("the golden file can be written");
            } else if found != expected {
                let path = golden.display();
                let _ = writeln!(differences, "{path} should be\n{expected}\nand is\n{found}");
            }
            is_checked = true;
        }
        assert!(is_checked, "{} expects nothing", folder.display());
        count += 1;
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(count >= 13, "{count} pages");
}

/// Where a page's markdown comes from, what to doubt, and what the page says of itself, as JSON.
fn beside_the_markdown(page: &Page) -> String {
    let about = &page.metadata;
    let codes = page.warnings.iter().map(|warning| warning.code());
    let mut value = serde_json::json!({
        "source": format!("{:?}", page.source),
        "warnings": codes.collect::<Vec<_>>(),
        "title": about.title,
        "description": about.description,
        "author": about.author,
        "site_name": about.site_name,
        "published_at": about.published_at,
        "modified_at": about.modified_at,
        "language": about.language,
        "canonical_url": about.canonical_url,
        "image": about.image,
        "favicon": about.favicon,
        "kind": about.kind,
        "keywords": about.keywords,
        "next": about.next,
        "previous": about.previous,
        "markdown_alternate": about.markdown_alternate,
        "json_ld_types": about.json_ld_types,
    });
    if let Some(fields) = value.as_object_mut() {
        let is_said =
            |value: &serde_json::Value| !value.is_null() && value != &serde_json::json!([]);
        fields.retain(|name, value| name == "warnings" || is_said(value));
    }
    format!("{value:#}\n")
}

/// A page put together from pieces that are hard to cut.
fn any_page() -> impl Strategy<Value = String> {
    const PIECES: [&str; 36] = [
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<ul>",
        "<li>",
        "</ul>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<pre>",
        "</pre>",
        "<code>",
        "</code>",
        "<a href='/x?a&amp;b'>",
        "</a>",
        "<blockquote>",
        "</blockquote>",
        "<h2>",
        "</h2>",
        "<br>",
        "&amp;lt;",
        "é漢",
        "word ",
        " * _x_ ",
        "[a](b)",
        "<script>a</script>",
        "<noscript>n</noscript>",
        "<img src=i.png alt='a&quot;b'>",
        "<!-- c -->",
        "\r\n",
    ];
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..60)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn chunk_boundaries_never_matter(html in any_page(), cuts in proptest::collection::vec(1usize..40, 1..20), full: bool) {
        let settings = Settings { full, ..settings(ContentKind::Html) };
        let whole = convert(settings.clone(), html.as_bytes());
        let mut converter = Converter::new(settings);
        let mut rest = html.as_bytes();
        for &cut in cuts.iter().cycle() {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            converter.push(now).expect("small pages are no problem");
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(converter.finish(), whole);
    }

    #[test]
    fn documents_are_tidy(html in any_page()) {
        // Code keeps its empty lines, and code with line breaks is a block of it.
        let html = html.replace("<pre>", "<p>").replace("<code>", "<b>");
        if let Ok(page) = convert(settings(ContentKind::Html), html.as_bytes()) {
            let text = &page.markdown;
            prop_assert!(text.ends_with('\n') && !text.ends_with("\n\n") && !text.starts_with('\n'));
            prop_assert!(!text.contains("\n\n\n"), "{}", text);
        }
    }

    #[test]
    fn any_bytes_end_in_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let whole = convert(settings(ContentKind::Html), &bytes);
        let mut converter = Converter::new(settings(ContentKind::Html));
        let pushed = bytes.iter().try_for_each(|byte| converter.push(&[*byte]));
        prop_assert_eq!(pushed.and_then(|()| converter.finish()), whole);
    }
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

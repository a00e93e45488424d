//! Text within a line: emphasis, links, formulas, and what is escaped.

use super::*;

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
        "x $\\frac{a+b}{c^2}$",
    );
    check(
        "<b>x</b> <math><mspace/><msup><mi/><mi>a</mi></span></b></math>b <math><mi>c</mi> <p>d",
        "**x** ${}^a$b c\n\nd",
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

/// A review found `(n/k)p^k` for a binomial coefficient.
#[test]
fn mathml_becomes_tex() {
    for (mathml, tex) in [
        (
            "<mrow><mo>(</mo><mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac><mo>)</mo></mrow><msup><mi>p</mi><mi>k</mi></msup>",
            r"\binom{n}{k}p^k",
        ),
        (
            "<mfenced><mfrac linethickness='0px'><mi>n</mi><mi>k</mi></mfrac></mfenced>",
            r"\binom{n}{k}",
        ),
        (
            "<mfrac linethickness=0.5px><mi>n</mi><mi>k</mi></mfrac>",
            r"\frac{n}{k}",
        ),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><msub><mi>x</mi><mi>i</mi></msub>",
            r"\sum_{i=1}^nx_i",
        ),
        (
            "<msubsup><mo>∫</mo><mn>0</mn><mi>∞</mi></msubsup><mi>f</mi>",
            r"\int_0^{\infty}f",
        ),
        (
            "<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder>",
            r"\lim_{x\to0}",
        ),
        (
            "<mo>[</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable><mo>]</mo>",
            r"\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}",
        ),
        (
            "<mo>|</mo><mi>x</mi><mo>|</mo><mo>=</mo><mrow><mo>{</mo><mtable><mtr><mtd><mi>x</mi></mtd><mtd><mtext>if </mtext><mi>x</mi><mo>≥</mo><mn>0</mn></mtd></mtr><mtr><mtd><mo>−</mo><mi>x</mi></mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>",
            r"|x|=\begin{cases} x & \text{if }x\ge0 \\ -x & \text{otherwise} \end{cases}",
        ),
        (
            "<mtable><mtr><mtd><mi>a</mi></mtd></mtr><mtr><mtd><mi>b</mi></mtd></mtr></mtable>",
            r"\begin{matrix} a \\ b \end{matrix}",
        ),
        (
            "<mroot><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>3</mn></mroot>",
            r"\sqrt[3]{a+b}",
        ),
        (
            "<msqrt><mi>a</mi><mo>+</mo><mn>1</mn></msqrt>",
            r"\sqrt{a+1}",
        ),
        (
            "<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>12</mn></msup>",
            "{(a)}^{12}",
        ),
        ("<msup><mi>f</mi><mo>′</mo></msup>", r"f^{\prime}"),
        (
            "<mover><mi>x</mi><mo>^</mo></mover><mo>·</mo><mover><mi>v</mi><mo>→</mo></mover>",
            r"\hat{x}\cdot\vec{v}",
        ),
        (
            "<munder><mrow><mi>a</mi><mi>b</mi></mrow><mo>⏟</mo></munder>",
            r"\underbrace{ab}",
        ),
        (
            "<munderover><mi>A</mi><mi>b</mi><mi>c</mi></munderover>",
            r"\underset{b}{\overset{c}{A}}",
        ),
        (
            "<mi>sin</mi><mi>x</mi><mo>⁡</mo><msup><mi>rank</mi><mn>2</mn></msup>",
            r"\sin x{\mathrm{rank}}^2",
        ),
        (
            "<mi>α</mi><mi>x</mi><mo>%</mo><mphantom><mi>q</mi></mphantom><mfrac><mn>1</mn><mn>2</mn></mfrac>",
            r"\alpha x\%\frac{1}{2}",
        ),
        (
            "<mfenced open='[' separators=';'><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfenced>",
            "[a;b^2)",
        ),
        // Parts are missing, or stand in no element.
        (
            "<mfrac><mi>a</mi></mfrac><msup><mi>b</mi><mn>2</mn></msup>",
            "ab^2",
        ),
        ("<msub><mi>a</mi>", "a"),
    ] {
        let expected = match tex.contains(['^', '_', '{']) {
            true => format!("x ${tex}$"),
            false => format!("x {tex}"),
        };
        check(&format!("x <math>{mathml}</math>"), &expected);
    }
    // No structure that text could not show.
    check("x <math><mi>α</mi><mo>≤</mo><mn>1</mn></math>", "x α≤1");
    // Too large to be written as TeX.
    let sum = "<msup><mi>a</mi><mn>2</mn></msup>".repeat(2_000);
    check(
        &format!("x <math>{sum}</math>"),
        &format!("x {}", "a2".repeat(2_000)),
    );
}

#[test]
fn text_is_escaped_only_where_it_means_something() {
    check(
        "a*b_c_d __init__ 2 * 3 [x] ~5",
        "a\\*b_c_d \\_\\_init__ 2 * 3 [x] ~5",
    );
    check("40 %* a__b ***** c", "40 %\\* a__b ***** c");
    check("by: ____, on: ____ here", "by: \\_\\_\\_\\_, on: ____ here");
    check("a ~~~~~ b", "a \\~~~~~ b");
    check("***", "\\*\\*\\*");
    check("a<br>____ b<br>*** <br>c", "a  \n____ b  \n\\***  \nc");
    // What was closed right before would be longer.
    check("<b>a</b>* b", "**a**\\* b");
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
    // Not twice.
    check(
        "at <a href='https://example.org/a_b'>https://example.org/a_b</a>.",
        "at <https://example.org/a_b>.",
    );
    check(
        "<a href='https://example.org/a' title=More><b>https://example.org/a</b></a>",
        "[**https://example.org/a**](https://example.org/a \"More\")",
    );
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

/// What is left out brought its neighbours together, and text became markup.
#[test]
fn dropped_characters_hide_no_markup() {
    check("&lt;\u{13}script>a", "\\<script>a");
    check("&lt;\u{200b}!-- a", "\\<!-- a");
    check("&lt;\u{ad}\u{1b}/b>", "\\</b>");
    check("a*\u{200b} b", "a\\* b");
    check("a_\u{200b} b", "a_ b");
    check("a_\u{200b}_ b", "a\\_\\_ b");
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

/// Style sheets show them apart: `Price12` and `AuthorJane` were no words.
#[test]
fn a_label_is_parted_from_its_value() {
    check("<span class=k>Price</span><span>12 €</span>", "Price 12 €");
    check("<span>Author</span><b class=v>Jane</b>", "Author **Jane**");
    check(
        "<a class=tag href=/a>Gates</a><a href=/b>Fences</a>",
        "[Gates](https://example.org/a) [Fences](https://example.org/b)",
    );
    check(
        "<p><b><span class=k>Rated</span></b><span class=i></span><span class=v><i>5</i></span>",
        "**Rated** *5*",
    );
    check("<span class=k>12</span><time>May</time>", "12 May");
    // Words and numbers that are split.
    for (html, text) in [
        ("<span class=a>F</span><span class=b>ences</span>", "Fences"),
        ("<span class=a>ga</span><span class=b>te</span>", "gate"),
        ("<span class=a>1</span><span class=b>2</span>", "12"),
        ("<span class=a>1</span><span class=b>st</span>", "1st"),
        ("<span class=a>A</span><span class=b>4</span>", "A4"),
        ("<span>You</span><span>Tube</span>", "YouTube"),
        ("<i>You</i><b>Tube</b>", "*You***Tube**"),
        ("i<b class=a>Phone</b>", "i**Phone**"),
        ("<span class=a>x</span><sup class=b>2</sup>", "x^2"),
        ("<span class=a>x</span><sub class=b>2</sub>", "x2"),
        ("<span class=a>x</span><wbr><span class=b>Y</span>", "xY"),
        ("<span class=a>x</span>y<span class=b>Y</span>", "xyY"),
        ("<code><i class=a>x</i><i class=b>Y</i></code>", "`xY`"),
        ("<p><span class=a>x<p><span class=b>Y", "x\n\nY"),
    ] {
        check(html, text);
    }
}

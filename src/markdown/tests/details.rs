//! What stands beside the words of a page and changes what they say: icons, exponents, buttons, labels, small pictures.

use super::*;

/// The main content of a page that is long enough to be selected from.
fn check_main(html: &str, expected: &str) {
    let before = "The harbour was dredged for the third time in 1932, when the trade in coal was at its height, and the \
                  council feared that larger vessels would go to the new docks instead.";
    let after = "Today the quay is mostly used by visitors, who come for the smokehouse and for the museum in the old \
                 customs building, which opened its doors to the public in 1987.";
    let page = format!("<article><p>{before}</p>{html}<p>{after}</p></article>");
    let markdown = main_page(&page).markdown;
    let inside = markdown
        .strip_prefix(before)
        .and_then(|rest| rest.trim_end().strip_suffix(after));
    assert_eq!(inside.map(str::trim), Some(expected), "{html}\n{markdown}");
}

/// A table of features had empty cells where its icons said yes and no.
#[test]
fn cells_say_what_their_icons_are_called() {
    check_main(
        "<table><tr><th>Feature<th>Free<th>Pro<tr><td>SSO\
         <td><i class=fa aria-hidden=true></i><span class=sr-only>No</span>\
         <td><i class=fa aria-hidden=true></i><span class=sr-only>Yes</span>\
         <tr><td>API<td><svg aria-label='Not included'></svg><td><svg role=img><title>Included</title><g/></svg>\
         <tr><td>Seats<td>1<td><span class=sr-only>about</span> 10</table>",
        "| Feature | Free | Pro |\n| --- | --- | --- |\n| SSO | No | Yes |\n| API | Not included | Included |\n| Seats | 1 | 10 |",
    );
}

/// A shop hid both forms of its prices, one from eyes and one from screen readers.
#[test]
fn of_two_forms_of_a_text_one_is_read() {
    check_main(
        "<p>Price <del aria-hidden=true><span>€299</span></del> <span class=screen-reader-text>before: €299.</span> \
         <ins aria-hidden=true>€249</ins><span class=screen-reader-text>Now: €249.</span> with tax.</p>",
        "Price before: €299. Now: €249. with tax.",
    );
    check_main(
        "<p>It was given <span class=sr-only>4 of 5 stars</span><span aria-hidden=true>4/5</span> by guests.</p>",
        "It was given 4 of 5 stars by guests.",
    );
    check_main(
        "<p>Read it <a href=/x>there<i aria-hidden=true></i><span class=sr-only>(new window)</span></a> today.</p>",
        "Read it [there](https://example.org/x) today.",
    );
    check_main(
        "<p>One <span aria-hidden=true>1</span></p><p><span class=sr-only>only heard</span> and two of them.</p>",
        "One\n\nand two of them.",
    );
}

#[test]
fn exponents_and_indices() {
    check(
        "O(2<sup>n</sup>), x<sup>n+1</sup>, y<sup>2k</sup>, e<sup>x</sup>, 10<sup>6</sup>, 1<sup>st</sup>, X<sup>TM</sup>",
        "O(2^n), x^(n+1), y^(2k), e^x, 10^6, 1st, XTM",
    );
    check(
        "a<sub>i+1</sub> a<sub>i</sub> 101<sub>2</sub> H<sub>2</sub>O CO<sub>2</sub> NO<sub>x</sub>",
        "a_(i+1) a_i 101_2 H2O CO2 NOx",
    );
    check(
        "<i>x</i><sup><i>n</i></sup> and <i>a</i><sub>i</sub>",
        "*x*^n and *a*\\_i",
    );
    check(
        "a<sup><a href=/x>1</a></sup> b<sup>a longer text than any exponent</sup>",
        "a^[1](https://example.org/x) ba longer text than any exponent",
    );
    check("a<sup>n<p>b</p></sup>", "an\n\nb");
    check("<code>2<sup>n</sup></code>", "`2n`");
}

#[test]
fn formulas_between_delimiters_stay_as_they_are() {
    check(
        r"<p>For \(a_1 * b_2\) and \(x^2_{i} &lt; y\) we have \[ \sum_{i=1}^{n} a_i \] and $$F_{1} * G_2$$ there.",
        r"For $a_1 * b_2$ and $x^2_{i} < y$ we have $$\sum_{i=1}^{n} a_i$$ and $$F_{1} * G_2$$ there.",
    );
    check("It costs $5 or $6 and $$.", "It costs $5 or $6 and $$.");
    check("<code>\\(a_1\\)</code>", "`\\(a_1\\)`");
}

/// Each struct of a reference had "Copy item path" as a heading.
#[test]
fn buttons_are_no_part_of_a_heading() {
    check_main(
        "<h2>Struct Skip<button>Copy item path</button></h2><p>An iterator that skips over the ships in it.</p>",
        "## Struct Skip\n\nAn iterator that skips over the ships in it.",
    );
    check_main(
        "<h2>Names <a href='#top'><span>top</span></a></h2><p>The master keeps the list of the names.</p>\
         <h3>Section <a class=edit href=/edit>[edit]</a></h3><p>More text about the ships and their names.</p>",
        "## Names\n\nThe master keeps the list of the names.\n\n### Section\n\nMore text about the ships and their names.",
    );
}

#[test]
fn buttons_and_questions_about_the_page_are_left_out() {
    check_main(
        "<p>Run the installer of the harbour office on each of the machines.</p><button>Copy</button>\
         <button>show more</button><p>Was this page helpful?</p><button>Yes</button><button>No</button>",
        "Run the installer of the harbour office on each of the machines.",
    );
}

#[test]
fn code_in_a_cell_leaves_the_table_whole() {
    check(
        "<table><tr><th>Option<th>Example<tr><td>proxy<td><pre><code class=language-yaml>proxy:\n  host: a|b\n</code></pre>\
         <tr><td>cache<td>Use <code>on</code></table>",
        "| Option | Example |\n| --- | --- |\n| proxy | `proxy:`<br>`  host: a\\|b` |\n| cache | Use `on` |",
    );
    // A table that arranges the page.
    check(
        "<table><tr><td>a<td><pre>b</pre><tr><td>c<td>d</table>",
        "a\n\n```\nb\n```\n\nc\n\nd",
    );
}

#[test]
fn pictures_of_emoji_are_the_sign_that_they_stand_for() {
    check(
        "So <img class=wp-smiley alt='😀' src=/1.svg> and <img class=emoji alt='🎉' src=/2.svg>!",
        "So 😀 and 🎉!",
    );
    check_main(
        "<p>A face <img class=emoji alt=':x:' src=/1.svg> and <img src=/s.gif height=1 width=40> a spacer before it.</p>",
        "A face and a spacer before it.",
    );
}

#[test]
fn languages_of_code_are_found_where_sites_write_them() {
    check("<pre lang=sh><code>a</code></pre>", "```sh\na\n```");
    check("<pre lang=de>a</pre>", "```\na\n```");
    check("<pre><code language=yaml>a</code></pre>", "```yaml\na\n```");
    check(
        "<div data-language=toml><pre><code>a</code></pre></div>",
        "```toml\na\n```",
    );
    check(
        "<pre data-syntaxhighlighter-params='brush: bash; gutter: false'>a</pre>",
        "```bash\na\n```",
    );
    check_main(
        "<p>The port is given in this way in the file:</p><div class=language-js><button class=copy></button>\
         <span class=lang>js</span><pre><code>let port = 1;</code></pre></div>",
        "The port is given in this way in the file:\n\n```js\nlet port = 1;\n```",
    );
}

#[test]
fn protected_mail_addresses_are_read() {
    check(
        "Mail <a href='/cdn-cgi/l/email-protection#543127353a3c352d142c7a3b2633'>\
         <span data-cfemail=543127353a3c352d142c7a3b2633>[email&#160;protected]</span></a>, \
         <a href='/cdn-cgi/l/email-protection' data-cfemail=543127353a3c352d142c7a3b2633>[email protected]</a> now",
        "Mail [esanhay@x.org](mailto:esanhay@x.org), [esanhay@x.org](mailto:esanhay@x.org) now",
    );
}

#[test]
fn lists_are_lettered_where_the_page_letters_them() {
    check(
        "<ol type=a><li>one<li><p>two</p><ol type=i start=3><li>three<li>four</ol></ol>",
        "- (a) one\n- (b) two\n  - (iii) three\n  - (iv) four",
    );
    check(
        "<ol style='list-style-type: upper-alpha' start=27><li>one<li></ol>two",
        "- (AA) one\n\ntwo",
    );
    check("<ol type=1><li>one</ol>", "1. one");
}

#[test]
fn pronunciations_stand_in_brackets() {
    check(
        "首都は<ruby>東京<rt>とうきょう</rt></ruby>です",
        "首都は東京(とうきょう)です",
    );
    check(
        "<ruby>東<rt>とう<rt>x</ruby>a <ruby>京<rp>(</rp><rt>きょう</rt><rp>)</rp></ruby>b",
        "東(とう)(x)a 京(きょう)b",
    );
}

#[test]
fn neighbours_that_are_shown_apart_are_parted() {
    check(
        "<span class=n>205</span><span class=n>(1)</span><span class=t>In this Act</span>",
        "205 (1) In this Act",
    );
    check(
        "<span class=verb>POST</span><span class=path>/v1/charges</span>",
        "POST /v1/charges",
    );
    check(
        "<span class=c>API</span><span class=s>Operational</span>",
        "API Operational",
    );
    check(
        "<span class=t>[3]</span><span class=b>Author 3.</span><span class=b>On the station.</span>",
        "[3] Author 3. On the station.",
    );
    check(
        "<label for=a>npm</label><label for=b>pnpm</label>",
        "npm pnpm",
    );
    check(
        "<span class=f>log2</span><span class=p>(</span>x)",
        "log2(x)",
    );
}

/// A ticket for 12.50 euros cost 1250.
#[test]
fn the_small_part_of_a_price_stands_behind_a_point() {
    check(
        "€<span class=int>12</span><span class=cents>50</span> a day",
        "€12.50 a day",
    );
    check("<b>$19<span class=x-cents>99</span></b>", "**$19.99**");
    // Perhaps ten percent off.
    check("$120<span class=x>10</span>%", "$120 10%");
    check("€1,299<sup>00</sup>", "€1,299.00");
    check(
        "<span class=whole>12</span><span class=price-fraction>50</span> €",
        "12.50 €",
    );
    // Whole already, or no price.
    check("$19.<span class=x>99</span>", "$19.99");
    check("$1.99<span class=x>10</span>", "$1.9910");
    check("$1<span class=x>000</span>", "$1000");
    check("<span class=d>4</span><span class=d>12</span>", "412");
}

#[test]
fn elements_with_a_line_of_their_own_have_one() {
    check(
        "<p>Now <span style='display: block'>First line</span><span style='DISPLAY:flex'>Second line</span> end",
        "Now  \nFirst line  \nSecond line  \nend",
    );
    check(
        "<pre><code><span class=line style='display:block'>let a = 1;</span><span class=line style='display:block'>\
         <i>  </i>let b = 2;\n</span><span style='display:block'>let c = 3;</span></code></pre>",
        "```\nlet a = 1;\n  let b = 2;\nlet c = 3;\n```",
    );
    check("<p>In<span style='display:inline-block'>line", "Inline");
}

#[test]
fn tables_of_contents_are_left_out() {
    let contents = |class: &str, links: &str| {
        format!("<nav class='{class}'><p>Contents</p><ul>{links}</ul></nav><h2 id=a>The trade</h2>")
    };
    let links = "<li><a href='#a'>The trade</a><li><a href='#b'>The channel</a>";
    check_main(&contents("toc", links), "## The trade");
    let builder = outline(&contents(
        "toc",
        &format!("{links}<li><a href=/x>Elsewhere</a>"),
    ));
    assert_eq!(builder.blocks.len(), 5);
    let builder = outline(&contents("list", links));
    assert_eq!(builder.blocks.len(), 4);
}

/// A wiki's notices to its editors and its boxes of links were read as its text.
#[test]
fn what_a_wiki_puts_around_its_text_is_left_out() {
    check_main(
        "<table class='metadata ambox'><tr><td>This article needs citations.</table><p>The cone is steep and old, and \
         nobody lives near it.</p><ol><li id=cite_note-1><span class=mw-cite-backlink>^ <a href='#cite_ref-1'>a</a></span> \
         Smith, John: Mountains of the coast, and who climbed them.</ol><div class=navbox><ul><li><a href=/a>Alpha</a></ul></div>\
         <div class=printfooter>Retrieved from <a href=/x>here</a></div>",
        "The cone is steep and old, and nobody lives near it.\n\n1. Smith, John: Mountains of the coast, and who climbed them.",
    );
}

#[test]
fn rows_with_headers_of_their_own_have_an_empty_head() {
    check(
        "<table><tr><th>Depth<td>7 m<tr><th>Length<td>420 m</table>",
        "| | |\n| --- | --- |\n| Depth | 7 m |\n| Length | 420 m |",
    );
    check(
        "<table><tr><th>Depth<th>Length<tr><th>7 m<td>420 m</table>",
        "| Depth | Length |\n| --- | --- |\n| 7 m | 420 m |",
    );
}

#[test]
fn lists_in_cells_keep_their_marks() {
    check(
        "<table><tr><th>a<th>b<tr><td>Sync<td><ul><li>fast<li>safe<ul><li>very</ul></ul>\
         <tr><td>Push<td><p>Steps:</p><ol><li>open<li>push</ol></table>",
        "| a | b |\n| --- | --- |\n| Sync | • fast<br>• safe<br>◦ very |\n| Push | Steps:<br>1. open<br>2. push |",
    );
}

/// Points of laws stood below their numbers.
#[test]
fn points_stand_behind_their_numbers() {
    check(
        "<table><tr><td><p>(a)</p><td><p>the person has agreed to it;</p></table>\
         <dl><dt>1.<dd><div>goods that are made to order,</div><dt>2.<dd>goods that spoil.</dl><dl><dt>Term<dd>A text.</dl>",
        "(a) the person has agreed to it;\n\n1. goods that are made to order,\n\n2. goods that spoil.\n\n**Term**\n\nA text.",
    );
}

#[test]
fn prices_and_boxes() {
    check(
        "Regular price<s class=price>$159.00</s> and ca$h",
        "Regular price ~~$159.00~~ and ca$h",
    );
    check(
        "<ul><li data-inline-task-id=1 class=checked>Tell them<li data-inline-task-id=2>Watch</ul>",
        "- [x] Tell them\n- [ ] Watch",
    );
    check(
        "<ul><li><span><input type=checkbox class=recipe-box></span>1 cup flour</ul>",
        "- 1 cup flour",
    );
}

/// A heading that leads to the table of contents lost its text.
#[test]
fn headings_that_lead_back_to_the_contents_are_read() {
    check_main(
        "<section id=state><h2><a class=toc-backref href='#id9' role=doc-backlink>Current state</a><a class=headerlink \
         href='#state'>¶</a></h2><p>The harbour is closed, and will be until the spring of the next year.</p></section>",
        "## Current state\n\nThe harbour is closed, and will be until the spring of the next year.",
    );
}

#[test]
fn notes_are_found_by_their_role() {
    check_main(
        "<p>The tonnage fell by half <a href='#id3' id=id2 role=doc-noteref><span class=fn-bracket>[</span>1<span \
         class=fn-bracket>]</span></a> in that year, when the docks opened.</p><aside id=id3 role=doc-footnote><span><span \
         class=fn-bracket>[</span><a role=doc-backlink href='#id2'>1</a><span class=fn-bracket>]</span></span><p>Port register \
         of 1933, which the office still has.</p></aside>",
        "The tonnage fell by half [^1] in that year, when the docks opened.\n\n[^1]: Port register of 1933, which the office still has.",
    );
}

#[test]
fn tables_of_other_elements_are_tables() {
    check(
        "<div role=table><div role=rowgroup><div role=row><div role=columnheader>Key</div><div role=columnheader>Meaning</div>\
         </div></div><div role=row><div role=cell>port</div><div role=cell><div>The port</div></div></div></div>a<div role=row>b</div>",
        "| Key | Meaning |\n| --- | --- |\n| port | The port |\n\na\n\nb",
    );
}

/// The model would take them for links to other pages.
#[test]
fn players_between_the_text_are_kept() {
    check_main(
        "<div class=video><iframe src=https://www.youtube.com/embed/abc title='The harbour in 1932'></iframe></div>",
        "[The harbour in 1932](https://www.youtube.com/watch?v=abc)",
    );
    check_main(
        "<figure><video controls><source src=/film.mp4></video></figure>",
        "[Video](https://example.org/film.mp4)",
    );
    check_main(
        "<nav><iframe src=https://www.youtube.com/embed/abc></iframe></nav>",
        "",
    );
}

/// A price that a style struck out read as one more price: "3 2 euros".
#[test]
fn styles_that_say_something_are_read() {
    check_main(
        "<p>Students pay <span style='color: red; TEXT-DECORATION: line-through'>3</span> 2 euros.</p>",
        "Students pay ~~3~~ 2 euros.",
    );
    check_main(
        "<p>It is <span style='font-weight:700'>not <span>free</span> of</span> <span>charge</span> \
         <font style='font-weight: bold !important'>today</font>.</p>",
        "It is **not free of** charge **today**.",
    );
    check_main(
        "<p><b style='font-weight:normal'>It was <span style='font-weight: 400'>pasted</span> from a \
         <b>document</b>.</b></p>",
        "It was pasted from a **document**.",
    );
    // Titles are bold anyway.
    check_main(
        "<h3><span style='font-weight:700'>The <span>quay</span></span></h3><p>It is in the south.</p>",
        "### The quay\n\nIt is in the south.",
    );
    // The end tag of a styled element is missing.
    check_main(
        "<p>It <span style='font-weight:bold'>is</p><p>here</span> now.</p>",
        "It **is**\n\nhere now.",
    );
}

#[test]
fn the_title_of_what_can_be_opened_is_bold() {
    check_main(
        "<details><summary>When does it close?</summary><p>The museum closes at six in the evening.</p></details>\
         <details><summary><h3>Which quay is it?</h3></summary><p>It is the quay in the south.</p></details>",
        "**When does it close?**\n\nThe museum closes at six in the evening.\n\n### Which quay is it?\n\n\
         It is the quay in the south.",
    );
}

/// The commands for three systems stood below each other, and nobody could tell which was for which.
#[test]
fn panels_begin_with_the_names_of_their_tabs() {
    let panels = |attributes: [&str; 2], first: &str| {
        format!(
            "<div role=tabpanel {}>{first}<p>The quay is open from six to ten.</p></div>\
             <div role=tabpanel {}><p>The quay is open from nine to four.</p></div>",
            attributes[0], attributes[1]
        )
    };
    let tabs = "<div role=tablist><button role=tab id=s aria-controls=a>Summer</button>\
                <button role=tab id=w aria-controls=b><span>Winter</span></button></div>";
    let (summer, winter) = (
        "The quay is open from six to ten.",
        "The quay is open from nine to four.",
    );
    let named = format!("**Summer**\n\n{summer}\n\n**Winter**\n\n{winter}");
    check_main(&format!("{tabs}{}", panels(["", ""], "")), &named);
    check_main(&format!("{tabs}{}", panels(["", "hidden"], "")), &named);
    check_main(
        &format!("{tabs}{}", panels(["aria-labelledby=w", "id=a"], "")),
        &format!("**Winter**\n\n{summer}\n\n**Summer**\n\n{winter}"),
    );
    // As shops do: the panel has its name as its heading.
    check_main(
        &format!("{tabs}{}", panels(["", ""], "<h2>Summer</h2>")),
        &format!("## Summer\n\n{summer}\n\n**Winter**\n\n{winter}"),
    );
    // As MkDocs does.
    check_main(
        &format!(
            "<div class=tabbed-labels><label for=__tabbed_1_1>Summer</label><label for=__tabbed_1_2>Winter</label></div>\
             <div class=tabbed-content><div class=tabbed-block><p>{summer}</p></div>\
             <div class=tabbed-block><p>{winter}</p></div></div>"
        ),
        &format!("Summer Winter\n\n{named}"),
    );
}

#[test]
fn panels_without_text_have_no_name() {
    let page = full_page(
        "<div role=tablist><a role=tab>One</a> <a role=tab>Two</a></div>\
         <div role=tabpanel></div><div role=tabpanel><p>Text</p></div><div role=tabpanel><p>More</p></div>",
    );
    assert_eq!(page.markdown, "One Two\n\n**Two**\n\nText\n\nMore\n");
}

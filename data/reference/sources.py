"""Where real reference pages come from: Debian's documentation packages, and what is known of each generator's pages.

`main` is the XPath of the elements that hold the page's content, in order of preference. `beside` names what is in them
but is navigation (never wanted). `neutral` may be kept or left out: tables of contents, marks beside headings.
`signatures` are the declarations that a reader looks up.
"""
import dataclasses


def cls(*names):
    """An XPath condition: one of these classes."""
    return "(" + " or ".join(f"contains(concat(' ',normalize-space(@class),' '),' {name} ')" for name in names) + ")"


@dataclasses.dataclass(frozen=True)
class Source:
    package: str
    generator: str
    paths: str
    main: tuple
    beside: tuple = ()
    neutral: tuple = ()
    signatures: str = ""
    without: str = r"(?!)"


SPHINX = dict(
    main=("//div[@role='main']", "//main", f"//div[{cls('body')}]"),
    beside=(f".//a[{cls('headerlink', 'viewcode-link')}]",),
    neutral=(f".//nav[{cls('contents')}]", f".//div[{cls('contents', 'topic', 'toctree-wrapper')}]", f".//*[{cls('viewcode-back')}]", f".//div[{cls('rst-breadcrumbs-buttons')}]"),
    signatures=f".//dt[{cls('sig', 'descname')}]",
    without=r"genindex|search\.html|_modules/|contents\.html|/py-modindex",
)
DOCBOOK = dict(
    main=("//body",),
    beside=(f".//div[{cls('navheader', 'navfooter', 'spirit-nav')}]", f".//table[{cls('navigation')}]", f".//*[{cls('copyright-footer')}]"),
    neutral=(f".//div[{cls('toc', 'titlepage_toc', 'list-of-tables', 'list-of-examples')}]", f".//p[{cls('last-revised')}]"),
    signatures=f".//*[{cls('cmdsynopsis', 'synopsis', 'funcsynopsis')}]",
)
GTKDOC = dict(
    main=("//body",),
    beside=(f".//table[{cls('navigation')}]", f".//div[{cls('footer')}]", f".//td[{cls('listing_lines')}]", ".//*[@id='top']"),
    neutral=(f".//div[{cls('toc')}]", f".//div[{cls('shortcuts')}]"),
    signatures=f".//div[{cls('refsect2')}]/pre[{cls('programlisting')}]",
)
GIDOCGEN = dict(
    main=("//section[@id='main']/section", "//section[@id='main']"),
    beside=(f".//a[{cls('anchor', 'srclink')}]", f".//button"),
    neutral=(".//*[@id='results' or @id='search']", f".//div[{cls('toggle-wrapper')}]/h4", f".//*[{cls('emblem')}]"),
    signatures=f".//div[{cls('docblock')}]/pre | .//pre[{cls('highlight')}]",
)
DOXYGEN = dict(
    main=(f"//div[{cls('contents')}]",),
    beside=(f".//div[{cls('directory', 'ttc')}]", f".//*[{cls('permalink')}]", f".//address"),
    neutral=(f".//div[{cls('toc', 'dynheader', 'dyncontent')}]", f".//span[{cls('lineno', 'mlabels')}]", f".//div[{cls('fragment')}]//a[@name]", f".//*[{cls('mlabel')}]"),
    signatures=f".//table[{cls('memname')}]",
    without=r"_source\.html|annotated|classes\.html|functions|globals|hierarchy|files\.html|search/|namespacemembers|inherits|dir_|-members\.html|graph_legend|examples/",
)
JAVADOC = dict(
    main=("//main",),
    beside=(".//nav", ".//button", ".//footer"),
    neutral=(f".//div[{cls('sub-title', 'table-tabs')}]", ".//noscript"),
    signatures=f".//div[{cls('member-signature', 'type-signature')}] | .//section[{cls('detail', 'description')}]/pre | .//ul[{cls('blockList')}]/li/pre",
    without=r"class-use|index-files|package-tree|overview-tree|allclasses|package-use|/help-doc|index-all|deprecated-list|serialized|constant-values",
)
TEXINFO = dict(
    main=("//body",),
    beside=(f".//div[{cls('header', 'nav-panel')}]", ".//*[@id='SEC_Contents' or @id='SEC_Shortcontents']", ".//table[@class='header']", ".//table[@cellpadding='1' and @cellspacing='1' and @border='0']", ".//a[@class='copiable-anchor' or @class='copiable-link']"),
    neutral=(f".//div[{cls('contents', 'shortcontents', 'Contents_element')}]", f".//table[{cls('menu')}]", f".//ul[{cls('section-toc', 'mini-toc')}]", ".//a[@class='summary-letter']", ".//hr"),
    signatures=f".//dt[@class='def-line' or starts-with(@id,'index-')]",
    without=r"Index|_toc|Concept",
)
HADDOCK = dict(
    main=("//div[@id='content']",),
    beside=(f".//a[{cls('link', 'selflink')}]", f".//*[{cls('fixity-placeholder')}]"),
    neutral=(".//*[@id='table-of-contents']", f".//table[{cls('info')}]", ".//*[@id='synopsis']", f".//*[{cls('instances')}]", f".//*[{cls('instance')}]", f".//details[{cls('instances')}]"),
    signatures=f".//p[{cls('src')}]",
    without=r"/src/|doc-index|/index\.html",
)

SOURCES = [
    Source("rust-doc", "rustdoc", r"html/(std|core|alloc)/.*\.html", ("//section[@id='main-content']",),
           beside=(f".//*[{cls('srclink', 'src', 'rightside', 'out-of-band')}]", ".//*[@id='copy-path']", ".//*[@id='toggle-all-docs']", f".//a[{cls('anchor', 'test-arrow')}]"),
           neutral=(f".//*[{cls('notable-traits', 'tooltip', 'sidebar')}]", f".//*[{cls('since', 'portability')}]"),
           signatures=f".//*[{cls('code-header')}] | .//div[{cls('item-decl', 'docblock')}]/pre[{cls('rust')} and ({cls('fn', 'struct', 'trait', 'enum', 'macro', 'const', 'type')})]",
           without=r"all\.html|/src/|redirect|index\.html$"),
    Source("rust-doc", "mdBook", r"html/(book|reference|nomicon|rustc|cargo|edition-guide|rust-by-example|embedded-book)/.*\.html", ("//main",),
           beside=(".//button", f".//*[{cls('buttons')}]"), without=r"print\.html|toc\.html|404|/first-edition/|/second-edition/|/2018-edition/|/std/"),
    Source("nodejs-doc", "Node.js api-doc-tool", r"api/.*\.html", ("//div[@id='apicontent']", "//div[@id='column1']"),
           beside=(f".//a[{cls('mark')}]", f".//button", ".//input"), neutral=(".//*[@id='toc']", f".//*[{cls('toc')}]", f".//*[{cls('alt-docs')}]", f".//div[{cls('api_metadata')}]"), without=r"all\.html|index\.html"),
    Source("python3.11-doc", "Sphinx", r"html/.*\.html", **SPHINX),
    Source("cmake-doc", "Sphinx, CMake theme", r"html/.*\.html", **SPHINX),
    Source("python-django-doc", "Sphinx, Django theme", r"html/.*\.html", **{**SPHINX, "main": ("//div[@id='yui-main']//div[@id='docs-content']", f"//div[{cls('yui-g')}]", "//div[@role='main']", f"//div[{cls('body')}]")}),
    Source("python-sqlalchemy-doc", "Sphinx, zzzeeksphinx", r"html/.*\.html", **{**SPHINX, "main": ("//div[@id='docs-body']",)}),
    Source("python-tornado-doc", "Sphinx, Read the Docs theme", r"html/.*\.html", **SPHINX),
    Source("python-flask-doc", "Sphinx, Pallets theme", r"html/.*\.html", **SPHINX),
    Source("developers-reference", "Sphinx, Read the Docs theme", r".*\.html", **SPHINX),
    Source("postgresql-doc-15", "DocBook XSL", r"html/.*\.html", **{**DOCBOOK, "without": r"bookindex|index\.html|legalnotice"}),
    Source("debian-reference-en", "DocBook XSL", r".*en\.html", **{**DOCBOOK, "without": r"index"}),
    Source("postgis-doc", "DocBook XSL, single page", r".*\.html", **DOCBOOK),
    Source("libboost1.81-doc", "BoostBook", r"doc/html/.*\.html", **{**DOCBOOK, "without": r"index|/naming|/tools|reference\.html$", "beside": DOCBOOK["beside"] + ("//table[.//img[contains(@src,'boost.png')]]", ".//hr")}),
    Source("libglib2.0-doc", "gtk-doc", r"gtk-doc/html/.*\.html", **{**GTKDOC, "without": r"index|annotation-glossary|api-"}),
    Source("libgtk-3-doc", "gtk-doc", r"gtk-doc/html/.*\.html", **{**GTKDOC, "without": r"index|annotation-glossary|api-"}),
    Source("libcairo2-doc", "gtk-doc", r"gtk-doc/html/.*\.html", **{**GTKDOC, "without": r"index|annotation-glossary|api-"}),
    Source("libgtk-4-doc", "gi-docgen", r"gtk4/.*\.html", **{**GIDOCGEN, "without": r"index\.html"}),
    Source("libsoup-3.0-doc", "gi-docgen", r".*\.html", **{**GIDOCGEN, "without": r"index\.html"}),
    Source("libeigen3-doc", "Doxygen", r"html/.*\.html", **DOXYGEN),
    Source("libsfml-doc", "Doxygen", r"html/.*\.html", **DOXYGEN),
    Source("doxygen-doc", "Doxygen", r"html/.*\.html", **DOXYGEN),
    Source("openjdk-17-doc", "Javadoc 17", r"api/.*\.html", **JAVADOC),
    Source("libcommons-lang3-java-doc", "Javadoc", r"api/.*\.html", **JAVADOC),
    Source("ant-doc", "Javadoc", r"api/.*\.html", **JAVADOC),
    Source("ant-doc", "Apache Ant manual", r"manual/.*\.html", ("//body",), without=r"toc|index|list|cover"),
    Source("octave-doc", "Texinfo", r".*\.html", **TEXINFO),
    Source("zsh-doc", "Texinfo", r".*\.html", **TEXINFO),
    Source("bash-doc", "Texinfo, single page", r"bashref\.html", **TEXINFO),
    Source("r-doc-html", "Texinfo, single page", r".*\.html", **TEXINFO),
    Source("git-doc", "AsciiDoc", r".*\.html", ("//body",), beside=(".//div[@id='footer']", f".//a[{cls('anchor')}]"), neutral=(".//div[@id='toc']",), without=r"user-manual|everyday|index"),
    Source("asciidoctor-doc", "YARD", r".*\.html", ("//div[@id='content']", "//main", "//body"), beside=(".//div[@id='toc']", f".//*[{cls('lines')}]"), signatures=f".//*[{cls('signature', 'method-heading')}]", without=r"index|_list|frames"),
    Source("ghc-doc", "Haddock", r"html/libraries/.*\.html", **HADDOCK),
    Source("libghc-aeson-doc", "Haddock", r".*\.html", **HADDOCK),
    Source("qtbase5-doc-html", "QDoc", r"qt5/doc/.*\.html", (f"//div[{cls('mainContent')}]", f"//div[{cls('context')}]", "//article"), beside=(f".//div[{cls('sidebar')}]", f".//div[{cls('navigationbar')}]"), neutral=(f".//div[{cls('toc')}]",), signatures=f".//h3[{cls('fn')}]",
           without=r"-members\.html|index|obsolete|-module"),
    Source("racket-doc", "Scribble", r"racket/.*\.html", (f"//div[{cls('main')}]",), beside=(f".//div[{cls('navsettop', 'navsetbottom', 'versionNoNav', 'version')}]", f".//*[{cls('button-group')}]"), neutral=(f".//table[{cls('toctable', 'tocsub')}]", f".//table[{cls('SAuthorListBox')}]", f".//*[{cls('SAuthorListBox')}]"),
           signatures=f".//table[{cls('boxed')}]", without=r"doc-index|/index\.html|search"),
    Source("erlang-doc", "Erlang docgen", r"lib/.*doc/html/.*\.html", ("//div[@id='content']",), beside=(f".//div[{cls('footer')}]", f".//*[{cls('ghlink-before', 'ghlink-after', 'ghlink')}]", f".//a[{cls('title_anchor')}]"), signatures=f".//*[{cls('func-head', 'fun-type')}]", without=r"index|users_guide|release_notes|notes|_part"),
    Source("fp-docs-3.2.2", "fpdoc and tex4ht", r"(rtl|fcl|ref|user|prog)/.*\.html", ("//body",), beside=(f".//table[{cls('bar')}]", f".//div[{cls('crosslinks')}]", f".//span[{cls('footer')}]"), neutral=(f".//div[{cls('tableofcontents', 'sectionTOCS', 'subsectionTOCS', 'chapterTOCS')}]",), without=r"index|toc"),
    Source("gnuplot-doc", "LaTeX2HTML", r".*\.html", ("//body",), beside=(f".//div[{cls('navigation')}]", ".//address", "//*[comment()[contains(.,'Navigation')]]"), without=r"index|footnode"),
    Source("swi-prolog-doc", "SWI-Prolog pldoc", r".*\.html", ("//body",), beside=(f".//div[{cls('navigate')}]", ".//address", f".//table[{cls('nav')}]"), neutral=(f".//div[{cls('toc')}]",), signatures=f".//dt[{cls('pubdef')}]", without=r"index|_sec"),
    Source("exim4-doc-html", "xfpt", r"spec_html/.*\.html", ("//div[@id='content']", "//body"), beside=(f".//*[{cls('navbar', 'chapterlinks')}]", ".//div[@id='header']", ".//div[@id='footer']"), neutral=(f".//div[{cls('chapter_toc')}]",), without=r"index|toc"),
    Source("sqlite3-doc", "SQLite", r".*\.html", ("//body",), beside=(f".//div[{cls('nosearch')}]", ".//script"), neutral=(f".//*[{cls('fancy_toc')}]", ".//div[@id='toc_sub']", f".//*[@id='toc_header']"), without=r"toc|keyword|index|/matrix|syntaxdiagrams|releaselog|/c3ref/(?!.)|requirements|/hlr"),
    Source("apache2-doc", "Apache manual", r"manual/en/.*\.html", ("//div[@id='page-content']",), beside=(f".//div[{cls('toplang', 'bottomlang', 'up', 'top')}]", ".//*[@id='comments_section']", ".//div[@id='quickview']"), without=r"index|sitemap|quickreference"),
    Source("apache2-doc", "Apache manual", r"manual/.*\.html\.en", ("//div[@id='page-content']",), beside=(f".//div[{cls('toplang', 'bottomlang', 'up', 'top')}]", ".//div[@id='quickview']"), neutral=("//div[@id='comments_section']", f"//*[{cls('permalink')}]"), without=r"index|sitemap|quickreference"),
    Source("tomcat10-docs", "Tomcat XSLT", r"docs/.*\.html", ("//div[@id='content']", f"//main"), beside=(f".//*[{cls('noprint')}]",), without=r"index|/api/"),
    Source("ncurses-doc", "man2html", r"html/man/.*\.html", ("//body",), beside=(f".//div[{cls('nav')}]",), neutral=(".//h1/following-sibling::p[1]",)),
    Source("haproxy-doc", "haproxy-dconv", r".*\.html", (f"//div[{cls('page-wrapper', 'col-lg-12')}]", "//div[@id='page-wrapper']"), beside=(f".//div[{cls('alert-success')}]", "//div[@id='sidebar']"), neutral=(f".//*[{cls('pagination')}]", f".//a[{cls('anchor')}]", ".//h1[1]"), signatures=f".//div[{cls('keyword')}]"),
    Source("mkdocs-doc", "MkDocs", r"html/.*\.html", ("//div[@role='main']",), beside=(f".//a[{cls('headerlink')}]",), without=r"index|search|404"),
    Source("golang-1.19-doc", "Go", r"html/.*\.html", ("//body",)),
]

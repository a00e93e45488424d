use super::*;
use crate::markdown::Warning;

fn read(text: &str) -> Page {
    page(
        text,
        &Url::parse("https://example.org/feeds/a.xml").expect("a valid URL"),
        &Work::default(),
    )
}

#[test]
fn rss_becomes_sections() {
    let page = read(
        "<?xml version='1.0'?><rss version='2.0' xmlns:content='http://purl.org/rss/1.0/modules/content/'><channel>\
         <title>News &amp; *more*</title><link>https://example.org/news/</link><description>All of it</description>\
         <image><title>Logo</title><url>/logo.png</url><link>x</link></image><language>en</language>\
         <item><title><![CDATA[One <b>thing</b>]]></title><link>one?a=1&amp;b=2</link><pubDate>Mon, 06 Sep 2021 00:01:00 +0000</pubDate>\
         <dc:creator xmlns:dc='x'>Ann</dc:creator><description>short</description>\
         <content:encoded><![CDATA[<h1>Inside</h1><p>Go <a href='rel'>there</a>.</p><script>x</script>]]></content:encoded>\
         <enclosure url='/a.mp3'/></item>\
         <item><guid>https://example.org/two</guid><description>&lt;p&gt;Second &amp;amp; last&lt;/p&gt;</description></item>\
         </channel></rss>",
    );
    assert_eq!(
        page.markdown,
        "# [News & \\*more\\*](https://example.org/news/)\n\nAll of it\n\n\
         ## [One thing](https://example.org/feeds/one?a=1&b=2)\n\n2021-09-06T00:01:00Z · Ann\n\n\
         ### Inside\n\nGo [there](https://example.org/news/rel).\n\n[Attachment](https://example.org/a.mp3)\n\n\
         ## [Untitled](https://example.org/two)\n\nSecond & last\n"
    );
    assert_eq!(page.metadata.title.as_deref(), Some("News & *more*"));
    assert_eq!(
        page.metadata.image.as_deref(),
        Some("https://example.org/logo.png")
    );
    assert_eq!(page.metadata.language.as_deref(), Some("en"));
    let levels: Vec<u8> = page.headings.iter().map(|heading| heading.level).collect();
    assert_eq!(levels, [1, 2, 3, 2]);
    assert_eq!(page.links.len(), 5);
}

#[test]
fn atom_becomes_sections() {
    let page = read(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:lang='de'><title>A &lt; B</title><subtitle>about</subtitle>\
         <link rel='self' href='/self'/><link href='https://example.org/'/><updated>2024-01-31T00:00:00Z</updated>\
         <author><name>Feed Author</name></author>\
         <entry xml:base='https://other.example/x/'><title type='html'>T &amp;amp; U</title><link href='y'/>\
         <published>2024-01-30</published><author><name>Bea</name><uri>u</uri></author>\
         <content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>Text &amp; <a href='z'>z</a></p></div></content></entry>\
         <entry><title>Plain</title><summary>1. a *b*</summary></entry></feed>",
    );
    assert_eq!(
        page.markdown,
        "# [A < B](https://example.org/)\n\nabout\n\n\
         ## [T & U](https://other.example/x/y)\n\n2024-01-30 · Bea\n\nText & [z](https://other.example/x/z)\n\n\
         ## Plain\n\n1\\. a \\*b\\*\n"
    );
    assert_eq!(page.metadata.author.as_deref(), Some("Feed Author"));
    assert_eq!(
        page.metadata.modified_at.as_deref(),
        Some("2024-01-31T00:00:00Z")
    );
}

#[test]
fn rss_1_and_json_feed_become_sections() {
    let rss = read(
        "<rdf:RDF xmlns:rdf='r' xmlns='http://purl.org/rss/1.0/'><channel><title>C</title><link>/</link></channel>\
         <item><title>I</title><link>/i</link><dc:date>2024-01-01</dc:date></item></rdf:RDF>",
    );
    assert_eq!(
        rss.markdown,
        "# [C](https://example.org/)\n\n## [I](https://example.org/i)\n\n2024-01-01\n"
    );
    let json = read(
        "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"J\",\"home_page_url\":\"https://example.org/\",\
         \"items\":[{\"url\":\"/i\",\"title\":\"I\",\"content_html\":\"<p>x <a href='y'>y</a></p>\",\"authors\":[{\"name\":\"Z\"}]},\
         {\"content_text\":\"only text\"}]}",
    );
    assert_eq!(
        json.markdown,
        "# [J](https://example.org/)\n\n## [I](https://example.org/i)\n\nZ\n\nx [y](https://example.org/y)\n\n## Untitled\n\nonly text\n"
    );
}

#[test]
fn hostile_and_broken_feeds_are_bounded() {
    let many = format!(
        "<rss><channel><title>M</title>{}</channel></rss>",
        "<item><title>x</title><link>javascript:alert(1)</link></item>".repeat(300)
    );
    let page = read(&many);
    assert_eq!(page.warnings, [Warning::Truncated]);
    assert!(
        page.markdown
            .ends_with("\nShowing the first 200 of 300 entries.\n")
    );
    assert!(!page.markdown.contains("javascript"));
    // Breaks off in its second entry.
    let cut = read(
        "<rss><channel><title>C</title><item><title>a</title></item><item><title>b</title><descr",
    );
    assert!(cut.markdown.contains("## a") && cut.markdown.contains("## b"));
    let bomb = read(
        "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><rss><channel><title>&b;</title></channel></rss>",
    );
    assert_eq!(bomb.markdown, "# &b\\;\n");
    assert!(read("<rss></rss>").markdown.starts_with("```xml\n"));
}

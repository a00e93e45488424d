//! The names under which pages give a field, the better ones first.

pub(super) const TITLE: &[&str] = &["og:title", "twitter:title"];

pub(super) const DESCRIPTION: &[&str] = &[
    "description",
    "og:description",
    "twitter:description",
    "dc.description",
    "dcterms.description",
];

pub(super) const AUTHOR: &[&str] = &[
    "author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "citation_author",
    "byl",
];

pub(super) const SITE_NAME: &[&str] = &["og:site_name", "application-name"];

pub(super) const PUBLISHED: &[&str] = &[
    "article:published_time",
    "article:published",
    "og:published_time",
    "og:article:published_time",
    "datepublished",
];

pub(super) const PUBLISHED_TOO: &[&str] = &[
    "parsely-pub-date",
    "sailthru.date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date",
    "dcterms.date",
    "dc.date.created",
    "dcterms.created",
    "citation_publication_date",
    "citation_date",
    "date",
    "pubdate",
    "publishdate",
    "publish-date",
    "publish_date",
    "publication_date",
    "cxenseparse:recs:publishtime",
];

pub(super) const MODIFIED: &[&str] = &[
    "article:modified_time",
    "article:modified",
    "og:updated_time",
    "og:article:modified_time",
    "datemodified",
];

pub(super) const MODIFIED_TOO: &[&str] = &[
    "dcterms.modified",
    "dc.date.modified",
    "last-modified",
    "revised",
];

pub(super) const IMAGE: &[&str] = &[
    "og:image",
    "og:image:url",
    "og:image:secure_url",
    "twitter:image",
    "twitter:image:src",
    "image",
];

pub(super) const KEYWORDS: &[&str] = &["keywords", "news_keywords", "parsely-tags"];

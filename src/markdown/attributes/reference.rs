//! Names that generators of reference pages give to what they declare.

use super::{Attributes, Names};

/// Names that generators of reference pages give to declarations and to what explains them.
pub(super) const DECLARATIONS: [&str; 48] = [
    "alignedsummary",
    "api-signature",
    "api_metadata",
    "code-header",
    "ctor",
    "declaration",
    "deftypefn",
    "descname",
    "doc-function",
    "doc-heading",
    "doc-object",
    "docblock",
    "docstring",
    "Documentation-declaration",
    "Documentation-function",
    "func-head",
    "item-decl",
    "member-signature",
    "memberdecls",
    "memdoc",
    "memitem",
    "memItemLeft",
    "memproto",
    "memtitle",
    "method-description",
    "method-detail",
    "method-heading",
    "method-signature",
    "method_details",
    "methodsynopsis",
    "phpdocumentor-element",
    "phpdocumentor-signature",
    "pubdef",
    "RBoxed",
    "REFBODY",
    "refentry",
    "refnamediv",
    "refsect1",
    "refsect2",
    "RktBlk",
    "SCodeFlow",
    "sig",
    "subs",
    "summary_signature",
    "task-group",
    "tsd-panel",
    "tsd-signature",
    "type-signature",
];

/// The same of ids.
const REFERENCE_IDS: [&str; 3] = ["apicontent", "doc-content", "module-header"];

static REFERENCES: Names = Names::new(&REFERENCE_IDS);

/// Whether the element's id is one of a reference page's.
pub(in crate::markdown) fn declares(attributes: &Attributes<'_>) -> bool {
    attributes
        .raw("id")
        .is_some_and(|id| REFERENCES.contain(id))
}

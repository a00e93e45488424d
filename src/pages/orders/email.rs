//! E-mails to buyers: subject, text, and the same as HTML without style sheet, image or script. Input is escaped, and a
//! subject is one line.

use maud::{DOCTYPE, Markup, html};

use crate::domain::words::is_unseen;
use crate::pages::parts::label_words;

/// A complete e-mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// What an e-mail to a buyer is.
pub const ABOUT_YOUR_ORDER: &str = "an automatic message about your order";

/// The e-mail for a finished order.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    pub service: &'a str,
    pub order_id: &'a str,
    /// The bundle's name in words, such as "Builder".
    pub bundle: &'a str,
    /// The payer's question; `None` if it is not certain that the payer asked it.
    pub question: Option<&'a str>,
    /// The decision's label, and what the report says in a sentence or two without links.
    pub answer: Option<(&'a str, &'a str)>,
    /// Number of fetched sources, of `sources`.
    pub sources_read: usize,
    pub sources: usize,
    /// The delivery page; anyone who has the link can read the report.
    pub page_url: &'a str,
    pub json_url: &'a str,
    pub pdf_url: &'a str,
    /// Whether the PDF is attached; otherwise it is only linked.
    pub has_pdf: bool,
    pub contact: Option<&'a str>,
}

/// The e-mail that sends the links of a buyer's orders again.
#[derive(Clone, Copy, Debug)]
pub struct Recovery<'a> {
    pub service: &'a str,
    /// A short description and the delivery page of each order.
    pub orders: &'a [(String, String)],
    /// When the links expire, in words.
    pub until: &'a str,
    pub contact: Option<&'a str>,
}

/// Any other e-mail: a subject, paragraphs, and labelled links.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'a> {
    pub service: &'a str,
    /// What the e-mail is, for its end.
    pub is: &'a str,
    pub subject: &'a str,
    pub paragraphs: &'a [String],
    pub links: &'a [(String, String)],
    pub contact: Option<&'a str>,
}

/// The e-mail for a finished order.
pub fn delivery(view: &Delivery<'_>) -> Email {
    let attached = if view.has_pdf {
        "The PDF is attached. You can also read the report here:"
    } else {
        "Read the report here:"
    };
    let asked = view
        .question
        .map(|question| format!("Your question: {question}"));
    let answer = view
        .answer
        .map(|(label, words)| format!("The answer: {}. {words}", label_words(label)));
    let found = format!(
        "We read {} of {} sources. The report shows what each of them establishes, where they agree and where they \
        conflict.",
        view.sources_read, view.sources
    );
    let paragraphs = (asked.into_iter().chain(answer)).chain([found, attached.to_owned()]);
    notice(&Notice {
        service: view.service,
        is: ABOUT_YOUR_ORDER,
        subject: &format!("Your {} Evidence Bundle is ready", view.bundle),
        paragraphs: &paragraphs.collect::<Vec<_>>(),
        links: &[
            ("Report".to_owned(), view.page_url.to_owned()),
            ("PDF".to_owned(), view.pdf_url.to_owned()),
            ("JSON".to_owned(), view.json_url.to_owned()),
            (String::new(), format!("Order {}", view.order_id)),
        ],
        contact: view.contact,
    })
}

/// The e-mail with the links of a buyer's orders.
pub fn recovery(view: &Recovery<'_>) -> Email {
    notice(&Notice {
        service: view.service,
        is: ABOUT_YOUR_ORDER,
        subject: "Your Evidence Bundles",
        paragraphs: &[
            "Someone, hopefully you, requested the links to the orders placed with this e-mail address."
                .to_owned(),
            format!("Anyone who has these links can read the reports. They expire on {}.", view.until),
        ],
        links: view.orders,
        contact: view.contact,
    })
}

/// Any other mail in the same form.
pub fn notice(view: &Notice<'_>) -> Email {
    Email {
        subject: one_line(view.subject),
        text: text(view),
        html: page(view),
    }
}

fn text(view: &Notice<'_>) -> String {
    let mut text = String::new();
    for paragraph in view.paragraphs {
        text.push_str(paragraph);
        text.push_str("\n\n");
    }
    for (label, target) in view.links {
        if label.is_empty() {
            text.push_str(&format!("{target}\n\n"));
        } else {
            text.push_str(&format!("{label}: {target}\n\n"));
        }
    }
    text.push_str(&format!("-- \n{}\n", signature(view)));
    text
}

fn page(view: &Notice<'_>) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { (one_line(view.subject)) }
            }
            body {
                h1 { (one_line(view.subject)) }
                @for paragraph in view.paragraphs { p { (paragraph) } }
                (links(view.links))
                hr;
                p { small { (signature(view)) } }
            }
        }
    }
    .into_string()
}

fn links(links: &[(String, String)]) -> Markup {
    html! {
        @if !links.is_empty() { ul {
            @for (label, target) in links {
                @if label.is_empty() { li { (target) } }
                @else { li { a href=(target) { (label) } } }
            }
        } }
    }
}

fn signature(view: &Notice<'_>) -> String {
    let contact = view
        .contact
        .map(|contact| format!(" Questions: {contact}."));
    format!(
        "{}. This is {}.{}",
        view.service,
        view.is,
        contact.unwrap_or_default()
    )
}

fn one_line(text: &str) -> String {
    text.chars()
        .filter(|c| !is_unseen(*c))
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(150)
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::pages::orders::email::*;

    fn view(question: &str) -> Email {
        delivery(&Delivery {
            service: "context402",
            order_id: "ord_1",
            bundle: "Builder",
            question: Some(question),
            answer: Some(("supported", "3 independent sources establish this.")),
            sources_read: 8,
            sources: 10,
            page_url: "https://shop.example/d?order=1&token=2",
            json_url: "https://shop.example/d.json",
            pdf_url: "https://shop.example/d.pdf",
            has_pdf: true,
            contact: Some("help@shop.example"),
        })
    }

    #[test]
    fn both_forms_say_the_same() {
        let email = view("Is the plan free?");
        for part in [&email.text, &email.html] {
            for said in [
                "Is the plan free?",
                "The answer: supported. 3 independent sources",
                "8 of 10 sources",
                "ord_1",
                "attached",
                "help@shop.example",
            ] {
                assert!(part.contains(said), "{said} is not in {part}");
            }
        }
        assert!(
            email
                .text
                .contains("https://shop.example/d?order=1&token=2")
        );
        assert!(
            email
                .html
                .contains("href=\"https://shop.example/d?order=1&amp;token=2\"")
        );
    }

    #[test]
    fn what_a_buyer_typed_is_text() {
        let email = view("<img src=x onerror=alert(1)>");
        assert!(!email.html.contains("<img"));
        let odd = notice(&Notice {
            service: "s",
            is: ABOUT_YOUR_ORDER,
            subject: "a\r\nBcc: x",
            paragraphs: &[],
            links: &[],
            contact: None,
        });
        assert!(!odd.subject.contains(['\r', '\n']));
    }
}

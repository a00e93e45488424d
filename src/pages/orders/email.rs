//! The mails that buyers get: a subject, a text and the same as HTML without style sheet, image or script. What a
//! buyer has typed is escaped, and a subject is one line.

use maud::{DOCTYPE, Markup, html};

/// A written mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// A finished order, as its mail tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    pub service: &'a str,
    pub order_id: &'a str,
    /// The bundle's name in words, such as "Builder".
    pub bundle: &'a str,
    /// What the payer has asked; nothing where it is not certain that they did.
    pub question: Option<&'a str>,
    /// Sources that were read, of those asked for.
    pub sources_read: usize,
    pub sources: usize,
    /// The delivery page: who has it may read the report.
    pub page_url: &'a str,
    pub json_url: &'a str,
    pub pdf_url: &'a str,
    /// Whether the PDF goes along; else it is linked alone.
    pub has_pdf: bool,
    pub contact: Option<&'a str>,
}

/// The way back to orders, for anyone who holds the address that they were bought with.
#[derive(Clone, Copy, Debug)]
pub struct Recovery<'a> {
    pub service: &'a str,
    /// For each order: what it is in a few words, and its delivery page.
    pub orders: &'a [(String, String)],
    /// When the links end, in words.
    pub until: &'a str,
    pub contact: Option<&'a str>,
}

/// Something else that a person should know: a headline, paragraphs, and links with their labels.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'a> {
    pub service: &'a str,
    pub subject: &'a str,
    pub paragraphs: &'a [String],
    pub links: &'a [(String, String)],
    pub contact: Option<&'a str>,
}

/// The mail that a finished order goes out with.
pub fn delivery(view: &Delivery<'_>) -> Email {
    let attached = if view.has_pdf {
        "The PDF is attached; page, PDF and JSON are also here:"
    } else {
        "Page, PDF and JSON are here:"
    };
    let asked = view
        .question
        .map(|question| format!("You asked: {question}"));
    let found = format!(
        "{} of {} sources could be read. The report says for each what it establishes, where they agree and \
         where they contradict each other.",
        view.sources_read, view.sources
    );
    let paragraphs = asked.into_iter().chain([found, attached.to_owned()]);
    notice(&Notice {
        service: view.service,
        subject: &format!("Your {} Evidence Bundle is ready", view.bundle),
        paragraphs: &paragraphs.collect::<Vec<_>>(),
        links: &[
            ("The report".to_owned(), view.page_url.to_owned()),
            ("PDF".to_owned(), view.pdf_url.to_owned()),
            ("JSON".to_owned(), view.json_url.to_owned()),
            (String::new(), format!("Order {}", view.order_id)),
        ],
        contact: view.contact,
    })
}

/// The mail that leads back to orders.
pub fn recovery(view: &Recovery<'_>) -> Email {
    notice(&Notice {
        service: view.service,
        subject: "Your Evidence Bundles",
        paragraphs: &[
            "Somebody, hopefully you, asked for the way back to the orders that were bought with this address."
                .to_owned(),
            format!("Anyone who has these links may read the reports. They work until {}.", view.until),
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
        "{}. This mail was written by a program because of an order; it is no advertising.{}",
        view.service,
        contact.unwrap_or_default()
    )
}

fn one_line(text: &str) -> String {
    text.chars()
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
            subject: "a\r\nBcc: x",
            paragraphs: &[],
            links: &[],
            contact: None,
        });
        assert!(!odd.subject.contains(['\r', '\n']));
    }
}

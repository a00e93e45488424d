use super::*;

fn settings() -> MailerSettings {
    MailerSettings {
        transport: Transport::Folder(PathBuf::from("/nowhere")),
        from: Sender::parse("Context <reports@shop.example>").expect("a sender"),
        domain: "shop.example".to_owned(),
    }
}

fn message() -> Message {
    Message {
        to: "ada@example.org".to_owned(),
        reply_to: Sender::parse("help@shop.example"),
        subject: "Your report – façade".to_owned(),
        text: "Here it is.\n".to_owned(),
        html: "<p>Here it is.</p>".to_owned(),
        message_id: "ord_00.delivery".to_owned(),
        attachment: Some(Attachment {
            name: "report.pdf".to_owned(),
            media_type: "application/pdf".to_owned(),
            bytes: b"%PDF-1.7".to_vec(),
        }),
    }
}

#[test]
fn a_mail_says_who_wrote_it_and_that_nobody_did() {
    let composed = settings()
        .compose(&message(), UnixSeconds(0))
        .expect("composes");
    let text = String::from_utf8(composed.formatted()).expect("7 bit");
    for line in [
        "From: Context <reports@shop.example>\r\n",
        "To: ada@example.org\r\n",
        "Reply-To: help@shop.example\r\n",
        "Message-ID: <ord_00.delivery@shop.example>\r\n",
        "Auto-Submitted: auto-generated\r\n",
        "Date: Thu, 01 Jan 1970 00:00:00 +0000\r\n",
        "multipart/mixed",
        "multipart/alternative",
        "filename=\"report.pdf\"",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
}

#[test]
fn nothing_in_a_mail_becomes_a_header() {
    let evil = [
        "a\r\nBcc: eve@example.org",
        "a\nBcc: eve@example.org",
        "a\rBcc: eve@example.org",
        "a\0b",
        "",
    ];
    for text in evil {
        let mut attempts = vec![message(), message(), message(), message()];
        attempts[0].subject = text.to_owned();
        attempts[1].to = format!("ada@example.org{text}x y");
        attempts[2].message_id = text.to_owned();
        if let Some(attachment) = &mut attempts[3].attachment {
            attachment.name = text.to_owned();
        }
        for attempt in attempts {
            let composed = settings().compose(&attempt, UnixSeconds(0));
            assert!(
                matches!(composed, Err(MailError::Permanent(_))),
                "{attempt:?}"
            );
        }
    }
}

#[test]
fn an_address_is_one_address() {
    for good in [
        "a@b.example",
        "a+tag@b.example",
        "a.b@xn--bcher-kva.example",
    ] {
        assert!(is_address(good), "{good}");
    }
    let long = format!("{}@example.org", "a".repeat(250));
    for bad in [
        "",
        "a",
        "@b.example",
        "a@",
        "a@b.example,c@d.example",
        "A <a@b.example>",
        "a@b.example\r\nBcc: c@d.example",
        "a b@c.example",
        "a@b@c.example",
        &long,
    ] {
        assert!(!is_address(bad), "{bad}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let mut large = message();
    if let Some(attachment) = &mut large.attachment {
        attachment.bytes = vec![0; ATTACHMENT_BYTES_MAX + 1];
    }
    let composed = settings().compose(&large, UnixSeconds(0));
    assert!(matches!(composed, Err(MailError::Permanent(_))));
}

proptest::proptest! {
    #[test]
    fn what_the_forms_take_for_an_address_can_be_mailed(
        text in "[a-zé0-9!#'+_-]{1,5}(\\.[a-z!é]{1,4})?@[a-zé0-9]{1,3}(-{1,2}[a-z0-9]{1,2})?\\.[a-z0-9é]{1,3}"
    ) {
        proptest::prop_assert!(crate::domain::email::is_email(&text), "{text}");
        proptest::prop_assert!(is_address(&text), "{text}");
    }
}

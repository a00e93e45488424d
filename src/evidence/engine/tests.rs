//! What readers of the labels found wrong on pages of their own, asked of the whole engine: claims that a page does not state in
//! nearly its words, beside true ones that stay supported.

use crate::evidence::{Label, Source, check};

#[track_caller]
fn asked(text: &str, question: &str) -> Label {
    check(&Source::of_text(text), question).label
}

#[track_caller]
fn check_all(text: &str, false_ones: &[&str], true_ones: &[&str]) {
    for claim in false_ones {
        let label = asked(text, claim);
        assert!(
            !matches!(label, Label::Supported | Label::PartiallySupported),
            "{claim} is {label:?}"
        );
    }
    for claim in true_ones {
        assert_eq!(asked(text, claim), Label::Supported, "{claim}");
    }
}

/// "Did Marrow die in Kirkwall?" was answered with yes.
#[test]
fn a_place_belongs_to_its_verb() {
    check_all(
        "# Ada Venn\n\nVenn was born in Lagos and grew up in Leeds. Venn died in Montreal and was buried in Kirkwall.\n",
        &["Did Venn die in Kirkwall?", "Venn was born in Leeds."],
        &["Venn was born in Lagos.", "Venn died in Montreal."],
    );
}

#[test]
fn a_duty_is_no_choice() {
    check_all(
        "# Visits\n\nGroups of ten or more have to book two weeks in advance.\n",
        &["Groups of ten or more don't need to book in advance."],
        &["Groups of ten or more have to book in advance."],
    );
}

#[test]
fn words_stand_in_their_column() {
    check_all(
        "# Plans\n\n| | Free | Team | Business |\n|---|---|---|---|\n| Backups | – | Weekly | Daily |\n\
         | API access | Read only | ✓ | ✓ |\n",
        &[
            "The Team plan has daily backups.",
            "On the Free plan the API can be used for reading and writing.",
        ],
        &["The Team plan has weekly backups."],
    );
}

#[test]
fn what_is_sold_apart_is_not_in_the_box() {
    check_all(
        "# Kettle\n\nThe kettle comes with a base. A descaling kit is sold separately.\n",
        &["A descaling kit comes in the box."],
        &[
            "A descaling kit is sold separately.",
            "The kettle comes with a base.",
        ],
    );
}

#[test]
fn a_change_has_two_ends() {
    let results = "# Results\n\nThe number of staff increased from 60 to 80. The outlook was raised to €585–595 million from \
                   €570–590 million.\n";
    for claim in [
        "The number of staff increased from 80 to 60.",
        "The outlook was raised to €570–590 million.",
    ] {
        assert_ne!(asked(results, claim), Label::Supported, "{claim}");
    }
    let risen = asked(results, "The number of staff increased from 60 to 80.");
    assert_eq!(risen, Label::Supported);
}

/// A word such as "when" inside it made a question for yes or no one for a time, which its passage answered.
#[test]
fn a_question_for_yes_is_not_answered_by_a_time() {
    let warranty =
        "# Warranty\n\nUse in cafés voids the warranty of the kettle. There is no car park.\n";
    for question in [
        "Is the warranty of the kettle valid when it is used in cafés?",
        "Is there a place where I can park?",
    ] {
        assert_ne!(asked(warranty, question), Label::Supported, "{question}");
    }
}

#[test]
fn what_may_be_done_can_be_done() {
    let returns = "# Returns\n\nUnused items may be returned within 45 days.\n";
    let found = asked(returns, "Unused items can be returned within 45 days.");
    assert_eq!(found, Label::Supported);
}

/// "£3 cheaper" was contradicted by the prices £30 and £27.
#[test]
fn a_difference_is_not_denied_by_its_values() {
    let prices =
        "# Prices\n\n| Ticket | At the desk | Online |\n|---|---|---|\n| Family | £30 | £27 |\n";
    let found = asked(prices, "The family ticket is £3 cheaper online.");
    assert_ne!(found, Label::Contradicted);
    let at_the_desk = asked(
        prices,
        "A family saves three pounds by buying its ticket at the desk.",
    );
    assert_ne!(at_the_desk, Label::Supported);
}

/// "General chair: Ada King" was no answer to who the general chair is.
#[test]
fn a_labelled_line_answers_what_its_label_asks() {
    let text = "# WADA 2026\n\nThe workshop takes place in Coimbrel.\n\n## Committee\n\n- General chair: Beatriz Falcoeira, University \
                of Coimbrel\n- Programme chairs: Henrik Solbakk and Amara Tindle\n- Publicity chair: to be announced\n";
    let label = |question: &str| asked(text, question);
    assert_eq!(
        label("Who is the general chair of WADA 2026?"),
        Label::Supported
    );
    assert_ne!(
        label("Who is the publicity chair of WADA 2026?"),
        Label::Supported
    );
    assert_ne!(
        label("Who was the general chair of WADA 2025?"),
        Label::Supported
    );
}

#[test]
fn what_is_forbidden_is_not_allowed() {
    check_all(
        "# Terms\n\nYou may not use the service to:\n\n- send unsolicited email;\n- mine cryptocurrency;\n\nAn officer shall not enter \
         a house without a warrant.\n",
        &[
            "Am I allowed to mine cryptocurrency?",
            "An officer may enter a house without a warrant.",
        ],
        &["An officer shall not enter a house without a warrant."],
    );
}

#[test]
fn a_case_that_a_rule_covers_is_not_contradicted() {
    let rule = "# Refunds\n\nYou get a full refund if you cancel within 14 days of payment.\n";
    for claim in [
        "Can I get a full refund if I cancel ten days after payment?",
        "You get a full refund if you cancel ten days after payment.",
    ] {
        assert_ne!(asked(rule, claim), Label::Contradicted, "{claim}");
    }
    let life = "# Ada Venn\n\nVenn spent the next three years as a teacher.\n";
    assert_ne!(
        asked(life, "Venn was 83 years old when she died."),
        Label::Contradicted
    );
}

/// Claims that differ from a page in a sign, a name's owner, a condition or in what nearly happened were plainly supported.
#[test]
fn what_differs_in_a_detail_is_not_supported() {
    for (text, claim) in [
        (
            "The yearly ticket costs £100.",
            "The yearly ticket costs $100.",
        ),
        (
            "Store the vaccine at < 8 °C at all times.",
            "Store the vaccine at > 8 °C at all times.",
        ),
        (
            "The ministry gave the school the grade A+ in May.",
            "The ministry gave the school the grade A- in May.",
        ),
        (
            "The temperature fell to -5 °C.",
            "The temperature fell to 5 °C.",
        ),
        (
            "The daily dose of the drug is .5 mg.",
            "The daily dose of the drug is 5 mg.",
        ),
        (
            "The home team won 3-1 on Sunday.",
            "The home team won 1-3 on Sunday.",
        ),
        ("The lens costs C$100.", "The lens costs US$100."),
        (
            "If you pay by card, you get a discount.",
            "You get a discount.",
        ),
        (
            "Users who pay get support by telephone.",
            "Users get support by telephone.",
        ),
        (
            "The drug cures the disease, the prosecutor alleges.",
            "The drug cures the disease.",
        ),
        ("The museum is free, on Sundays.", "The museum is free."),
        (
            "The firm reportedly cut 500 jobs in May.",
            "The firm cut 500 jobs in May.",
        ),
        (
            "The company denies that it sold user data.",
            "The company sold user data.",
        ),
        ("He almost won the race.", "He won the race."),
        (
            "The vice president spoke at noon.",
            "The president spoke at noon.",
        ),
    ] {
        let label = asked(&format!("# News\n\n{text}\n"), claim);
        assert_ne!(label, Label::Supported, "{claim} / {text}");
    }
}

#[test]
fn an_answer_is_to_its_own_question() {
    let faq = "# FAQ\n\n## Does Anna owe Bob money?\n\nYes.\n\n## Is the museum free?\n\nYes, but only for children under six.\n\n\
               ## 3.1 Must I restart the system to upgrade a package?\n\nNo. Packages can be upgraded in place.\n";
    assert_eq!(asked(faq, "Anna owes Bob money."), Label::Supported);
    for claim in [
        "Bob owes Anna money.",
        "The museum is free.",
        "You must restart the system to upgrade a package.",
    ] {
        assert_ne!(asked(faq, claim), Label::Supported, "{claim}");
    }
}

/// A denial of another day or version, and the same amount in another unit, contradicted a claim.
#[test]
fn another_case_or_another_unit_is_no_contradiction() {
    for (text, claim) in [
        (
            "The museum is closed on Mondays.",
            "The museum is open on Tuesdays.",
        ),
        (
            "No trains run on 25 December.",
            "Trains run on 26 December.",
        ),
        (
            "The API is not available in version 2.",
            "The API is available in version 3.",
        ),
        (
            "She lost the election in 2012.",
            "She won the election in 2016.",
        ),
        ("The dose is 500 µg.", "The dose is 0.5 mg."),
        (
            "The journey takes 2 h 30 min.",
            "The journey takes 150 minutes.",
        ),
        (
            "Workers get 14 days of paid leave.",
            "Workers get two weeks of paid leave.",
        ),
        ("It is served at 68 °F.", "It is served at 20 °C."),
        (
            "The office is open Monday to Friday.",
            "The office is open on Wednesday.",
        ),
        ("Between 20 and 30 people died.", "25 people died."),
        (
            "He was mayor from March 2001 to May 2005.",
            "He was mayor in 2003.",
        ),
    ] {
        let label = asked(&format!("# News\n\n{text}\n"), claim);
        assert_ne!(label, Label::Contradicted, "{claim} / {text}");
    }
    let api = "# News\n\nThe API is not available in version 2.\n";
    assert_eq!(
        asked(api, "The API is available in version 2."),
        Label::Contradicted
    );
}

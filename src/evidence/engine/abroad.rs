//! What keeps a finding in another language than English from plain support: the decisions are fitted to English, and take
//! "Le musée n'a pas de parking" for an answer to "Combien de salariés le musée a-t-il ?".

use crate::domain::words::is_unspaced;
use crate::evidence::reading::language::Language;
use crate::evidence::reading::page::Page;
use crate::evidence::reading::text::plain;
use crate::evidence::reading::tokens::Lexicon;
use crate::evidence::reading::words::does;
use crate::evidence::{AnswerType, Check, Finding, QuestionKind};

/// Words that ask, behind which no noun is looked for; they stand in no answer. Written without accents.
const ASKING: &str = "wie viel viele wieviel alt hoch lange wann wer welche welcher welches was wo \
                      combien quel quelle quels quelles quand qui est que quoi jusqu date heure \
                      cuanto cuanta cuantos cuantas cual cuales cuando quien quienes que donde \
                      quanto quanta quanti quante quale quali quando chi che dove ammonta \
                      quantos quantas qual quais quem hoeveel wat welke wanneer waar hoe";
/// A run of kanji with one of these asks.
const ASKING_KANJI: [char; 4] = ['何', '誰', '幾', '谁'];
/// What asks for a number in Japanese and Chinese.
const FOR_A_NUMBER: [&str; 5] = ["何", "いくら", "いくつ", "多少", "几"];

/// Whether the best finding lacks what a statement or question is about, or the kind of value that is asked for.
pub(crate) fn says_less_abroad(check: &Check, page: &Page<'_>, question: &str) -> bool {
    let Some(best) = check.findings.first() else {
        return false;
    };
    if page.language == Language::English {
        return false;
    }
    let said = passage(page, best);
    if question.chars().any(is_unspaced) {
        let asks_for_number = matches!(check.kind, QuestionKind::Wh(_))
            && FOR_A_NUMBER.iter().any(|words| question.contains(words));
        return lacks_a_run(question, &said) || asks_for_number && !has_number(&said);
    }
    let QuestionKind::Wh(asks) = check.kind else {
        return false;
    };
    let text = &page.text[best.range.clone()];
    if denies(page, text) && !denies(page, question) {
        return true;
    }
    match asks {
        AnswerType::Number | AnswerType::Time => !has_number(&said),
        // How old, how high: the word before the verb asks for a number.
        AnswerType::Manner => asks_how_much(question) && !has_number(&said),
        _ => best.missing.iter().any(|word| !is_asking(word)),
    }
}

fn passage(page: &Page<'_>, best: &Finding) -> String {
    let mut said = plain(&page.text[best.range.clone()]);
    for range in best.context.iter() {
        said.push(' ');
        said.push_str(&plain(&page.text[range.clone()]));
    }
    for heading in &best.heading_path {
        said.push(' ');
        said.push_str(heading);
    }
    said
}

fn has_number(text: &str) -> bool {
    text.chars().any(char::is_numeric)
        || text.contains(['一', '二', '三', '四', '五', '六', '七', '八', '九', '十'])
}

fn is_asking(word: &str) -> bool {
    let low = word.to_lowercase();
    low.chars().count() < 3
        || ASKING
            .split_whitespace()
            .any(|one| low.starts_with(one) && low.len() <= one.len() + 2)
}

/// "Wie alt", "Wie hoch".
fn asks_how_much(question: &str) -> bool {
    let low = question.to_lowercase();
    let mut words = low
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.next() == Some("wie")
        && matches!(
            words.next(),
            Some(
                "alt"
                    | "hoch"
                    | "lang"
                    | "lange"
                    | "groß"
                    | "breit"
                    | "tief"
                    | "weit"
                    | "schwer"
                    | "teuer"
                    | "oft"
                    | "viel"
                    | "viele"
            )
        )
}

/// Whether a text has a negation in the page's language.
pub(super) fn denies(page: &Page<'_>, text: &str) -> bool {
    let mut lexicon = Lexicon::new(page.language);
    let mut tokens = Vec::new();
    lexicon.read(text, &mut tokens);
    tokens
        .iter()
        .any(|token| lexicon.form(*token).is(does::NEGATION))
}

/// Whether a run of kanji or katakana, as nouns are written, has no two characters together that the passage has.
fn lacks_a_run(question: &str, said: &str) -> bool {
    let mut runs: Vec<Vec<char>> = vec![Vec::new()];
    let mut last = 0;
    for c in question.chars() {
        let script = script(c);
        if script != last && runs.last().is_some_and(|run| !run.is_empty()) {
            runs.push(Vec::new());
        }
        if script > 0
            && let Some(run) = runs.last_mut()
        {
            run.push(c);
        }
        last = script;
    }
    runs.iter().any(|run| {
        let asks = run.iter().any(|c| ASKING_KANJI.contains(c));
        let mut pairs = run.windows(2);
        run.len() >= 2
            && !asks
            && !pairs.any(|pair| said.contains(&pair.iter().collect::<String>()))
    })
}

/// 1 for kanji, 2 for katakana, 0 for everything else.
fn script(c: char) -> u8 {
    match c {
        '\u{4e00}'..='\u{9fff}' => 1,
        '\u{30a1}'..='\u{30fe}' => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Label, Source, check};

    #[test]
    fn a_question_for_a_number_is_not_answered_without_one() {
        let label = |text: &str, question: &str| check(&Source::of_text(text), question).label;
        let musee = "Le musée est installé dans une ancienne gare et il ouvre tous les jours. Le musée n'a pas de parking. \
                     Il emploie 42 salariés.";
        assert_ne!(
            label(musee, "Combien de salariés le musée a-t-il ?"),
            Label::Unsupported
        );
        let found = check(
            &Source::of_text(musee),
            "Combien de salariés le musée emploie-t-il ?",
        );
        assert!(musee[found.findings[0].range.clone()].contains("42"));
        let stadt = "Die Stadt liegt am Fluss und ist für alle da. Die Bürgermeisterin ist seit langem Eva Brandt.";
        assert_ne!(
            label(stadt, "Wie alt ist die Bürgermeisterin?"),
            Label::Supported
        );
    }

    #[test]
    fn a_noun_that_a_passage_lacks_is_not_stated() {
        assert!(lacks_a_run(
            "旅館にはプールがあります。",
            "白浜駅から送迎バスが毎日3便あります。旅館"
        ));
        assert!(lacks_a_run(
            "カラオケは無料です。",
            "駐車場は30台分あり、無料です。"
        ));
        assert!(!lacks_a_run(
            "駐車場は無料です。",
            "駐車場は30台分あり、無料です。"
        ));
        assert!(!lacks_a_run(
            "客室は全部で何室ありますか？",
            "客室は全部で24室あり"
        ));
    }
}

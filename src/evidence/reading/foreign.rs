//! The small words of other languages that decide how a sentence is read: those that ask, the verbs that a question for
//! yes or no begins with, and those that deny. Written without accents, as the engine reads them.

/// What a word asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionWord {
    Who,
    When,
    Number,
    Where,
    Why,
    How,
    What,
}

struct Tongue {
    tag: &'static str,
    asking: &'static [(QuestionWord, &'static str)],
    negation: &'static str,
}

/// The languages that the engine has stop words of.
const TONGUES: [Tongue; 6] = [
    Tongue {
        tag: "de",
        asking: &[
            (QuestionWord::Who, "wer wem wen wessen"),
            (QuestionWord::When, "wann"),
            (QuestionWord::Number, "wieviel wieviele"),
            (QuestionWord::Where, "wo woher wohin"),
            (QuestionWord::Why, "warum wieso weshalb wozu"),
            (QuestionWord::How, "wie wodurch womit"),
            (
                QuestionWord::What,
                "was welche welcher welches welchem welchen woran worin wovon worauf",
            ),
        ],
        negation: "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts weder ohne",
    },
    Tongue {
        tag: "fr",
        asking: &[
            (QuestionWord::Who, "qui"),
            (QuestionWord::When, "quand"),
            (QuestionWord::Number, "combien"),
            (QuestionWord::Where, "ou"),
            (QuestionWord::Why, "pourquoi"),
            (QuestionWord::How, "comment"),
            (
                QuestionWord::What,
                "que qu quoi quel quelle quels quelles lequel laquelle lesquels",
            ),
        ],
        negation: "ne pas jamais aucun aucune rien personne sans ni",
    },
    Tongue {
        tag: "es",
        asking: &[
            (QuestionWord::Who, "quien quienes"),
            (QuestionWord::When, "cuando"),
            (QuestionWord::Number, "cuanto cuanta cuantos cuantas"),
            (QuestionWord::Where, "donde adonde"),
            (QuestionWord::Why, "porque"),
            (QuestionWord::How, "como"),
            (QuestionWord::What, "que cual cuales"),
        ],
        negation: "no nunca jamas nadie nada ninguno ninguna ningun sin tampoco ni",
    },
    Tongue {
        tag: "it",
        asking: &[
            (QuestionWord::Who, "chi"),
            (QuestionWord::When, "quando"),
            (QuestionWord::Number, "quanto quanta quanti quante"),
            (QuestionWord::Where, "dove"),
            (QuestionWord::Why, "perche"),
            (QuestionWord::How, "come"),
            (QuestionWord::What, "che cosa quale quali cos qual"),
        ],
        negation: "non mai nessuno nessuna nessun niente nulla senza ne",
    },
    Tongue {
        tag: "pt",
        asking: &[
            (QuestionWord::Who, "quem"),
            (QuestionWord::When, "quando"),
            (QuestionWord::Number, "quanto quanta quantos quantas"),
            (QuestionWord::Where, "onde aonde"),
            (QuestionWord::Why, "porque"),
            (QuestionWord::How, "como"),
            (QuestionWord::What, "que qual quais"),
        ],
        negation: "nao nunca jamais ninguem nada nenhum nenhuma sem nem",
    },
    Tongue {
        tag: "nl",
        asking: &[
            (QuestionWord::Who, "wie wiens"),
            (QuestionWord::When, "wanneer"),
            (QuestionWord::Number, "hoeveel"),
            (QuestionWord::Where, "waar waarheen"),
            (QuestionWord::Why, "waarom"),
            (QuestionWord::How, "hoe waardoor waarmee"),
            (QuestionWord::What, "wat welk welke waarvan waarin"),
        ],
        negation: "niet geen nooit niemand niets zonder noch",
    },
];

/// Words that negate in other languages, as folded text has them; none of them says anything else in another of these.
const NEGATIONS_ELSEWHERE: &str = "inte ej icke aldrig ingen inget inga ikke ikkje aldri nie nigdy neni nikdy nem soha \
    nincs degil yok не нет никогда нельзя нема немає δεν μην ليس لا لم لن לא אין tidak bukan khong";
/// Words of Chinese that begin with 不 and negate nothing.
const BEGUN_LIKE_NEGATIONS: &str =
    "不同 不仅 不僅 不断 不斷 不少 不过 不過 不管 不论 不論 不但 不久 不错 不錯";

fn tongue(tag: &str) -> Option<&'static Tongue> {
    TONGUES.iter().find(|tongue| tongue.tag == tag)
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// What a lower-case word asks for in this language.
pub(crate) fn question_word(tag: &str, word: &str) -> Option<QuestionWord> {
    let mut asking = tongue(tag)?.asking.iter();
    asking
        .find(|(_, words)| has(words, word))
        .map(|(asking, _)| *asking)
}

pub(crate) fn is_negation(tag: &str, word: &str) -> bool {
    tongue(tag).is_some_and(|tongue| has(tongue.negation, word))
}

/// The same in a language whose other words are not known. Of Chinese, Japanese and Korean a word is two characters.
pub(crate) fn is_negation_elsewhere(word: &str) -> bool {
    let is_chinese = |word: &str| {
        word == "没有"
            || word == "沒有"
            || word.starts_with('不') && !has(BEGUN_LIKE_NEGATIONS, word)
    };
    let is_korean = |word: &str| word == "안" || word.contains(['않', '못', '없']);
    has(NEGATIONS_ELSEWHERE, word)
        || matches!(word, "せん" | "ない")
        || is_chinese(word)
        || is_korean(word)
}

#[cfg(test)]
mod tests {
    use crate::evidence::reading::foreign::*;
    use crate::evidence::reading::words::known;

    #[test]
    fn every_language_with_stop_words_has_its_small_words() {
        let listed: Vec<&str> = known().stop_words().iter().map(|(tag, _)| *tag).collect();
        let own: Vec<&str> = TONGUES.iter().map(|tongue| tongue.tag).collect();
        assert_eq!(listed, own);
        assert_eq!(question_word("de", "wann"), Some(QuestionWord::When));
        assert_eq!(question_word("nl", "wie"), Some(QuestionWord::Who));
        assert_eq!(question_word("de", "hund"), None);
        assert!(is_negation("pt", "nao") && !is_negation("fr", "non"));
        for word in ["inte", "nie", "не", "degil", "不可", "没有", "せん", "않는"] {
            assert!(is_negation_elsewhere(word), "{word}");
        }
        for word in ["en", "na", "нету", "不同", "可以", "きま", "있는"] {
            assert!(!is_negation_elsewhere(word), "{word}");
        }
    }
}

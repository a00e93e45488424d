//! The small words of other languages that decide how a sentence is read: those that ask, the verbs that a question for
//! yes or no begins with, and those that deny. Written without accents, as the engine reads them.

/// What a word asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
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
    asking: &'static [(Asking, &'static str)],
    negation: &'static str,
}

/// The languages that the engine has stop words of.
const TONGUES: [Tongue; 6] = [
    Tongue {
        tag: "de",
        asking: &[
            (Asking::Who, "wer wem wen wessen"),
            (Asking::When, "wann"),
            (Asking::Number, "wieviel wieviele"),
            (Asking::Where, "wo woher wohin"),
            (Asking::Why, "warum wieso weshalb wozu"),
            (Asking::How, "wie wodurch womit"),
            (
                Asking::What,
                "was welche welcher welches welchem welchen woran worin wovon worauf",
            ),
        ],
        negation: "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts weder ohne",
    },
    Tongue {
        tag: "fr",
        asking: &[
            (Asking::Who, "qui"),
            (Asking::When, "quand"),
            (Asking::Number, "combien"),
            (Asking::Where, "ou"),
            (Asking::Why, "pourquoi"),
            (Asking::How, "comment"),
            (
                Asking::What,
                "que qu quoi quel quelle quels quelles lequel laquelle lesquels",
            ),
        ],
        negation: "ne pas jamais aucun aucune rien personne sans ni",
    },
    Tongue {
        tag: "es",
        asking: &[
            (Asking::Who, "quien quienes"),
            (Asking::When, "cuando"),
            (Asking::Number, "cuanto cuanta cuantos cuantas"),
            (Asking::Where, "donde adonde"),
            (Asking::Why, "porque"),
            (Asking::How, "como"),
            (Asking::What, "que cual cuales"),
        ],
        negation: "no nunca jamas nadie nada ninguno ninguna ningun sin tampoco ni",
    },
    Tongue {
        tag: "it",
        asking: &[
            (Asking::Who, "chi"),
            (Asking::When, "quando"),
            (Asking::Number, "quanto quanta quanti quante"),
            (Asking::Where, "dove"),
            (Asking::Why, "perche"),
            (Asking::How, "come"),
            (Asking::What, "che cosa quale quali cos qual"),
        ],
        negation: "non mai nessuno nessuna nessun niente nulla senza ne",
    },
    Tongue {
        tag: "pt",
        asking: &[
            (Asking::Who, "quem"),
            (Asking::When, "quando"),
            (Asking::Number, "quanto quanta quantos quantas"),
            (Asking::Where, "onde aonde"),
            (Asking::Why, "porque"),
            (Asking::How, "como"),
            (Asking::What, "que qual quais"),
        ],
        negation: "nao nunca jamais ninguem nada nenhum nenhuma sem nem",
    },
    Tongue {
        tag: "nl",
        asking: &[
            (Asking::Who, "wie wiens"),
            (Asking::When, "wanneer"),
            (Asking::Number, "hoeveel"),
            (Asking::Where, "waar waarheen"),
            (Asking::Why, "waarom"),
            (Asking::How, "hoe waardoor waarmee"),
            (Asking::What, "wat welk welke waarvan waarin"),
        ],
        negation: "niet geen nooit niemand niets zonder noch",
    },
];

fn tongue(tag: &str) -> Option<&'static Tongue> {
    TONGUES.iter().find(|tongue| tongue.tag == tag)
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// What a lower-case word asks for in this language.
pub(crate) fn asking(tag: &str, word: &str) -> Option<Asking> {
    let mut asking = tongue(tag)?.asking.iter();
    asking
        .find(|(_, words)| has(words, word))
        .map(|(asking, _)| *asking)
}

pub(crate) fn is_negation(tag: &str, word: &str) -> bool {
    tongue(tag).is_some_and(|tongue| has(tongue.negation, word))
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
        assert_eq!(asking("de", "wann"), Some(Asking::When));
        assert_eq!(asking("nl", "wie"), Some(Asking::Who));
        assert_eq!(asking("de", "hund"), None);
        assert!(is_negation("pt", "nao") && !is_negation("fr", "non"));
    }
}

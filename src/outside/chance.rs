//! Randomness, from the operating system.

/// Random bytes for identifiers, credits and nonces.
///
/// # Panics
/// When the operating system has no randomness to give: nothing that depends on secrets may go on then.
pub fn bytes<const N: usize>() -> [u8; N] {
    #[cfg(test)]
    if let Some(bytes) = repeatable::bytes() {
        return bytes;
    }
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// Chance that a test can repeat.
#[cfg(test)]
pub(crate) mod repeatable {
    use std::cell::RefCell;

    use crate::tests::dice::Dice;

    thread_local! {
        static DICE: RefCell<Option<Dice>> = const { RefCell::new(None) };
    }

    /// From now on this thread draws from `seed`.
    pub(crate) fn seed(seed: u64) {
        DICE.set(Some(Dice::new(seed)));
    }

    pub(super) fn bytes<const N: usize>() -> Option<[u8; N]> {
        DICE.with_borrow_mut(|dice| dice.as_mut().map(Dice::bytes))
    }
}

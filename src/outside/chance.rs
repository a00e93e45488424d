//! Randomness, from the operating system.

/// Random bytes for identifiers, credits and nonces.
///
/// # Panics
/// When the operating system has no randomness to give: nothing that depends on secrets may go on then.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

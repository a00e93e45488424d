//! Chance that can be repeated: the same seed throws the same numbers.

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Dice for one thing of many, whatever order they come in.
    pub(crate) fn of(seed: u64, thing: &[u8]) -> Dice {
        let mixed = thing.iter().fold(seed, |mixed, byte| {
            Dice(mixed ^ u64::from(*byte)).throw().rotate_left(7)
        });
        Dice(mixed)
    }

    pub(crate) fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.throw() % end
    }

    /// True so many times of a hundred.
    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let place = usize::try_from(self.below(choices.len() as u64)).expect("a place in a slice");
        &choices[place]
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.throw().to_be_bytes()[0])
    }
}

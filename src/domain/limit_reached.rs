//! The answer of every limit whose callers only ask whether there is room.

/// A limit is reached: no place, memory, space or count is left, now or for as long as the caller could wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitReached;

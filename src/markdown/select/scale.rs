//! How figures become the bytes that the model compares: coarse, monotone, in whole numbers, the same on every machine.

/// A count that fits; no page has more of anything.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A small number as it is.
pub(super) fn byte(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// A byte for a count: eight steps for each doubling.
pub(super) fn log(count: u32) -> u8 {
    let count = count.saturating_add(1);
    let exponent = 31 - count.leading_zeros();
    let fraction = match exponent {
        0..=2 => (count << (3 - exponent)) & 7,
        _ => (count >> (exponent - 3)) & 7,
    };
    byte(exponent * 8 + fraction)
}

/// A byte for a part of a whole: 0 to 255.
pub(super) fn share(part: u32, whole: u32) -> u8 {
    if whole == 0 {
        return 0;
    }
    let scaled = u64::from(part.min(whole)) * 255 / u64::from(whole);
    u8::try_from(scaled).unwrap_or(u8::MAX)
}

/// A byte for a ratio that may pass 1: eight steps for each doubling around 128 at 1.
pub(super) fn ratio(a: u32, b: u32) -> u8 {
    let scaled = (u64::from(a) << 8) / u64::from(b.max(1));
    log(u32::try_from(scaled).unwrap_or(u32::MAX))
}

/// A byte for a signed distance, 128 at none.
pub(super) fn signed(distance: i64) -> u8 {
    let size = log(u32::try_from(distance.unsigned_abs()).unwrap_or(u32::MAX)) / 2;
    if distance < 0 { 127 - size } else { 128 + size }
}

/// A byte for a weight.
pub(super) fn weight(weight: i32) -> u8 {
    u8::try_from(weight.clamp(-128, 127) + 128).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_monotone_and_end_to_end() {
        assert_eq!(log(0), 0);
        assert_eq!(log(1), 8);
        assert_eq!(log(u32::MAX), 255);
        assert!((0..5000).all(|count| log(count) <= log(count + 1)));
        assert_eq!((share(0, 0), share(1, 2), share(9, 3)), (0, 127, 255));
        assert_eq!((ratio(0, 0), ratio(1, 1), ratio(2, 1)), (0, 64, 72));
        assert!(signed(-5) < signed(-1) && signed(-1) < signed(0) && signed(0) < signed(7));
        assert_eq!((weight(-500), weight(0), weight(500)), (0, 128, 255));
    }
}

//! The base64 of the x402 headers: standard with padding when we write, any of the four common forms when we read.

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LIBERAL: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD_LIBERAL: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LIBERAL);
const URL_SAFE_LIBERAL: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LIBERAL);

/// Standard alphabet with padding, the one form that every client reads.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Standard or URL-safe alphabet (not both in one text), padded or not. Anything else, white space too, is `None`.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let engine = if text.contains(['-', '_']) {
        URL_SAFE_LIBERAL
    } else {
        STANDARD_LIBERAL
    };
    engine.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_four_forms_and_writes_one() {
        for text in ["-_-_AA==", "-_-_AA", "+/+/AA==", "+/+/AA"] {
            assert_eq!(decode(text), Some(vec![0xfb, 0xff, 0xbf, 0x00]), "{text}");
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xbf, 0x00]), "+/+/AA==");
        for refused in ["+_AA", "AA AA", "AA\nAA", "A", "AA=A", "é", "AA==="] {
            assert_eq!(decode(refused), None, "{refused:?}");
        }
    }
}

//! A picture of a page that was read: of the part around a passage, no larger than [`PNG_BYTES_MAX`].

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::outside::render::cdp::Cdp;
use crate::outside::render::job::{PASSAGE_CHARACTERS_MAX, PNG_BYTES_MAX, ScreenshotJob};

/// Makes the page ready, and says which part of it is taken.
const PREPARE: &str = include_str!("../../../assets/render/picture.js");
/// The largest part of a page in one picture, in CSS pixels: its width and height.
pub const PICTURE_PIXELS_MAX: (u32, u32) = (1280, 1600);
/// Time for images that come into view, and for the page to be painted.
const PAINT_TIME: Duration = Duration::from_millis(300);
/// Large pages take seconds to be painted on a busy machine. The end of the job holds besides.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(5);
/// A picture that is too large is taken again, smaller.
const TRIES_MAX: usize = 4;
/// The smallest scale: text can no longer be read below it.
const SCALE_MIN: f64 = 0.2;

/// A picture of a page.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) png: Vec<u8>,
    pub(super) shows_passage: bool,
}

/// What [`PREPARE`] gives.
#[derive(Debug, Deserialize)]
struct Part {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    found: bool,
}

/// Takes the picture in the world `context`, in which the page was read.
///
/// # Errors
/// Why there is none.
pub(super) async fn take(
    cdp: &Cdp,
    session: &str,
    context: &Value,
    wanted: &ScreenshotJob,
) -> Result<Picture, String> {
    let call = async |method: &str, params: Value| {
        let answer = cdp.call(session, method, params, COMMAND_TIME_MAX).await;
        answer.map_err(|error| error.to_string())
    };
    let passage: Option<String> = wanted
        .passage
        .as_ref()
        .map(|text| text.chars().take(PASSAGE_CHARACTERS_MAX).collect());
    let (width, height) = PICTURE_PIXELS_MAX;
    let arguments = json!([passage, width, height]);
    let evaluated = call(
        "Runtime.evaluate",
        json!({
            "expression": format!("{PREPARE}(...{arguments})"),
            "contextId": context,
            "returnByValue": true,
        }),
    );
    let evaluated = evaluated.await?;
    let part = evaluated["result"]["value"].as_str();
    let part: Option<Part> = part.and_then(|text| serde_json::from_str(text).ok());
    let part = part.ok_or("the page could not be made ready for its picture")?;
    tokio::time::sleep(PAINT_TIME).await;
    let mut scale = 1.0_f64;
    for _ in 0..TRIES_MAX {
        let clip = json!({
            "x": part.x, "y": part.y, "width": part.width, "height": part.height, "scale": scale,
        });
        let params = json!({"format": "png", "clip": clip, "captureBeyondViewport": true});
        let answer = call("Page.captureScreenshot", params).await?;
        let data = answer["data"].as_str().unwrap_or_default();
        let png = STANDARD.decode(data).map_err(|error| error.to_string())?;
        if size(&png).is_none() {
            return Err("the browser gave no picture".to_owned());
        }
        if png.len() <= PNG_BYTES_MAX {
            let shows_passage = part.found;
            return Ok(Picture { png, shows_passage });
        }
        // The bytes grow about as the area does.
        let share = (PNG_BYTES_MAX as f64 / png.len() as f64).sqrt();
        scale *= (share * 0.95).min(0.9);
        if scale < SCALE_MIN {
            break;
        }
    }
    Err(format!(
        "the picture is larger than {PNG_BYTES_MAX} bytes at any size at which it can be read"
    ))
}

/// The width and height of a PNG that is whole: signature, header, and the end behind everything else (PNG, third edition,
/// sections 5.2 and 11.2). `None` for other bytes and for more pixels than a picture of ours has.
pub fn size(png: &[u8]) -> Option<(u32, u32)> {
    const HEAD: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
    const END: &[u8] = b"\0\0\0\0IEND\xae\x42\x60\x82";
    let rest = png.strip_prefix(HEAD)?;
    let number = |at: usize| {
        let bytes = rest.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    let (width, height) = (number(0)?, number(4)?);
    let is_ours =
        (1..=PICTURE_PIXELS_MAX.0).contains(&width) && (1..=PICTURE_PIXELS_MAX.1).contains(&height);
    (is_ours && rest.ends_with(END)).then_some((width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG without any pixels, whose header says this size.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend(b"\x08\x06\0\0\0CRC_\0\0\0\0IEND\xae\x42\x60\x82");
        bytes
    }

    #[test]
    fn only_a_whole_png_of_a_page_is_a_picture() {
        assert_eq!(size(&png(1280, 1600)), Some((1280, 1600)));
        for (width, height) in [(0, 1), (1, 0), (1281, 1), (1, 1601), (u32::MAX, u32::MAX)] {
            assert_eq!(size(&png(width, height)), None, "{width} x {height}");
        }
        let whole = png(10, 10);
        for cut in 0..whole.len() {
            assert_eq!(size(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(size(b"<svg onload=alert(1)>"), None);
        assert_eq!(size(&[whole, b"more".to_vec()].concat()), None);
    }
}

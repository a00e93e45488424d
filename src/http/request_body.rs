//! The body of a request, read within its bounds.

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};

use crate::http::bodies::{self, NoRoom};
use crate::http::hooks::Refused;

/// The body in one piece, counted until it is dropped. Frames are copied, because each holds on to the read buffer that
/// it came in: a body of single bytes would take forty times its length in memory. What is counted is what was
/// allocated.
pub(super) async fn collect(
    body: Incoming,
    limit: usize,
    mut counted: bodies::Body,
) -> Result<Bytes, Refused> {
    let mut body = Limited::new(body, limit);
    let no_room = |NoRoom| Refused::NoRoomForBody;
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
            true => Refused::BodyTooLarge(limit),
            false => Refused::BadRequest("The request body ended early or was badly framed"),
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.is_empty() && body.is_end_stream() {
            counted.grow(data.len()).map_err(no_room)?;
            return held(data, counted).map_err(no_room);
        }
        let length = whole.len() + data.len();
        if length > whole.capacity() {
            let room = length.next_power_of_two().max(bodies::UNCOUNTED_BYTES);
            let room = room.min(limit.max(length));
            counted.grow(room).map_err(no_room)?;
            whole.reserve_exact(room - whole.len());
        }
        whole.extend_from_slice(&data);
    }
    held(whole, counted).map_err(no_room)
}

/// The whole body, with what is counted of it. A small one carries nothing along.
fn held<T: Into<Bytes> + AsRef<[u8]> + Send + 'static>(
    whole: T,
    mut counted: bodies::Body,
) -> Result<Bytes, NoRoom> {
    counted.complete()?;
    Ok(match counted.is_free() {
        true => whole.into(),
        false => Bytes::from_owner(Counted(whole, counted)),
    })
}

/// Bytes that are counted as long as somebody holds them.
struct Counted<T>(
    T,
    #[expect(dead_code, reason = "it counts until it is dropped")] bodies::Body,
);

impl<T: AsRef<[u8]>> AsRef<[u8]> for Counted<T> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

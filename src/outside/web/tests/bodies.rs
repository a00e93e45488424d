//! What a body may be: its coding, its size, its end.

use super::*;

fn with_length(bytes: usize) -> Vec<u8> {
    let mut response =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {bytes}\r\n\r\n")
            .into_bytes();
    response.resize(response.len() + bytes, b'a');
    response
}

fn until_close(bytes: usize) -> Vec<u8> {
    let mut response =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n".to_vec();
    response.resize(response.len() + bytes, b'a');
    response
}

fn chunked(mut bytes: usize) -> Vec<u8> {
    let mut response =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
    while bytes > 0 {
        let chunk = bytes.min(60_000);
        response.extend_from_slice(format!("{chunk:x}\r\n").as_bytes());
        response.resize(response.len() + chunk, b'a');
        response.extend_from_slice(b"\r\n");
        bytes -= chunk;
    }
    response.extend_from_slice(b"0\r\n\r\n");
    response
}

/// CRC-32 of gzip (RFC 1952 section 8).
fn crc32(bytes: impl Iterator<Item = u8>) -> u32 {
    let table: Vec<u32> = (0..256)
        .map(|byte| {
            (0..8).fold(byte, |crc, _| match crc & 1 {
                1 => (crc >> 1) ^ 0xedb8_8320,
                _ => crc >> 1,
            })
        })
        .collect();
    !bytes.fold(u32::MAX, |crc, byte| {
        (crc >> 8) ^ table[usize::from(crc.to_le_bytes()[0] ^ byte)]
    })
}

/// gzip (RFC 1952) of `count` letters a: one block with fixed codes (RFC 1951 section 3.2.6), a letter, then copies
/// of 258 letters from a distance of one in 13 bits each.
fn gzip_of_letters(count: usize) -> Vec<u8> {
    let mut bits: Vec<bool> = vec![true, true, false];
    let mut code = |value: u32, length: u32| {
        bits.extend((0..length).rev().map(|bit| value >> bit & 1 == 1));
    };
    let letters = match count {
        0 => 0,
        _ => 1 + (count - 1) % 258,
    };
    for _ in 0..letters {
        code(0x30 + u32::from(b'a'), 8);
    }
    for _ in 0..(count - letters) / 258 {
        code(0b1100_0101, 8);
        code(0, 5);
    }
    code(0, 7);
    let mut gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    gzip.extend(bits.chunks(8).map(|byte| {
        byte.iter()
            .enumerate()
            .fold(0, |value, (place, &bit)| value | u8::from(bit) << place)
    }));
    gzip.extend(crc32(std::iter::repeat_n(b'a', count)).to_le_bytes());
    gzip.extend(u32::try_from(count).expect("a test's size").to_le_bytes());
    gzip
}

#[test]
fn exactly_the_limit_passes_and_one_byte_more_fails() {
    assert_eq!(PAGE_BYTES as u64, PAGE_BYTES_MAX);
    let check = |name: &str, response: fn(usize) -> Vec<u8>| {
        assert_eq!(
            bytes_read(response(PAGE_BYTES)),
            Ok(PAGE_BYTES_MAX),
            "{name}"
        );
        assert_eq!(
            bytes_read(response(PAGE_BYTES + 1)),
            Err(FetchError::TooLarge),
            "{name}"
        );
    };
    check("Content-Length", with_length);
    check("chunked", chunked);
    check("until close", until_close);
    check("gzip", |bytes| compressed("gzip", &gzip_of_letters(bytes)));
    assert_eq!(FetchError::TooLarge.code(), Code::ContentTooLarge);
}

#[test]
fn a_bomb_is_stopped_at_the_limit_and_not_at_its_end() {
    let taken = Arc::new(AtomicUsize::new(0));
    let site = Site::saying(compressed("gzip", &gzip_of_letters(20_000_000)));
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let cleared = web
        .clear(&target("http://news.sample-site.org/"))
        .expect("cleared");
    let Ok(Opened::Page { body, .. }) = web.open(cleared, &options()) else {
        panic!("the headers are fine");
    };
    let outcome = body.drain(|chunk| {
        taken.fetch_add(chunk.len(), Ordering::SeqCst);
        Ok(())
    });
    assert_eq!(outcome.map(|_| ()).err(), Some(FetchError::TooLarge));
    assert!(taken.load(Ordering::SeqCst) <= PAGE_BYTES);
}

/// The decoder works on blocks without a byte in them and gives nothing back, so that nobody behind it can stop.
#[test]
fn a_body_that_decodes_to_nothing_is_stopped() {
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let empty = b"\x02\x08\x20\x80\x00".repeat(400_000);
    let body = [&head[..], &empty, b"\x03\x00", &[0; 8]].concat();
    assert_eq!(failure(compressed("gzip", &body)), FetchError::TooLarge);
}

#[test]
fn a_body_that_ends_early_is_transient() {
    let cut = |mut response: Vec<u8>, bytes: usize| {
        response.truncate(response.len() - bytes);
        response
    };
    let check = |response: Vec<u8>| {
        let error = failure(response);
        assert_eq!(error, FetchError::Truncated);
        assert!(error.is_transient());
    };
    check(cut(with_length(1_000), 1));
    check(cut(chunked(1_000), 20));
    check(cut(chunked(1_000), 5));
    check(cut(compressed("gzip", &gzip_of_letters(100_000)), 30));
    check(cut(compressed("br", b"\x0b\x02\x80hello\x03"), 3));
    // Whole by HTTP's count, cut by gzip's.
    let gzip = gzip_of_letters(100_000);
    check(compressed("gzip", &gzip[..gzip.len() - 30]));
    assert_eq!(failure("HTTP/1.1 200 OK\r\nContent-Ty"), FetchError::Lost);
    assert_eq!(failure(""), FetchError::Lost);
}

/// ureq takes a reset for the end of a body without a length.
#[test]
fn a_reset_is_not_the_end_of_a_body_without_a_length() {
    let site = Site::start(|_, stream| {
        send(stream, &until_close(5_000));
        let socket = socket2::SockRef::from(stream);
        // Let the bytes arrive before the reset throws away what is under way.
        std::thread::sleep(Duration::from_millis(100));
        socket
            .set_linger(Some(Duration::ZERO))
            .expect("a socket option");
    });
    let web = web_of(settings(), &[("news.sample-site.org", &site)]);
    let error = read_page(&web, "http://news.sample-site.org/")
        .map(|_| ())
        .expect_err("a reset");
    assert_eq!(error, FetchError::Truncated);
}

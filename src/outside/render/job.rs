//! What the service and a render worker say to each other: one line of JSON in, one line of JSON and the page out. The
//! worker opens what strangers made, so that nothing it says is taken without a bound.

use std::io;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::markdown::PAGE_BYTES_MAX;

/// Raised when a line changes: a worker of another program version is then recognised and refused.
pub const VERSION: u32 = 2;
/// The longest line.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// The largest picture of a page.
pub const PNG_BYTES_MAX: usize = 1_000_000;
/// The longest text that is looked for on a page.
pub const PASSAGE_CHARACTERS_MAX: usize = 2_000;

/// One page to render.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub version: u32,
    /// Opens the guard.
    pub token: String,
    /// A cleared http or https address.
    pub url: String,
    /// `auto`, or the path of a browser.
    pub browser: String,
    pub user_agent: String,
    /// Compile the page's scripts to machine code.
    pub jit: bool,
    /// When the page is taken as it is, in milliseconds from the beginning.
    pub deadline_ms: u64,
    /// Also say how the browser is confined.
    pub inspects: bool,
    /// Also take a picture of the page, for which its images and fonts are loaded.
    pub screenshot: Option<ScreenshotJob>,
}

/// Which picture is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenshotJob {
    /// A text of the page, of at most [`PASSAGE_CHARACTERS_MAX`] characters: it is highlighted, and the picture is of the
    /// part of the page around it. Where the page shows only its first words, the picture is of the part around them, and
    /// nothing is highlighted. Without a passage, or where the page shows nothing of it, the picture begins at the top.
    pub passage: Option<String>,
}

/// How a render ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub version: u32,
    pub outcome: Outcome,
    /// Bytes of HTML that follow the line.
    pub html_bytes: u64,
    /// Bytes of the PNG that follow the HTML; 0 where there is none.
    pub png_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Rendered(Facts),
    Failed { kind: FailureKind, detail: String },
}

/// Why there is no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// There is no browser, or it does not start here.
    NoBrowser,
    /// The browser ended or stopped to answer.
    BrowserLost,
    /// The page's own process ended.
    Crashed,
    /// The browser could not open the page.
    NotOpened,
    /// The page, or where it led, is not allowed.
    Refused,
    /// Nothing could be read before the hard end.
    TimedOut,
    /// The worker speaks another version.
    Version,
}

/// Why a page was taken when it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    /// Loaded, no request in flight, and the text stays the same.
    Quiet,
    /// The text stays the same, although something still loads.
    Stable,
    /// The time was over.
    Deadline,
}

/// What is known of a rendered page beside its HTML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub final_url: String,
    /// Of the main document, after redirects.
    pub status: u16,
    pub settled: Settled,
    /// The end of a page that was too long is missing.
    pub is_cut: bool,
    pub requests: u32,
    /// Alerts and questions that were answered.
    pub dialogs: u32,
    /// Consent dialogs that were left out.
    pub consent_dialogs: u32,
    /// The browser's name and version.
    pub browser: String,
    /// Whether the page's process runs in the browser's own sandbox, where that was asked for.
    pub sandbox: Option<bool>,
    /// What came of the picture, where one was asked for.
    pub screenshot: Option<Pictured>,
}

/// What came of the picture of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pictured {
    Taken {
        /// Whether it shows the whole passage that was asked for, highlighted.
        shows_passage: bool,
    },
    /// Why there is none.
    Failed(String),
}

pub async fn write_job(to: &mut (impl AsyncWrite + Unpin), job: &Job) -> io::Result<()> {
    write_line(to, job).await
}

pub async fn read_job(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Job> {
    read_line(from).await
}

pub async fn write_answer(
    to: &mut (impl AsyncWrite + Unpin),
    outcome: Outcome,
    html: &[u8],
    png: &[u8],
) -> io::Result<()> {
    let answer = Answer {
        version: VERSION,
        outcome,
        html_bytes: html.len() as u64,
        png_bytes: png.len() as u64,
    };
    write_line(to, &answer).await?;
    to.write_all(html).await?;
    to.write_all(png).await?;
    to.flush().await
}

/// An answer, and what follows its line.
#[derive(Clone, Debug)]
pub struct Answered {
    pub answer: Answer,
    /// No longer than a page may be.
    pub html: Vec<u8>,
    /// Of at most [`PNG_BYTES_MAX`]; empty where there is none.
    pub png: Vec<u8>,
}

pub async fn read_answer(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Answered> {
    let answer: Answer = read_line(from).await?;
    if answer.html_bytes > PAGE_BYTES_MAX || answer.png_bytes > PNG_BYTES_MAX as u64 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a page or picture that is too long",
        ));
    }
    let html = read_bytes(from, answer.html_bytes).await?;
    let png = read_bytes(from, answer.png_bytes).await?;
    Ok(Answered { answer, html, png })
}

async fn read_bytes(from: &mut (impl AsyncRead + Unpin), length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match from.take(length).read_to_end(&mut bytes).await? as u64 == length {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

async fn write_line(to: &mut (impl AsyncWrite + Unpin), value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line).await?;
    to.flush().await
}

/// Reads byte by byte, so that nothing behind the line is taken: the lines are short.
async fn read_line<T: for<'de> Deserialize<'de>>(
    from: &mut (impl AsyncRead + Unpin),
) -> io::Result<T> {
    let mut line = Vec::new();
    loop {
        match from.read_u8().await? {
            b'\n' => break,
            byte if line.len() < LINE_BYTES_MAX => line.push(byte),
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a line that is too long",
                ));
            }
        }
    }
    Ok(serde_json::from_slice(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            final_url: "https://example.com/".to_owned(),
            status: 200,
            settled: Settled::Quiet,
            is_cut: false,
            requests: 3,
            dialogs: 0,
            consent_dialogs: 1,
            browser: "HeadlessChrome/1".to_owned(),
            sandbox: None,
            screenshot: Some(Pictured::Failed("no frame".to_owned())),
        }
    }

    #[tokio::test]
    async fn an_answer_is_read_as_it_was_written() {
        let mut wire = Vec::new();
        let outcome = Outcome::Rendered(facts());
        write_answer(&mut wire, outcome.clone(), b"<p>\n", b"PNG")
            .await
            .expect("memory");
        let read = read_answer(&mut wire.as_slice()).await.expect("whole");
        assert_eq!(read.answer.outcome, outcome);
        assert_eq!(
            (read.html.as_slice(), read.png.as_slice()),
            (&b"<p>\n"[..], &b"PNG"[..])
        );
        for cut in 0..wire.len() {
            assert!(read_answer(&mut &wire[..cut]).await.is_err(), "{cut}");
        }
    }

    #[tokio::test]
    async fn a_worker_cannot_send_more_than_a_page() {
        for (html_bytes, png_bytes) in [(PAGE_BYTES_MAX + 1, 0), (0, PNG_BYTES_MAX as u64 + 1)] {
            let huge = Answer {
                version: VERSION,
                outcome: Outcome::Rendered(facts()),
                html_bytes,
                png_bytes,
            };
            let mut wire = Vec::new();
            write_line(&mut wire, &huge).await.expect("memory");
            let error = read_answer(&mut wire.as_slice())
                .await
                .expect_err("too long");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
        let endless = vec![b'x'; LINE_BYTES_MAX + 2];
        let error = read_answer(&mut endless.as_slice())
            .await
            .expect_err("no line");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}

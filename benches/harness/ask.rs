//! One request, and its whole answer.

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::harness::read_message;

/// The answer to one request, head and body.
pub(crate) async fn one_answer(address: &str, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.expect("it accepts");
    stream.write_all(request).await.expect("it reads");
    let mut answer = Vec::new();
    let length = read_message(&mut stream, &mut answer)
        .await
        .expect("it answers");
    answer.truncate(length);
    answer
}

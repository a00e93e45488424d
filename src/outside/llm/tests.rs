use super::*;
use crate::outside::loopback::{Server, Step, response};

fn settings(base_url: &str) -> LlmSettings {
    LlmSettings {
        base_url: base_url.to_owned(),
        model: "small".to_owned(),
        key: Some("k-1".to_owned()),
        time_max: Duration::from_secs(30),
        questions_max: 2,
        input_tokens_max: 4_000,
        output_tokens_max: 500,
        input_price: Amount::from_units(150_000),
        output_price: Amount::from_units(600_000),
        style: Style::Classic,
    }
}

fn completion(text: &str) -> Vec<u8> {
    let reply = json!({
        "choices": [{"message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 100},
    });
    response(
        200,
        &[("Content-Type", "application/json")],
        reply.to_string().as_bytes(),
    )
}

async fn asked(reply: impl Fn() -> Step + Send + 'static) -> Result<Completion, LlmError> {
    let server = Server::start(move |_| reply());
    let llm = Llm::new(settings(&server.url)).expect("settings");
    llm.ask("system", "user").await
}

#[tokio::test]
async fn a_question_is_asked_and_answered() {
    let server = Server::start(|_| Step::Reply(completion("{\"claims\": []}")));
    let llm = Llm::new(settings(&format!("{}/v1/", server.url))).expect("settings");
    let answer = llm
        .ask("be careful", "what is this?")
        .await
        .expect("an answer");
    assert_eq!(answer.text, "{\"claims\": []}");
    // 1,000 tokens at 0.15 and 100 at 0.60 USDC a million.
    assert_eq!(answer.cost, Some(Amount::from_units(210)));
    let request = &server.requests()[0];
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(request.header("authorization"), Some("Bearer k-1"));
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    assert_eq!(body["model"], "small");
    assert_eq!(
        body["messages"][0],
        json!({"role": "system", "content": "be careful"})
    );
    assert_eq!(
        body["messages"][1],
        json!({"role": "user", "content": "what is this?"})
    );
    assert_eq!(
        (&body["max_tokens"], &body["temperature"]),
        (&json!(500), &json!(0))
    );
}

#[test]
fn a_reasoning_model_gets_its_own_parameters() {
    let settings = LlmSettings {
        style: Style::Reasoning,
        ..settings("http://127.0.0.1:1")
    };
    let body: Value = serde_json::from_str(&settings.request("s", "u")).expect("JSON");
    assert_eq!(body["max_completion_tokens"], 500);
    assert!(body.get("max_tokens").is_none() && body.get("temperature").is_none());
}

#[tokio::test]
async fn nothing_but_a_completion_is_an_answer() {
    let garbled = |body: &'static [u8]| asked(move || Step::Last(response(200, &[], body)));
    for body in [
        &b""[..],
        b"hello",
        b"[]",
        b"{\"choices\": 3}",
        b"\xff\xfe",
        b"{\"choices\": [{\"message\": {}}",
        b"<html>",
    ] {
        let error = garbled(body).await.expect_err("no answer");
        assert_eq!(error, LlmError::Garbled("it is not a chat completion"));
    }
    for body in [
        &b"{\"choices\": []}"[..],
        b"{\"choices\": [{\"message\": {\"content\": null}}]}",
        b"{\"choices\": [{\"message\": {\"content\": \"  \"}}]}",
    ] {
        let error = garbled(body).await.expect_err("no answer");
        assert_eq!(error, LlmError::Garbled("it says nothing"));
    }
}

#[tokio::test]
async fn an_error_of_the_endpoint_is_no_answer() {
    for status in [301, 400, 401, 429, 500, 503] {
        let reply = move || {
            Step::Last(response(
                status,
                &[("Location", "http://127.0.0.1:1/")],
                b"{}",
            ))
        };
        assert_eq!(asked(reply).await, Err(LlmError::Status(status)));
    }
}

#[tokio::test]
async fn a_stall_ends_with_the_time() {
    let server = Server::start(|_| Step::Hang(Duration::from_secs(20)));
    let settings = LlmSettings {
        time_max: Duration::from_millis(200),
        ..settings(&server.url)
    };
    let llm = Llm::new(settings).expect("settings");
    assert_eq!(llm.ask("s", "u").await, Err(LlmError::TimedOut));
}

#[tokio::test]
async fn a_flood_is_not_read_to_its_end() {
    let flood = || {
        let mut reply = b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n".to_vec();
        reply.resize(50_000_000, b' ');
        Step::Last(reply)
    };
    assert_eq!(asked(flood).await, Err(LlmError::TooLong));
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_no_answer() {
    let cut = || Step::Last(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"choices\"".to_vec());
    assert!(matches!(asked(cut).await, Err(LlmError::Unreachable(_))));
}

#[tokio::test]
async fn a_model_that_is_not_there_is_told() {
    let llm = Llm::new(settings("http://127.0.0.1:1")).expect("settings");
    assert!(matches!(
        llm.ask("s", "u").await,
        Err(LlmError::Unreachable(_))
    ));
}

#[tokio::test]
async fn a_prompt_that_may_cost_too_much_is_not_sent() {
    let server = Server::start(|_| Step::Reply(completion("{}")));
    let llm = Llm::new(settings(&server.url)).expect("settings");
    let long = "x".repeat(llm.prompt_bytes_max());
    assert_eq!(
        llm.ask("", &format!("{long}x")).await,
        Err(LlmError::PromptTooLong)
    );
    assert_eq!(server.requests().len(), 0);
    assert!(llm.ask("", &long).await.is_ok());
}

#[test]
fn the_cost_is_bounded_before_the_call() {
    let cost = |input, output, settings: LlmSettings| settings.cost(input, output).units();
    let usual = || settings("http://127.0.0.1:1");
    assert_eq!(Llm::new(usual()).expect("settings").cost_max().units(), 900);
    assert_eq!(cost(1, 0, usual()), 1);
    assert_eq!(cost(0, 0, usual()), 0);
    let dear = LlmSettings {
        input_price: Amount::from_units(u64::MAX),
        ..usual()
    };
    assert_eq!(cost(u64::MAX, 1, dear), u64::MAX);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |change: &dyn Fn(&mut LlmSettings)| {
        let mut settings = settings("https://llm.example.com/v1");
        change(&mut settings);
        Llm::new(settings).err()
    };
    assert_eq!(refused(&|_| {}), None);
    for url in [
        "",
        "llm.example.com",
        "ftp://llm.example.com",
        "https://llm.example.com/v1?key=3",
    ] {
        assert_eq!(
            refused(&|settings| settings.base_url = url.to_owned()),
            Some(SettingsError::BaseUrl)
        );
    }
    for key in ["", "two words", "line\n"] {
        assert_eq!(
            refused(&|settings| settings.key = Some(key.to_owned())),
            Some(SettingsError::Key)
        );
    }
    assert!(!format!("{:?}", settings("http://127.0.0.1:1")).contains("k-1"));
}

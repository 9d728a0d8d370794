//! Which bytes are lines of a beads file, and which are refused.

use proptest::prelude::*;

use super::*;

fn fault(text: &str) -> (usize, String) {
    let error = parse(text.as_bytes()).unwrap_err();
    (error.line, error.fault.to_string())
}

#[test]
fn marks_blank_lines_and_carriage_returns_are_ignored() {
    let text = "\u{feff}{\"id\":\"a\",\"title\":\"A\"}\r\n\r\n   \n{\"id\":\"b\",\"title\":\"B\"}";
    let lines = parse(text.as_bytes()).unwrap();
    let seen: Vec<_> = lines.iter().map(|l| (l.line, l.id.as_str(), l.title.as_str())).collect();
    assert_eq!(seen, [(1, "a", "A"), (4, "b", "B")]);
    assert_eq!(parse(b""), Ok(Vec::new()));
}

#[test]
fn one_malformed_line_refuses_the_file_and_names_line_and_field() {
    let good = "{\"id\":\"ok\",\"title\":\"t\"}\n";
    let table = [
        ("{", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ("{\"id\":\"a\",\"title\":\"t\"} x", "not a JSON object"),
        ("{\"id\":\"a\",\"id\":\"b\",\"title\":\"t\"}", "field \"id\" is there twice"),
        (
            "{\"id\":\"a\",\"title\":\"t\",\"dependencies\":[{\"type\":\"blocks\",\"depends_on_id\":\"b\",\"depends_on_id\":\"c\"}]}",
            "field \"depends_on_id\" is there twice",
        ),
        ("{\"id\":\"a\",\"title\":\"t\",\"x\":[{\"y\":{\"z\":1,\"z\":1}}]}", "field \"z\" is there twice"),
        ("{\"title\":\"t\"}", "field \"id\" is missing"),
        ("{\"id\":null,\"title\":\"t\"}", "field \"id\" is missing"),
        ("{\"id\":7,\"title\":\"t\"}", "field \"id\" is not a text"),
        ("{\"id\":\"a b\",\"title\":\"t\"}", "field \"id\": an id is made of"),
        ("{\"id\":\"a\"}", "field \"title\" is missing"),
        ("{\"id\":\"a\",\"title\":\" \\n \"}", "field \"title\": a title cannot be empty"),
        ("{\"id\":\"a\",\"title\":\"\\u0000\"}", "field \"title\": a title cannot contain a NUL"),
        ("{\"id\":\"a\",\"title\":\"t\",\"priority\":\"high\"}", "field \"priority\" is not a whole number"),
        ("{\"id\":\"a\",\"title\":\"t\",\"priority\":1.5}", "field \"priority\" is not a whole number"),
        ("{\"id\":\"a\",\"title\":\"t\",\"created_at\":\"now\"}", "field \"created_at\" is not an RFC 3339"),
        ("{\"id\":\"a\",\"title\":\"t\",\"labels\":\"x\"}", "field \"labels\" is not a list"),
        ("{\"id\":\"a\",\"title\":\"t\",\"labels\":[1]}", "field \"labels\" is not a list of texts"),
        ("{\"id\":\"a\",\"title\":\"t\",\"dependencies\":[1]}", "field \"dependencies[0]\" is not an object"),
        (
            "{\"id\":\"a\",\"title\":\"t\",\"dependencies\":[{\"type\":\"blocks\"}]}",
            "field \"dependencies[0].depends_on_id\" is missing",
        ),
        ("{\"id\":\"a\",\"title\":\"t\",\"comments\":[{}]}", "field \"comments[0].text\" is missing"),
        ("{\"id\":\"ok\",\"title\":\"other\"}", "ok is on line 1 already"),
    ];
    for (bad, reason) in table {
        let (line, found) = fault(&format!("{good}{bad}\n"));
        assert_eq!(line, 2, "{bad}");
        assert!(found.contains(reason), "{bad}: {found}");
    }
    let error = parse(b"\n{\"id\":\"a\",\"title\":\"\xff\"}").unwrap_err();
    assert_eq!((error.line, error.fault), (2, Fault::NotUtf8(19)));
}

#[test]
fn texts_and_lines_over_the_limits_are_refused() {
    let long = "x".repeat((1 << 20) + 1);
    let (line, found) = fault(&format!("{{\"id\":\"a\",\"title\":\"t\",\"description\":\"{long}\"}}"));
    assert!(line == 1 && found.contains("\"description\": a body has at most"), "{found}");
    let vast = format!("{{\"id\":\"a\",\"title\":\"t\",\"x\":\"{}\"}}", "x".repeat(MAX_LINE_BYTES));
    assert!(matches!(parse(vast.as_bytes()).unwrap_err().fault, Fault::TooLong(_)));
    let deep = format!("{{\"id\":\"a\",\"title\":\"t\",\"x\":{}", "[".repeat(100_000));
    assert!(matches!(parse(deep.as_bytes()).unwrap_err().fault, Fault::NotAnObject(_)));
}

#[test]
fn a_line_that_comes_twice_is_one_issue() {
    let line = "{\"id\":\"a\",\"title\":\"A\",\"labels\":[\"x\"]}";
    let lines = parse(format!("{line}\n{line}\n{line}").as_bytes()).unwrap();
    assert_eq!((lines.len(), lines[0].repeats), (1, 2));
}

#[test]
fn times_keep_their_instant() {
    let line = "{\"id\":\"a\",\"title\":\"A\",\"created_at\":\"2026-01-01T00:00:00.123456789-08:00\"}";
    assert_eq!(parse(line.as_bytes()).unwrap()[0].created_at, Some(1_767_254_400_123));
}

fn almost_json() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"id\"",
        "\"title\"",
        "\"a\"",
        "\"b-1\"",
        "null",
        "1",
        "-1e99",
        "\n",
        "\"dependencies\"",
        "\"depends_on_id\"",
        "\"type\"",
        "\"blocks\"",
        "\"parent-child\"",
        "\"\\u0000\"",
        "{\"id\":\"a\",\"title\":\"t\"}",
        "{\"id\":\"b\",\"title\":\"t\",\"priority\":99}",
        "\"status\"",
    ]);
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn almost_json_never_panics(text in almost_json()) {
        let _ = parse(text.as_bytes());
    }
}

//! Names that would look like others: characters that turn a line around, or have no width.

use roundgate::app::{Session, forum, issues};
use roundgate::model::act::create::NewIssue;
use roundgate::model::tag::Tag;

use crate::stage::Stage;

#[test]
fn a_name_has_nothing_that_hides_or_turns_the_line_around() {
    let stage = Stage::new();
    let id = stage.id("issues create 'Write it'");
    for bad in ["ana\u{200b}", "\u{202e}ana", "an\u{2066}a", "ana\u{feff}", "a\u{200d}na", "ana\u{61c}"] {
        let shown = format!("{:?}", bad.chars().find(|c| !c.is_alphabetic()).unwrap());
        for ran in [
            stage.cmd("issues create Other").by(bad).refused(2),
            stage.cmd(&format!("issues update {id} --add-tag")).arg(format!("area:{bad}")).refused(2),
            stage.cmd("issues create Which? --tag kind:ask --ask-assignee").arg(bad).refused(2),
            stage.cmd("issues create Which? --tag kind:ask --choice").arg(bad).refused(2),
        ] {
            let said = ran.stderr.contains("no width") || ran.stderr.contains("one word");
            assert!(said && ran.stderr.contains(shown.trim_matches('\'')), "{bad:?}: {}", ran.stderr);
            assert!(!ran.stderr.contains(bad), "{}", ran.stderr);
        }
    }
    stage.cmd("issues create 'Schreib es'").by("Gr\u{fc}\u{df}e-\u{4e16}").ok();
}

#[test]
fn a_store_with_names_that_are_not_given_any_more_is_read_and_mended() {
    let stage = Stage::new();
    stage.ok("init");
    let folder = stage.path(".roundgate");
    let older = |text: &str| serde_json::Value::from(text);
    let mut session = Session::of_engine(&folder, 1_772_000_000_000).unwrap();
    session.actor = serde_json::from_value(older("an\u{202e}na")).unwrap();
    let tag: Tag = serde_json::from_value(older("area:\u{200b}x")).unwrap();
    let new =
        NewIssue { title: "Write it".to_owned(), tags: [tag].into_iter().collect(), ..NewIssue::default() };
    let id = issues::create(&mut session, new, None).unwrap().value.id;
    forum::post(&mut session, &format!("issue:{id}"), "words").unwrap();
    drop(session);
    let got = stage.json(&format!("issues get {id}"));
    assert!(got["tags"].to_string().contains("area:"), "{got}");
    assert!(stage.ok("log").contains("an\\u{202e}na"));
    assert!(stage.ok(&format!("forum read issue:{id}")).contains("an\\u{202e}na"));
    stage.cmd(&format!("issues update {id} --remove-tag")).arg("area:\u{200b}x").ok();
    let got = stage.json(&format!("issues get {id}"));
    assert!(!got["tags"].to_string().contains("area:"), "{got}");
    assert_eq!(stage.cmd("doctor").run().exit, 0);
}

//! Words are found, and lists are read page by page.

use crate::stage::Stage;

/// The ids of what a command lists.
fn ids(stage: &Stage, line: &str) -> Vec<String> {
    let found = stage.json(line);
    found.as_array().unwrap().iter().map(|issue| issue["id"].as_str().unwrap().to_owned()).collect()
}

/// The ids of all pages of a command, one behind the other, and how many pages there were.
fn leafed(stage: &Stage, line: &str, rows: usize) -> (Vec<String>, usize) {
    let (mut all, mut pages) = (Vec::new(), 0);
    loop {
        let after = all.last().map_or(String::new(), |last| format!("--after {last}"));
        let page = ids(stage, &format!("{line} --limit {rows} {after}"));
        pages += 1;
        let end = page.len() < rows;
        all.extend(page);
        if end {
            return (all, pages);
        }
    }
}

#[test]
fn issues_are_found_by_words_of_title_and_body_the_latest_first() {
    let stage = Stage::new();
    let lexer = stage.id("issues create 'Write the Lexer' --body 'It splits strings-with escapes.'");
    let cafe = stage.id("issues create 'Find a café' --body 'with a lexer'");
    let parser = stage.id("issues create 'Write the parser'");
    let found = |query: &str| ids(&stage, &format!("issues search {query}"));
    assert_eq!(found("lexer"), [cafe.as_str(), &lexer]);
    assert_eq!(found("'write THE'"), [parser.as_str(), &lexer]);
    assert_eq!(found("'lexer write'"), [lexer.as_str()]);
    assert_eq!(found("'\"the parser\"'"), [parser.as_str()]);
    assert_eq!(found("'\"parser the\"'"), [""; 0]);
    assert_eq!(found("strings_with"), [lexer.as_str()]);
    assert_eq!(found("cafe"), [cafe.as_str()]);
    assert_eq!(found("pars"), [""; 0]);
    assert_eq!(found("'pars*'"), [parser.as_str()]);
    stage.ok(&format!("issues close {lexer}"));
    assert_eq!(found("lexer --status open"), [cafe.as_str()]);
    assert_eq!(found("lexer --status closed"), [lexer.as_str()]);
    assert!(stage.ok("issues search parser").contains("Write the parser"));
    assert_eq!(stage.ok("issues search nowhere"), "nothing found\n");
    stage.refused(3, "issues search lexer --after rg-none");
}

#[test]
fn what_is_searched_changes_with_the_issue() {
    let stage = Stage::new();
    let one = stage.id("issues create 'old words' --body 'stay here'");
    stage.ok(&format!("issues update {one} --title 'new words'"));
    assert_eq!(ids(&stage, "issues search old"), [""; 0]);
    assert_eq!(ids(&stage, "issues search 'new stay'"), [one.as_str()]);
    stage.ok(&format!("issues update {one} --body 'gone there'"));
    assert_eq!(ids(&stage, "issues search stay"), [""; 0]);
    assert_eq!(ids(&stage, "issues search 'words gone'"), [one.as_str()]);
    stage.ok("doctor");
}

#[test]
fn no_text_is_an_error_of_syntax() {
    let stage = Stage::new();
    let odd = stage.id("issues create 'AND O''Neil NEAR title:x c++ 100%'");
    let searched = |query: &str| {
        let ran = stage.cmd("issues search --json").arg(query).run();
        (ran.exit, ran.stdout.contains(&odd))
    };
    for hit in ["AND", "NEAR", "c++", "100%", "title:x", "\"AND", "AN*", "(AND)", "and NEAR x"] {
        assert_eq!(searched(hit), (0, true), "{hit}");
    }
    let hostile = [
        "AND OR",
        "NOT x",
        "NEAR(a, 5)",
        "^y",
        "a^2",
        "y NOT",
        "body : y",
        "y\"\"*\"",
        "';--y",
        "y\u{1b}[2J",
        "\u{202e}y",
        "'y",
        "\"y\" + \"z\"",
        "²",
        "Ⓐ",
        "y\n\ty",
        "%y_",
        "\\y",
        "[y]",
        "\u{301}y",
    ];
    for miss in hostile {
        assert_eq!(searched(miss), (0, false), "{miss:?}");
    }
    assert_eq!(searched(&"a-".repeat(500)), (0, false));
    let long = "y".repeat(100_000);
    for nothing in ["", "   ", "\"\"", "*", "+", "()", "\u{1b}", "\u{1f600}", long.as_str()] {
        assert_eq!(searched(nothing).0, 2, "{nothing:?}");
    }
}

#[test]
fn a_page_starts_behind_an_issue_and_nothing_is_left_out_or_shown_twice() {
    let stage = Stage::new();
    let root = stage.id("issues create 'The root' --tag kind:root");
    for n in 0..10 {
        stage.ok(&format!(
            "issues create 'thing {n}' --parent {root} --priority {} --tag n:{}",
            1 + n % 5,
            n % 2
        ));
    }
    let lists = [
        "issues list".to_owned(),
        format!("issues list --root {root}"),
        "issues list --status open".to_owned(),
        format!("issues list --status open --root {root} --tag n:1"),
        "issues list --tag n:0".to_owned(),
        "issues ready".to_owned(),
        format!("issues ready --root {root} --tag n:1"),
        "issues search thing".to_owned(),
        "issues search thing --tag n:1".to_owned(),
    ];
    for line in lists {
        let whole = ids(&stage, &line);
        assert!(whole.len() >= 5, "{line}: {whole:?}");
        for rows in [1, 3, whole.len(), 99] {
            let (all, pages) = leafed(&stage, &line, rows);
            assert_eq!((all, pages), (whole.clone(), whole.len() / rows + 1), "{line}, {rows} at a time");
        }
        // What comes in meanwhile moves nothing: a page by number would show a row twice.
        let (first, rest) = whole.split_at(2);
        stage.ok("issues create 'ahead of all things' --priority 1");
        let behind = ids(&stage, &format!("{line} --after {} --limit {}", first[1], rest.len()));
        assert!(rest.iter().filter(|id| behind.contains(id)).count() >= rest.len() - 1, "{line}");
        assert!(!behind.contains(&first[0]) && !behind.contains(&first[1]), "{line}");
    }
}

#[test]
fn events_are_read_page_by_page_from_the_first() {
    let stage = Stage::new();
    let one = stage.id("issues create 'thing'");
    for n in 0..6 {
        stage.ok(&format!("issues update {one} --title 'thing {n}'"));
        stage.ok("issues create 'another'");
    }
    for line in ["log".to_owned(), format!("issues history {one}")] {
        let numbers = |line: &str| -> Vec<u64> {
            stage.json(line).as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect()
        };
        let whole = numbers(&line);
        let mut all = Vec::new();
        loop {
            let after = all.last().copied().unwrap_or(0);
            let page = numbers(&format!("{line} --after {after} --limit 4"));
            if page.is_empty() {
                break;
            }
            assert!(page.len() <= 4);
            all.extend(page);
        }
        assert_eq!(all, whole, "{line}");
        let cut = stage.ok(&format!("{line} --after 1 --limit 2"));
        let end = format!(
            "... and more; --after {} shows them, --all every row",
            whole.iter().filter(|n| **n > 1).nth(1).unwrap()
        );
        assert_eq!(cut.lines().last(), Some(end.as_str()));
    }
}

#[test]
fn a_page_starts_behind_what_is_there_whatever_became_of_it() {
    let stage = Stage::new();
    let all: Vec<String> = (0..3).map(|n| stage.id(&format!("issues create 'thing {n}'"))).collect();
    stage.ok(&format!("issues claim {}", all[0]));
    stage.ok(&format!("issues close {}", all[1]));
    for taken in &all[..2] {
        assert_eq!(ids(&stage, &format!("issues ready --after {taken} --limit 1")), [all[2].as_str()]);
        assert_eq!(ids(&stage, &format!("issues list --status open --after {taken}")), [all[2].as_str()]);
    }
    assert_eq!(ids(&stage, "issues list --status in_progress --limit 1"), [all[0].as_str()]);
    for line in ["issues list", "issues ready", "issues search thing"] {
        let whole = ids(&stage, line);
        assert_eq!(ids(&stage, &format!("{line} --limit 0")), whole, "{line}");
        let last = whole.last().unwrap();
        assert_eq!(ids(&stage, &format!("{line} --limit 2 --after {last}")), [""; 0], "{line}");
        stage.refused(3, &format!("{line} --after rg-none"));
        stage.refused(4, &format!("{line} --after rg-"));
        stage.refused(2, &format!("{line} --limit -1"));
    }
    for line in ["log".to_owned(), format!("issues history {}", all[0])] {
        assert_eq!(stage.json(&format!("{line} --after {} --limit 2", u64::MAX)), serde_json::json!([]));
        assert_eq!(stage.json(&format!("{line} --limit 0")), stage.json(&line));
        stage.refused(2, &format!("{line} --after rg-none"));
    }
}

#[test]
fn a_search_the_children_and_the_asks_are_narrowed_by_root_and_tag() {
    let stage = Stage::new();
    let root = stage.id("issues create Root --tag kind:root");
    let here = stage.id(&format!("issues create 'parse tabs' --parent {root} --tag area:lexer"));
    stage.id(&format!("issues create 'parse strings' --parent {root}"));
    stage.id("issues create 'parse dates' --tag area:lexer");
    let ids = |line: &str| {
        let found = stage.json(line);
        found.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("issues search parse").len(), 3);
    assert_eq!(ids(&format!("issues search parse --root {root}")).len(), 2);
    assert_eq!(ids(&format!("issues search parse --root {root} --limit 1")).len(), 1);
    assert_eq!(ids(&format!("issues search parse --root {root} --tag area:lexer")), [here.as_str()]);
    assert_eq!(ids(&format!("issues children {root} --tag area:lexer")), [here.as_str()]);
    let ask = stage.id(&format!("issues create 'Which?' --parent {here} --tag kind:ask --tag area:lexer"));
    stage.id("issues create 'When?' --tag kind:ask");
    assert_eq!(ids("asks list --tag area:lexer"), [ask.as_str()]);
    assert_eq!(ids("asks list").len(), 2);
    stage.refused(3, "issues search parse --root rg-none");
}

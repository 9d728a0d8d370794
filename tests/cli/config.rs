//! The configuration, set by many at once.

use std::thread;

use crate::stage::Stage;

/// Keys that do not depend on each other, with two values of each.
const WANTED: [(&str, [&str; 2]); 8] = [
    ("max_review_rounds", ["7", "8"]),
    ("no_progress", ["5", "6"]),
    ("step_retries", ["9", "8"]),
    ("lease", ["7h", "8h"]),
    ("runner_lease", ["17m", "18m"]),
    ("output_cap", ["123456", "123457"]),
    ("ask_due", ["5d", "6d"]),
    ("notify.time_limit", ["11s", "12s"]),
];
/// How often each is set.
const TIMES: usize = 8;

#[test]
fn of_many_who_set_the_configuration_at_once_nobody_is_lost() {
    let stage = Stage::new();
    stage.ok("init");
    stage.write(".roundgate/config.toml", "synchronous = \"full\" # written by hand\n");
    let command = |line: &str| stage.cmd(line).command();
    let setters = WANTED.map(|(key, values)| {
        let set = values.map(|value| (value, command(&format!("config set {key} {value}"))));
        (key, set, command(&format!("config get {key}")))
    });
    thread::scope(|scope| {
        for (key, mut set, mut get) in setters {
            scope.spawn(move || {
                for n in 0..TIMES {
                    let (value, set) = &mut set[n % 2];
                    let done = set.output().unwrap();
                    assert!(done.status.success(), "{key}: {done:?}");
                    // Nobody else writes this key.
                    let found = get.output().unwrap();
                    assert_eq!(String::from_utf8(found.stdout).unwrap().trim_end(), *value, "{key}");
                }
            });
        }
    });
    let file = std::fs::read_to_string(stage.path(".roundgate/config.toml")).unwrap();
    assert!(file.contains("synchronous = \"full\" # written by hand\n"), "{file}");
    assert_eq!(file.matches(" = ").count(), WANTED.len() + 1, "{file}");
}

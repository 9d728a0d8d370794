//! The configuration: what the file may say, and what `config set` writes. The last line of an input is
//! what is set, as `key=value`; the rest is the file.

use std::path::Path;

use roundgate::app::config::{Config, file, get, keys, load, set};

use super::{Behind, Folder, Held, Target, hold, speaks, text};

pub const TARGET: Target = Target {
    name: "config",
    law,
    words: &[
        "max_review_rounds",
        "no_progress",
        "step_retries",
        "allow_self_review",
        "ask_assignee",
        "ask_due",
        "ask_remind",
        "ask_timeout",
        "ask_default",
        "accept",
        "0",
        "lease",
        "runner_lease",
        "output_cap",
        "synchronous",
        "=",
        " = ",
        "\n",
        "true",
        "false",
        "\"full\"",
        "normal",
        "\"1h\"",
        "5m",
        "100",
        "0x1",
        "1_0",
        "#",
        "[",
        "]",
        ".",
        "'",
        "\"\"\"",
        "+5",
    ],
};

fn law(input: &[u8], _: Behind) -> Held {
    let folder = Folder::new()?;
    let text = text(input);
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", &text));
    std::fs::write(file(folder.path()), before).map_err(|error| error.to_string())?;
    let config = match load(folder.path()) {
        Err(refusal) => return speaks(&refusal),
        Ok(config) => config,
    };
    keys().try_for_each(|key| same_again(folder.path(), key, &config))?;
    let (key, value) = last.split_once('=').unwrap_or((last, ""));
    match set(folder.path(), key, value) {
        Err(refusal) => {
            speaks(&refusal)?;
            hold(load(folder.path()).ok() == Some(config), || "refused, and changed".to_owned())
        }
        Ok(_) => {
            let after =
                load(folder.path()).map_err(|error| format!("set {key} to {value:?}, and then: {error}"))?;
            let others =
                keys().filter(|other| *other != key).all(|other| get(&after, other) == get(&config, other));
            hold(others, || format!("setting {key} changed another key"))?;
            same_again(folder.path(), key, &after)
        }
    }
}

/// Setting a key to what it is changes no value.
fn same_again(folder: &Path, key: &str, config: &Config) -> Held {
    let value = get(config, key).ok_or_else(|| format!("{key} has no value"))?;
    set(folder, key, &value)
        .map_err(|error| format!("{key} is {value:?}, and cannot be set to it: {error}"))?;
    let after = load(folder).map_err(|error| format!("{key} was set to {value:?}, and then: {error}"))?;
    hold(after == *config, || format!("setting {key} to {value:?}, which it is, changed something"))
}

//! No room to write, or no leave to.

use std::fs;

use crate::shell::Shell;

/// Writes until a small disk is full, again and again, with more and more left free in steps of a page:
/// every write meets the end of the disk once. How often something was made, and how often refused;
/// `None` where nothing can be mounted. With `told`, the program's exit code is what it says.
fn at_the_end_of_the_disk(told: bool) -> Option<Result<(usize, usize), String>> {
    // The results lie elsewhere.
    let script = r#"
        mkdir disk; mount -t tmpfs -o size=1m none disk; out=$PWD; cd disk
        "$BIN" init >&2
        for free in $(seq 0 4 96); do
            avail=$(df --output=avail . | tail -1)
            head -c $(( (avail - free) * 1024 )) /dev/zero >filler
            code=0; "$BIN" issues create "With $free" >"$out/out" 2>"$out/err" || code=FAILED
            rm filler
            echo "$code $("$BIN" issues list --json | grep -o '"title"' | wc -l) $(head -1 "$out/err")"
        done
        "$BIN" doctor >&2
    "#;
    let said = Shell::bare().mounting(&script.replace("FAILED", if told { "$?" } else { "0" }))?.exit(0);
    let (mut made, mut refused) = (0, 0);
    for line in said.out.lines() {
        let mut words = line.splitn(3, ' ');
        let (code, now) = (words.next()?, words.next()?.parse::<usize>().unwrap());
        match code {
            "0" => made += 1,
            "1" if line.contains("disk is full") => refused += 1,
            _ => return Some(Err(line.to_owned())),
        }
        if now != made {
            return Some(Err(format!("{made} were made, and {now} are there: {line}")));
        }
    }
    Some(Ok((made, refused)))
}

#[test]
fn on_a_full_disk_a_change_is_made_or_refused_and_goes_on_when_there_is_room() {
    let Some(done) = at_the_end_of_the_disk(true) else { return };
    let (made, refused) = done.unwrap();
    eprintln!("{made} made, {refused} refused");
    assert!(made > 3 && refused > 3, "{made} {refused}");
}

#[test]
fn a_program_that_keeps_quiet_about_a_full_disk_is_noticed() {
    let Some(done) = at_the_end_of_the_disk(false) else { return };
    done.unwrap_err();
}

/// Runs a command where files may not grow past so many kilobytes: whether it did its work.
fn limited(shell: &Shell, kilobytes: usize, command: &str) -> Result<bool, String> {
    let said = shell.script(&format!("ulimit -f {kilobytes}; exec {command}"));
    let words = ["error: files may not grow past", "and a write failed", "hint: raise the limit"];
    match said.code {
        Some(0) => Ok(true),
        Some(1) if words.iter().all(|word| said.err.contains(word)) => Ok(false),
        _ => Err(format!("{kilobytes} kB: {said:?}")),
    }
}

#[test]
fn a_limit_to_the_size_of_files_is_told_and_kills_nobody() {
    let shell = Shell::bare();
    fs::write(shell.path().join("long"), "x".repeat(50_000)).unwrap();
    let (mut made, mut refused) = (0, 0);
    for kilobytes in (8..400).step_by(12) {
        let begun = shell.store().join("roundgate.db").exists();
        let command = if begun { "\"$BIN\" issues create Long --body-file long" } else { "\"$BIN\" init" };
        let done = limited(&shell, kilobytes, command).unwrap();
        made += usize::from(done && begun);
        refused += usize::from(!done);
        if begun || done {
            let list = shell.say("issues list --json").exit(0).json();
            assert_eq!(list.as_array().unwrap().len(), made, "{kilobytes} kB");
            shell.sound();
        }
    }
    eprintln!("{made} made, {refused} refused");
    assert!(made > 0 && refused > 10, "{made} {refused}");
}

#[test]
fn a_program_that_the_limit_kills_is_noticed() {
    let died = limited(&Shell::bare(), 8, "head -c 100000 /dev/zero >big").unwrap_err();
    assert!(died.contains("code: None"), "{died}");
}

#[test]
fn on_a_read_only_mount_readers_read_whatever_would_write_says_so_and_no_byte_changes() {
    let shell = Shell::bare();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plans/quickstart.toml");
    fs::copy(plan, shell.path().join("plan.toml")).unwrap();
    let said = shell.mounting(
        r#"
        mkdir disk; mount -t tmpfs -o size=1m none disk; out=$PWD; cd disk
        "$BIN" init >&2; "$BIN" issues create Work >&2
        id=$("$BIN" issues list --json | sed 's/.*"id":"\([^"]*\)".*/\1/')
        before=$(cat .roundgate/* | cksum)
        mount -o remount,ro .
        for line in "issues list" status doctor init "doctor --fix" "backup $out/copy.db"; do
            "$BIN" $line >&2
        done
        "$BIN" issues list --json | grep "$id" >&2
        for line in "issues create More" "issues claim $id" "tick --all" "config set lease 2h" \
            "plan apply $out/plan.toml" "restore $out/copy.db --force"; do
            code=0; "$BIN" $line >"$out/out" 2>"$out/err" || code=$?
            echo "$code $line: $(head -1 "$out/err")"
        done
        test "$before" = "$(cat .roundgate/* | cksum)"
        "#,
    );
    let Some(said) = said else { return };
    for line in said.exit(0).out.lines() {
        assert!(line.starts_with("5 ") && line.contains("error: "), "{line}");
        assert!(line.contains("cannot be written") || line.contains("Read-only file system"), "{line}");
    }
}

//! Real child processes, all of them `sh`.

use super::*;
use crate::runner::Liveness;

const LONG: Duration = Duration::from_secs(60);

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn step(argv: &[String]) -> Step<'_> {
    Step { argv, base: None, cwd: Path::new("/"), env: &[], time_limit: LONG, output_cap: 1 << 20 }
}

fn run(step: &Step<'_>, packet: &[u8]) -> Result<Ended, StepError> {
    step.start()?.finish(packet, &mut || Poll::Continue)
}

fn sh(script: &str, packet: &[u8]) -> Result<Ended, StepError> {
    run(&step(&argv(&["sh", "-c", script])), packet)
}

fn scratch_file() -> PathBuf {
    std::env::temp_dir().join(format!("roundgate-{}-{:?}", std::process::id(), thread::current().id()))
}

/// Runs a script that writes the id of a background child to `$FILE`, which is removed once the id was noted.
fn with_grandchild(script: &str, time_limit: Duration) -> (Process, Result<Ended, StepError>) {
    let file = scratch_file();
    let env = [("FILE".to_owned(), file.as_os_str().to_owned())];
    let argv = argv(&["sh", "-c", script]);
    let mut grandchild = None;
    let outcome = Step { env: &env, time_limit, ..step(&argv) }.start().unwrap().finish(b"", &mut || {
        if let Some(pid) = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()) {
            grandchild = Some(identity::process(pid));
            std::fs::remove_file(&file).unwrap();
        }
        Poll::Continue
    });
    (grandchild.expect("the script wrote $FILE"), outcome)
}

#[track_caller]
fn assert_gone(process: &Process) {
    let until = Instant::now() + Duration::from_secs(5);
    while identity::liveness(process) == Liveness::Alive && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(identity::liveness(process), Liveness::Dead);
}

#[test]
fn a_worker_reads_its_packet_and_its_output_and_exit_code_come_back() {
    let ended = sh("cat; echo oops >&2; exit 3", b"packet").unwrap();
    assert_eq!(
        (ended.exit, &ended.stdout[..], &ended.stderr_tail[..]),
        (Exit::Code(3), &b"packet"[..], &b"oops\n"[..])
    );
    assert_eq!(sh("kill -9 $$", b"").unwrap().exit, Exit::Signal(9));
}

#[test]
fn a_worker_that_writes_much_before_it_reads_much_does_not_deadlock() {
    let packet = vec![b'x'; 3 << 20];
    let script = "head -c 900000 /dev/zero; head -c 900000 /dev/zero >&2; wc -c | tr -d ' '";
    let ended = sh(script, &packet).unwrap();
    assert_eq!(&ended.stdout[900_000..], format!("{}\n", packet.len()).as_bytes());
    assert_eq!(ended.stderr_tail.len(), STDERR_TAIL_BYTES);
}

#[test]
fn a_worker_may_ignore_its_stdin() {
    let packet = vec![b'x'; 3 << 20];
    assert_eq!(sh("echo done", &packet).unwrap().stdout, b"done\n");
    assert_eq!(sh("exec <&-; sleep 0.2; echo done", &packet).unwrap().stdout, b"done\n");
}

#[test]
fn a_worker_whose_runner_goes_away_before_the_packet_is_killed() {
    let running = step(&argv(&["sh", "-c", "sleep 60"])).start().unwrap();
    let worker = running.identity();
    assert_eq!(identity::liveness(&worker), Liveness::Alive);
    drop(running);
    assert_eq!(identity::liveness(&worker), Liveness::Dead);
}

#[test]
fn the_time_limit_ends_grandchildren_too_even_those_that_ignore_a_polite_request() {
    let script = "trap '' TERM; sh -c 'echo $$ >$FILE; sleep 60; sleep 60' & wait; wait";
    let (grandchild, outcome) = with_grandchild(script, Duration::from_secs(1));
    assert!(matches!(outcome, Err(StepError::TimedOut { .. })), "{outcome:?}");
    assert_gone(&grandchild);
}

#[test]
fn a_grandchild_that_is_asked_to_end_may_tidy_up_after_its_leader_is_gone() {
    let file = scratch_file();
    let env = [("FILE".to_owned(), file.as_os_str().to_owned())];
    let tidy = "trap 'sleep 0.3; echo tidy >$FILE; exit' TERM; while :; do sleep 0.05; done";
    let argv = argv(&["sh", "-c", "sh -c \"$1\" & wait", "sh", tidy]);
    let outcome = run(&Step { env: &env, time_limit: Duration::from_millis(500), ..step(&argv) }, b"");
    assert!(matches!(outcome, Err(StepError::TimedOut { .. })), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "tidy\n");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_grandchild_that_holds_stdout_neither_delays_the_end_nor_survives_it() {
    let script = "sleep 600 & echo $! >$FILE; while [ -e $FILE ]; do sleep 0.02; done; echo done";
    let since = Instant::now();
    let (grandchild, outcome) = with_grandchild(script, LONG);
    assert_eq!(outcome.unwrap().stdout, b"done\n");
    assert!(since.elapsed() < LONG / 2);
    assert_gone(&grandchild);
}

#[test]
fn a_process_that_left_the_group_and_prints_for_ever_is_not_waited_for() {
    let script = ": >$FILE; setsid sh -c 'echo $$ >$FILE; while echo more >&2; do :; done' & \
                  while [ -e $FILE ]; do sleep 0.02; done; echo done";
    let since = Instant::now();
    let (escaped, outcome) = with_grandchild(script, LONG);
    assert_eq!(outcome.unwrap().stdout, b"done\n");
    assert!(since.elapsed() < LONG / 2);
    // Its pipe is closed by then, so that it ends by itself.
    assert_gone(&escaped);
}

#[test]
fn too_much_output_ends_the_worker() {
    let argv = argv(&["sh", "-c", "while :; do echo more; done"]);
    let outcome = run(&Step { output_cap: 1000, ..step(&argv) }, b"");
    assert!(matches!(outcome, Err(StepError::OutputTooLarge { cap: 1000 })), "{outcome:?}");
}

#[test]
fn output_of_exactly_the_cap_is_accepted_and_one_byte_more_is_not() {
    let argv = argv(&["sh", "-c", "printf 1234"]);
    assert_eq!(run(&Step { output_cap: 4, ..step(&argv) }, b"").unwrap().stdout, b"1234");
    let outcome = run(&Step { output_cap: 3, ..step(&argv) }, b"");
    assert!(matches!(outcome, Err(StepError::OutputTooLarge { cap: 3 })), "{outcome:?}");
}

#[test]
fn stop_ends_the_worker_and_its_group() {
    let argv = argv(&["sh", "-c", "sleep 60 & sleep 60"]);
    let running = step(&argv).start().unwrap();
    let worker = running.identity();
    let mut polls = 0;
    let outcome = running.finish(b"", &mut || {
        polls += 1;
        if polls < 3 { Poll::Continue } else { Poll::Stop }
    });
    assert!(matches!(outcome, Err(StepError::Stopped)), "{outcome:?}");
    assert_eq!((polls, identity::liveness(&worker)), (3, Liveness::Dead));
}

#[test]
fn what_cannot_be_started_is_named_with_its_reason() {
    let message = |words: &[&str], cwd: &str| {
        let (argv, base) = (argv(words), Some(Path::new(env!("CARGO_MANIFEST_DIR"))));
        run(&Step { cwd: Path::new(cwd), base, ..step(&argv) }, b"").unwrap_err().to_string()
    };
    assert_eq!(message(&[], "/"), "the argument vector is empty");
    assert_eq!(message(&[""], "/"), "the argument vector is empty");
    assert_eq!(
        message(&["no-such-program"], "/"),
        "program \"no-such-program\" (or its interpreter) was not found"
    );
    assert_eq!(message(&["true"], "/no/such"), "there is no folder /no/such to run in");
    assert!(message(&["./Cargo.toml"], "/").ends_with("/Cargo.toml\" may not be executed"));
    assert!(message(&["a\0b"], "/").starts_with("program \"a\\0b\" could not be started: "));
}

#[test]
fn a_leading_dot_slash_is_the_base_folder_and_nothing_else_is_touched() {
    let argv = argv(&["./sh", "-c", "echo \"$@\" $MARK $PWD", "name", "./a", "../b", "c/./d", "./"]);
    let env = [("MARK".to_owned(), "mark".into())];
    let step = Step { base: Some(Path::new("/bin")), cwd: Path::new("/tmp"), env: &env, ..step(&argv) };
    assert_eq!(run(&step, b"").unwrap().stdout, b"/bin/a ../b c/./d /bin/ mark /tmp\n");
    assert_eq!(step.resolve(0, "../x/y"), "/bin/../x/y");
    assert_eq!(Step { base: None, ..step }.resolve(0, "./x"), "./x");
}

#[test]
fn a_leading_dot_slash_never_leaves_its_folder_by_a_second_slash() {
    let base = Path::new("/plan");
    assert_eq!(argument_in(base, ".//bin/x"), Some("/plan/bin/x".into()));
    assert_eq!(argument_in(base, "../x"), None);
    assert_eq!(program_in(base, "../x"), Some("/plan/../x".into()));
    assert_eq!(program_in(base, "sh"), None);
}

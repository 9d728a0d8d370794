//! A terminal of its own: a tmux server at a socket in a temporary folder, with a shell in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// With 1, there must be a tmux.
const NEEDED: &str = "ROUNDGATE_TMUX";
/// How long something is waited for that must come.
const DEADLINE: Duration = Duration::from_secs(60);
const BETWEEN: Duration = Duration::from_millis(50);
const PROMPT: &str = "ready> ";

/// The terminal. Its server ends with it.
pub struct Tmux {
    folder: TempDir,
}

impl Tmux {
    /// A terminal of so many columns and rows; `None` where there is no tmux.
    pub fn start(columns: u16, rows: u16) -> Option<Tmux> {
        if Command::new("tmux").arg("-V").output().is_err() {
            assert!(std::env::var_os(NEEDED).is_none(), "there is no tmux, and {NEEDED} is set");
            eprintln!("there is no tmux here, so nothing was tried");
            return None;
        }
        let tmux = Tmux { folder: tempfile::Builder::new().prefix("tmux-").tempdir().unwrap() };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut command = tmux.command();
        command.args(["new-session", "-d", "-x", &columns, "-y", &rows, "sh"]);
        let started = command.output().unwrap();
        assert!(started.status.success(), "{started:?}");
        tmux.wait_for(PROMPT.trim_end());
        Some(tmux)
    }

    /// The folder that the shell is in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("tmux.socket")
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.env_clear().current_dir(self.folder());
        let bin = Path::new(option_env!("CARGO_BIN_EXE_roundgate").unwrap_or("/")).parent();
        let path = std::env::var("PATH").unwrap();
        let path = bin.map_or(path.clone(), |bin| format!("{}:{path}", bin.display()));
        command.env("PATH", path).env("HOME", self.folder()).env("LOGNAME", "ann").env("LC_ALL", "C.UTF-8");
        command.env("PS1", PROMPT).env("TERM", "screen").env("SHELL", "/bin/sh");
        command.arg("-S").arg(self.socket()).args(["-f", "/dev/null", "-u"]);
        command
    }

    /// Runs a command of tmux.
    pub fn tell(&self, arguments: &[&str]) -> Output {
        let output = self.command().args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output
    }

    /// Presses keys, by tmux's names for them.
    pub fn keys(&self, keys: &[&str]) {
        self.tell(&[&["send-keys"], keys].concat());
    }

    /// Types text.
    pub fn types(&self, text: &str) {
        self.tell(&["send-keys", "-l", text]);
    }

    /// Types a line, and ends it.
    pub fn line(&self, text: &str) {
        self.types(text);
        self.keys(&["Enter"]);
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        String::from_utf8(self.tell(&["capture-pane", "-p"]).stdout).unwrap()
    }

    /// What tmux knows of the terminal, such as `alternate_on`.
    pub fn knows(&self, variable: &str) -> String {
        let said = self.tell(&["display-message", "-p", &format!("#{{{variable}}}")]);
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    }

    /// Waits until a text is on the screen, and gives the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Waits until something holds of the screen.
    #[track_caller]
    pub fn wait_until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            let screen = self.screen();
            // The first look may have come in the middle of a drawing.
            if holds(&screen) {
                std::thread::sleep(BETWEEN);
                if self.screen() == screen {
                    return screen;
                }
            }
            assert!(started.elapsed() < DEADLINE, "{what:?} never came:\n{screen}");
            std::thread::sleep(BETWEEN);
        }
    }

    /// Waits until the shell has the terminal again: what is typed before that may be meant for another.
    #[track_caller]
    pub fn wait_for_shell(&self) {
        let started = Instant::now();
        while self.knows("pane_current_command") != "sh" {
            assert!(started.elapsed() < DEADLINE, "it never ended:\n{}", self.screen());
            std::thread::sleep(BETWEEN);
        }
    }

    /// Leaves something on the screen, and writes down how the terminal is.
    pub fn before(&self) {
        self.line("stty -a >stty.before; echo what was be''fore");
        self.wait_for("what was before");
    }

    /// The terminal is as it was: the shell's screen with what was on it, the cursor, and every mode.
    #[track_caller]
    pub fn after(&self) {
        self.wait_for_shell();
        self.line("stty -a >stty.after; echo what is af''ter");
        let screen = self.wait_for("what is after");
        assert!(screen.contains("what was before"), "what was on the screen is not there:\n{screen}");
        assert_eq!(self.knows("alternate_on"), "0", "this is the other screen");
        assert_eq!(self.knows("cursor_flag"), "1", "there is no cursor");
        let read = |name: &str| fs::read_to_string(self.folder().join(name)).unwrap();
        assert_eq!(read("stty.before"), read("stty.after"));
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // A server that ended with its shell has nothing to be ended.
        let _ = self.command().arg("kill-server").output();
    }
}

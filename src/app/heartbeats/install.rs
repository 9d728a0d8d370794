//! `cron install`: the line or the units for those who have a clock already. Text only: nothing is
//! installed by this program.

use std::path::Path;

use crate::app::AppError;
use crate::app::config::duration;
use crate::app::shell::shell_word;
use crate::model::issue::Millis;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// A line for a crontab.
///
/// # Errors
/// When a crontab cannot say the interval, or a path is not text.
pub fn crontab(program: &Path, store: &Path, every: Millis) -> Result<String, AppError> {
    let when = match every {
        MINUTE => "* * * * *".to_owned(),
        n if n % MINUTE == 0 && n < HOUR && HOUR % n == 0 => format!("*/{} * * * *", n / MINUTE),
        HOUR => "0 * * * *".to_owned(),
        n if n % HOUR == 0 && n < DAY && DAY % n == 0 => format!("0 */{} * * *", n / HOUR),
        DAY => "0 0 * * *".to_owned(),
        n => {
            return Err(AppError::Usage(format!(
                "a crontab cannot say every {}: it knows minutes that divide an hour, hours that divide a day, and 1d",
                duration(n)
            )));
        }
    };
    // To cron, a percent sign is the end of the line, also within quotes.
    let word = |path: &Path| Ok::<_, AppError>(shell_word(plain(path)?).replace('%', "\\%"));
    Ok(format!("{when} {} --store {} tick --all\n", word(program)?, word(store)?))
}

/// A service and a timer for systemd.
///
/// # Errors
/// When a path is not text.
pub fn systemd(program: &Path, store: &Path, every: Millis) -> Result<String, AppError> {
    let (program, store) = (systemd_word(plain(program)?), systemd_word(plain(store)?));
    let seconds = format!("{}.{:03}", every / 1000, every % 1000);
    let seconds = seconds.trim_end_matches('0').trim_end_matches('.');
    Ok(format!(
        "# roundgate-tick.service
[Unit]
Description=Tick every root of a roundgate store

[Service]
Type=oneshot
ExecStart={program} --store {store} tick --all

# roundgate-tick.timer
[Unit]
Description=Tick every root of a roundgate store, every {every}

[Timer]
OnActiveSec=0
OnUnitActiveSec={seconds}s
AccuracySec=1s

[Install]
WantedBy=timers.target
",
        every = duration(every),
    ))
}

/// A path as text in one line: what reads these files knows no other.
fn plain(path: &Path) -> Result<&str, AppError> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    text.ok_or_else(|| AppError::Usage(format!("{path:?} cannot be written into a line of text")))
}

fn systemd_word(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    let bare = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@".contains(c);
    if text.chars().all(bare) { text.to_owned() } else { format!("\"{escaped}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crontab_line_is_quoted_for_the_shell_and_for_cron() {
        let line = |every| crontab(Path::new("/opt/bin/roundgate"), Path::new("/home/ann/it's 100%"), every);
        assert_eq!(
            line(MINUTE).unwrap(),
            "* * * * * /opt/bin/roundgate --store '/home/ann/it'\\''s 100\\%' tick --all\n"
        );
        assert!(line(5 * MINUTE).unwrap().starts_with("*/5 * * * * "));
        assert!(line(HOUR).unwrap().starts_with("0 * * * * "));
        assert!(line(6 * HOUR).unwrap().starts_with("0 */6 * * * "));
        assert!(line(DAY).unwrap().starts_with("0 0 * * * "));
        for bad in [15_000, 7 * MINUTE, 90 * MINUTE, 5 * HOUR, 2 * DAY] {
            assert!(line(bad).is_err(), "{bad}");
        }
        assert!(crontab(Path::new("/a\nb"), Path::new("/c"), MINUTE).is_err());
    }

    #[test]
    fn systemd_units_are_quoted_for_systemd() {
        let units = systemd(Path::new("/opt/my bin/roundgate"), Path::new("/srv/100% $HOME \"x\""), 1_500);
        let units = units.unwrap();
        assert!(units.contains(
            "ExecStart=\"/opt/my bin/roundgate\" --store \"/srv/100%% $$HOME \\\"x\\\"\" tick --all\n"
        ));
        assert!(units.contains("OnUnitActiveSec=1.5s\n"));
        assert!(systemd(Path::new("/a"), Path::new("/b"), 10_000).unwrap().contains("OnUnitActiveSec=10s\n"));
    }
}

//! Rhythms: a cron expression in the first line, a zone in the second, a moment in the third.

use chrono::DateTime;
use roundgate::app::heartbeats::{self, New, When};
use roundgate::app::{AppError, ScheduleError, Session, issues};
use roundgate::model::act::create::NewIssue;
use roundgate::model::record::{Ceiling, Heartbeat, HeartbeatKind, Overlap, Rhythm};
use roundgate::schedule;

use super::{Behind, Held, NOW, Target, hold, speaks, taken, text};

pub const TARGET: Target = Target {
    name: "schedule",
    law,
    words: &[
        "* * * * *",
        "@daily",
        "@hourly",
        "0",
        "59",
        "29",
        "2",
        "*/5",
        "1-5",
        "MON",
        "FEB",
        "#",
        "L",
        "W",
        "?",
        ",",
        "\nUTC\n",
        "\nEurope/Berlin\n",
        "\nPacific/Apia\n",
        "\nAustralia/Lord_Howe\n",
        "2026-10-25T02:30",
        "2027-03-28T02:30:00",
        "+01:00",
        "Z",
        "T",
        "262142",
    ],
};

/// How long an entry goes on, in milliseconds: longer than a 29th of February is ever waited for.
const LASTS: i64 = 3_300 * 86_400_000;
/// Years ahead that are asked for, in milliseconds, and a clock that was set back.
const LATER: [i64; 4] = [0, 60_000, 40 * 86_400_000, -2 * 86_400_000];

fn law(input: &[u8], behind: Behind) -> Held {
    let text = &*text(input);
    let mut lines = text.split('\n');
    let expr = lines.next().unwrap_or_default();
    let zone = lines.next().unwrap_or("UTC");
    moment(lines.next().unwrap_or("2026-12-24T18:00"), zone)?;
    let heartbeat = beat(expr, zone)?;
    match schedule::check(&heartbeat, NOW) {
        Err(refusal) => {
            speaks(&refusal)?;
            return Ok(());
        }
        Ok(()) => LATER.into_iter().try_for_each(|later| due(&heartbeat, NOW + later))?,
    }
    behind.session(|session| stored(session, expr, zone))
}

fn moment(text: &str, zone: &str) -> Held {
    match schedule::moment(text, zone) {
        Err(refusal) => speaks(&refusal),
        Ok(at) => {
            let printed =
                DateTime::from_timestamp_millis(at).ok_or("a moment outside the calendar")?.to_rfc3339();
            let again = schedule::moment(&printed, zone);
            hold(again == Ok(at), || format!("{text:?} prints as {printed}, and that is {again:?}"))
        }
    }
}

fn beat(expr: &str, zone: &str) -> Result<Heartbeat, String> {
    Ok(Heartbeat {
        id: "hb-1".parse().map_err(|error: roundgate::model::record::HeartbeatIdError| error.to_string())?,
        kind: HeartbeatKind::Cron,
        root: "rg-1".parse().map_err(|error: roundgate::model::id::IdError| error.to_string())?,
        title: String::new(),
        reason: String::new(),
        rhythm: Rhythm::Cron { expr: expr.to_owned(), zone: zone.to_owned() },
        ceiling: Ceiling { lasts: 400 * 86_400_000, ticks: None },
        overlap: Overlap::Skip,
        anchor: NOW,
        halted: None,
        last_run: None,
        skipped: 0,
        gap: None,
        trigger: None,
        created_by: "fuzz".parse().map_err(|error: roundgate::model::id::ActorError| error.to_string())?,
        created_at: NOW,
    })
}

fn due(heartbeat: &Heartbeat, now: i64) -> Held {
    let due =
        schedule::due(heartbeat, None, now, false).map_err(|error| format!("checked, and then: {error}"))?;
    hold(due.at.is_none_or(|at| at <= now), || format!("{:?} is due at {now}", due.at))?;
    hold(due.next.is_none_or(|next| next > now), || format!("{:?} comes next at {now}", due.next))?;
    let json = serde_json::to_string(heartbeat).map_err(|error| error.to_string())?;
    let again: Heartbeat = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let same = schedule::due(&again, None, now, false);
    hold(same == Ok(due), || "stored, it is due at another time".to_owned())
}

fn stored(session: &mut Session, expr: &str, zone: &str) -> Held {
    let root = NewIssue { title: "A root".to_owned(), ..NewIssue::default() };
    let root = taken(issues::create(session, root, None))?.value.id;
    let new = New {
        kind: HeartbeatKind::Cron,
        root,
        title: None,
        reason: String::new(),
        when: When::Cron { expr: expr.to_owned(), zone: Some(zone.to_owned()) },
        lasts: Some(LASTS),
        max_ticks: None,
        overlap: Overlap::Skip,
    };
    let made = match heartbeats::create(session, new) {
        // Its ceiling comes before its first moment.
        Err(AppError::Schedule(ScheduleError::OverBefore)) => return Ok(()),
        made => made,
    };
    let id = taken(made)?.value.id;
    taken(heartbeats::get(session, HeartbeatKind::Cron, &id)).map(drop)
}

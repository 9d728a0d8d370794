//! The result as Markdown.

use std::error::Error;
use std::time::Duration;

use super::import::Imported;
use super::measure::{Times, ratio};
use super::operations::{ALL, Measured};
use super::stores::{Kept, grouped};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One store and what was measured on it.
#[derive(Debug, Clone)]
pub struct Section {
    /// The store.
    pub kept: Kept,
    /// What was measured.
    pub measured: Vec<Measured>,
}

fn shown(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    match ms {
        0.0..10.0 => format!("{ms:.2} ms"),
        10.0..1000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1000.0),
    }
}

fn memory(kib: u64) -> String {
    format!("{:.1} MiB", kib as f64 / 1024.0)
}

fn against(command: &Times, floor: &Times) -> String {
    format!(
        "{} | {} | {} | {:.2} | {:.2}",
        shown(command.median()),
        shown(command.p90()),
        shown(floor.median()),
        ratio(command.median(), floor.median()),
        ratio(command.best(), floor.best()),
    )
}

/// The references, for scale.
pub fn references(insert: &Times, start: &Times) -> String {
    format!(
        "For scale: a process that does nothing takes {}, one committed insert into an empty store {} (medians).\n",
        shown(start.median()),
        shown(insert.median()),
    )
}

/// One store: each command beside its floor.
pub fn section(section: &Section) -> Result<String> {
    let Section { kept, measured } = section;
    let bytes = kept.bytes()?;
    let mut text = format!(
        "\n### {}\n\n{} issues in all, {} events; {} MB on disk, {} bytes an issue.\n\n",
        kept.spec.title(),
        grouped(kept.facts.issues),
        grouped(usize::try_from(kept.facts.events)?),
        bytes / 1_000_000,
        bytes / kept.facts.issues.max(1) as u64,
    );
    text.push_str(
        "| command | median | 90 % | floor | ratio | of the fastest | rows | peak memory | runs |\n",
    );
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for one in measured {
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            one.operation.title(),
            against(&one.command, &one.floor),
            one.written.map_or_else(String::new, |written| written.rows.to_string()),
            memory(one.peak_kib),
            one.command.runs(),
        ));
    }
    Ok(text)
}

/// Each command on each store, as so many times its own cost on the first one.
pub fn growth(sections: &[Section]) -> String {
    let Some((first, others)) = sections.split_first() else { return String::new() };
    if others.is_empty() {
        return String::new();
    }
    let mut text =
        format!("\n### Growth\n\nMedians, as ratios to {}.\n\n| command |", first.kept.spec.title());
    others.iter().for_each(|section| text.push_str(&format!(" {} |", section.kept.spec.title())));
    text.push_str(&format!("\n| --- |{}\n", " --- |".repeat(others.len())));
    for operation in ALL {
        let median = |section: &Section| {
            let found = section.measured.iter().find(|measured| measured.operation == operation);
            found.map(|measured| measured.command.median())
        };
        let Some(base) = median(first) else { continue };
        let cells = others.iter().map(|section| {
            median(section).map_or_else(String::new, |median| format!("{:.2}", ratio(median, base)))
        });
        let cells: Vec<String> = cells.collect();
        text.push_str(&format!("| {} | {} |\n", operation.title(), cells.join(" | ")));
    }
    text
}

/// Imports beside their floors.
pub fn imports(imports: &[Imported]) -> String {
    let mut text = "\n### `import` into an empty store\n\n".to_owned();
    text.push_str(
        "| issues | median | 90 % | floor | ratio | of the fastest | rows | peak memory | an issue |\n",
    );
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for import in imports {
        let each = import.command.median().as_secs_f64() * 1e6 / import.issues.max(1) as f64;
        text.push_str(&format!(
            "| {} | {} | {} | {} | {each:.0} µs |\n",
            grouped(import.issues),
            against(&import.command, &import.floor),
            import.written.rows,
            memory(import.peak_kib),
        ));
    }
    text
}

//! A root's graph as text for drawing programs: DOT (Graphviz) and Mermaid.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::session::resolve;
use super::{AppError, Session};
use crate::model::graph::{Graph, Ix};
use crate::model::snapshot::Snapshot;

/// How much of a title a box shows, in characters.
const LABEL_CHARS: usize = 60;

/// Which drawing program's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
}

/// The graph at or below an issue, with the edges that leave it.
///
/// # Errors
/// When there is no such issue.
pub fn graph_text(session: &Session, text: &str, format: Format) -> Result<String, AppError> {
    session.look(|snapshot| {
        let id = resolve(snapshot, text)?;
        let ix = snapshot.graph().ix(&id).ok_or_else(|| AppError::NoIssue(id.to_string()))?;
        let drawn = drawn(snapshot.graph(), ix);
        Ok(match format {
            Format::Dot => dot(snapshot, &drawn),
            Format::Mermaid => mermaid(snapshot, &drawn),
        })
    })
}

/// What is drawn: the subtree, and whatever its edges lead to or come from.
fn drawn(graph: &Graph, root: Ix) -> Vec<Ix> {
    let mut all = graph.subtree(root);
    graph.relate(&all);
    let mut seen: BTreeSet<Ix> = all.iter().copied().collect();
    for at in 0..all.len() {
        let node = graph.node(all[at]);
        let edges = node.blocks.iter().chain(&node.blockers);
        for &other in edges.chain(&node.supersedes).chain(&node.superseded_by) {
            if seen.insert(other) {
                all.push(other);
            }
        }
    }
    all
}

fn label(graph: &Graph, ix: Ix) -> (String, String) {
    let issue = graph.issue(ix);
    let mut state = issue.state.outcome().map_or(issue.state.status(), |outcome| outcome.as_str()).to_owned();
    if issue.pause.is_some() {
        state.push_str(", paused");
    }
    let mut title: String = issue.title.chars().filter(|c| !c.is_control()).collect();
    if let Some((cut, _)) = title.char_indices().nth(LABEL_CHARS) {
        title.truncate(cut);
        title.push('…');
    }
    (title, state)
}

fn dot(snapshot: &Snapshot, drawn: &[Ix]) -> String {
    let graph = snapshot.graph();
    let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = String::from("digraph roundgate {\n  rankdir=LR;\n  node [shape=box];\n");
    for &ix in drawn {
        let (title, state) = label(graph, ix);
        let style = if snapshot.relation().resolved(ix) { ", style=dashed" } else { "" };
        let id = graph.id(ix);
        let _ = writeln!(out, "  \"{id}\" [label=\"{id}\\n{}\\n{state}\"{style}];", quote(&title));
    }
    for (from, to, kind) in arrows(graph, drawn) {
        let style = match kind {
            "parent" => "style=dotted, arrowhead=none",
            "supersedes" => "style=dashed, label=supersedes",
            _ => "label=blocks",
        };
        let _ = writeln!(out, "  \"{}\" -> \"{}\" [{style}];", graph.id(from), graph.id(to));
    }
    out.push_str("}\n");
    out
}

fn mermaid(snapshot: &Snapshot, drawn: &[Ix]) -> String {
    let graph = snapshot.graph();
    let escape = |text: &str| {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                c if c.is_alphanumeric() || c == ' ' || c == '-' || c == '.' => out.push(c),
                c => {
                    let _ = write!(out, "#{};", c as u32);
                }
            }
        }
        out
    };
    let mut out = String::from("flowchart LR\n");
    let places: BTreeMap<Ix, usize> = drawn.iter().copied().zip(0..).collect();
    for (n, &ix) in drawn.iter().enumerate() {
        let (title, state) = label(graph, ix);
        let id = graph.id(ix);
        let _ = writeln!(out, "  n{n}[\"{id}<br/>{}<br/>{state}\"]", escape(&title));
    }
    for (from, to, kind) in arrows(graph, drawn) {
        let arrow = match kind {
            "parent" => "---",
            "supersedes" => "-. supersedes .->",
            _ => "-- blocks -->",
        };
        let _ = writeln!(out, "  n{} {arrow} n{}", places[&from], places[&to]);
    }
    out
}

fn arrows(graph: &Graph, drawn: &[Ix]) -> Vec<(Ix, Ix, &'static str)> {
    let mut found = Vec::new();
    let inside: BTreeSet<Ix> = drawn.iter().copied().collect();
    for &ix in drawn {
        let node = graph.node(ix);
        found.extend(node.parent.filter(|p| inside.contains(p)).map(|p| (p, ix, "parent")));
        found.extend(node.blocks.iter().filter(|to| inside.contains(to)).map(|&to| (ix, to, "blocks")));
        let old = node.supersedes.iter().filter(|to| inside.contains(to));
        found.extend(old.map(|&to| (ix, to, "supersedes")));
    }
    found
}

//! The words of the beads format that this program knows the meaning of. Everything else is reported
//! as unknown, and kept.

/// Types that a worker can execute.
pub const EXECUTABLE_TYPES: [&str; 4] = ["task", "bug", "feature", "chore"];

/// The type that only holds others.
pub const CONTAINER_TYPE: &str = "epic";

/// Fields that are known, and have no place in an issue: they are kept as annotations.
const KEPT_FIELDS: [&str; 15] = [
    "closed_at",
    "compacted_at",
    "compacted_at_commit",
    "compaction_level",
    "content_hash",
    "created_by",
    "deleted_at",
    "deleted_by",
    "delete_reason",
    "estimated_minutes",
    "external_ref",
    "original_size",
    "original_type",
    "owner",
    "source_repo",
];

/// Whether a field without a place in an issue is nevertheless known.
pub fn kept_field(name: &str) -> bool {
    KEPT_FIELDS.contains(&name)
}

/// What a dependency's type means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// What is depended on is the parent.
    Parent,
    /// What is depended on blocks.
    Blocker,
    /// A known type that orders nothing.
    Remark,
    /// A type nothing is known about.
    Unknown,
}

/// What a dependency's type means here. `blocked-by` reads like the reverse of `blocks` and is not:
/// in both, the entry's `issue_id` is what waits.
pub fn link(kind: &str) -> Link {
    match kind {
        "parent-child" | "parent_child" => Link::Parent,
        "blocks" | "blocked-by" | "blocked_by" => Link::Blocker,
        "discovered-from" | "relates-to" | "related" | "tracks" | "replies-to" | "duplicates"
        | "supersedes" => Link::Remark,
        _ => Link::Unknown,
    }
}

/// Tag families that mean something to the engine: no label may get into them by import.
const RESERVED_FAMILIES: [&str; 7] = ["flow:", "kind:", "node:", "ctx:", "proto:", "import:", "actor:"];

/// Whether a label would be a tag the engine acts on.
pub fn reserved_family(label: &str) -> bool {
    RESERVED_FAMILIES.iter().any(|family| label.starts_with(family))
}

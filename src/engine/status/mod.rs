//! Status documents and prompts (S3, "mu_ui visibility and handoff"; section 7): what they say, when that
//! changes, and the shape in which they are read.

mod shape;
mod text;
mod touched;
mod update;

pub use shape::{
    Action, Component, Doc, Envelope, Metadata, Profile, Revision, Row, Texts, prompt_doc, status_doc, texts,
};
pub use text::{ESCALATION, part_text, prompt_text};
pub use touched::{Rule, Touched};
pub use update::{brought_up_to_date, brought_up_to_date_by, faults, renewed};

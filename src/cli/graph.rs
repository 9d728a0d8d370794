//! `roundgate graph`

use clap::Args;

use super::context::Context;
use crate::app::AppError;
use crate::app::graph_text::{Format, graph_text};

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// The root's id or a unique prefix
    root: String,
    /// Which drawing program's text
    #[arg(long, value_enum, default_value = "dot")]
    format: FormatArg,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum FormatArg {
    /// Graphviz
    Dot,
    /// Mermaid
    Mermaid,
}

pub fn run(context: &Context, args: GraphArgs) -> Result<u8, AppError> {
    let format = match args.format {
        FormatArg::Dot => Format::Dot,
        FormatArg::Mermaid => Format::Mermaid,
    };
    let text = graph_text(&context.session()?, &args.root, format)?;
    if context.json() {
        context.print_json(&serde_json::json!({ "graph": text }))?;
    } else {
        context.print(&text);
    }
    Ok(0)
}

//! `roundgate forum ...`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::context::{Context, named_actor};
use super::issues::body_text;
use super::output::multiline;
use super::render::{RowsArgs, moment, table};
use crate::app::{AppError, forum};
use crate::model::record::Post;

#[derive(Debug, Subcommand)]
pub enum ForumCommand {
    /// Post to a topic; VERDICT:, /answer and max_review_rounds= packets are acts
    Post(PostArgs),
    /// Read a topic
    Read(ReadArgs),
    /// List topics
    Topics(TopicsArgs),
}

#[derive(Debug, Args)]
pub struct PostArgs {
    /// Such as issue:rg-abcd
    topic: String,
    /// What to say
    #[arg(long, short, required_unless_present = "message_file", allow_hyphen_values = true)]
    message: Option<String>,
    /// Read what to say from a file (- for stdin)
    #[arg(long, value_name = "FILE", conflicts_with = "message")]
    message_file: Option<PathBuf>,
    /// The same as --as
    #[arg(long, value_name = "ACTOR")]
    author: Option<String>,
}

#[derive(Debug, Args)]
pub struct ReadArgs {
    /// Such as issue:rg-abcd
    topic: String,
    #[command(flatten)]
    rows: RowsArgs,
}

#[derive(Debug, Args)]
pub struct TopicsArgs {
    /// Only topics that start with this
    #[arg(long, default_value = "")]
    prefix: String,
    #[command(flatten)]
    rows: RowsArgs,
}

pub fn run(context: &Context, command: ForumCommand) -> Result<u8, AppError> {
    match command {
        ForumCommand::Post(args) => post(context, args),
        ForumCommand::Read(args) => read(context, args),
        ForumCommand::Topics(args) => topics(context, args),
    }
}

fn shown(post: &Post) -> serde_json::Value {
    json!({ "topic": post.topic, "author": post.author, "body": post.body, "created_at": post.at })
}

fn post(context: &Context, args: PostArgs) -> Result<u8, AppError> {
    let body = body_text(context, args.message, args.message_file)?.unwrap_or_default();
    let mut session = context.session_to_write()?;
    if let Some(author) = &args.author {
        session.actor = named_actor(author)?;
    }
    let topic = forum::full_topic(&session, &args.topic)?;
    let done = forum::post(&mut session, &topic, &body)?;
    if let Some(act) = &done.value.act {
        context.say(&format!("the post is an act ({act}); the next tick takes it up"));
    }
    if let Some(notice) = &done.value.notice {
        context.say(notice);
    }
    if context.json() {
        let mut value = shown(&done.value.post);
        value["act"] = json!(done.value.act);
        if let Some(notice) = &done.value.notice {
            value["notice"] = json!(notice);
        }
        context.print_json(&value)?;
    } else {
        context.line(&format!("posted to {topic}"));
    }
    Ok(0)
}

fn read(context: &Context, args: ReadArgs) -> Result<u8, AppError> {
    let session = context.session()?;
    let topic = forum::full_topic(&session, &args.topic)?;
    let wanted = args.rows.wanted(context.json());
    // One more than is shown tells whether there are more.
    let found = forum::read(&session, &topic, wanted.map(|rows| rows.saturating_add(1)))?;
    let more = wanted.is_some_and(|rows| found.len() > rows);
    let posts = if more { &found[1..] } else { &found[..] };
    if context.json() {
        context.print_json(&posts.iter().map(shown).collect::<Vec<_>>())?;
        return Ok(0);
    }
    if more {
        context.line("... and earlier ones; --all shows every post\n");
    }
    for post in posts {
        context.line(&format!("{}  {}", moment(post.at), post.author));
        context.line(&format!("  {}\n", multiline(post.body.trim_end()).replace('\n', "\n  ")));
    }
    if posts.is_empty() {
        context.line(&format!("no posts in {topic}"));
    }
    Ok(0)
}

fn topics(context: &Context, args: TopicsArgs) -> Result<u8, AppError> {
    let found = forum::topics(&context.session()?, &args.prefix)?;
    if context.json() {
        let shown = args.rows.shown_in_json(found.len());
        let each = found[..shown]
            .iter()
            .map(|topic| json!({ "topic": topic.name, "messages": topic.posts, "last_at": topic.last_at }));
        context.print_json(&each.collect::<Vec<_>>())?;
        return Ok(0);
    }
    let rows =
        found.iter().map(|topic| vec![topic.name.clone(), topic.posts.to_string(), moment(topic.last_at)]);
    context.print(&table(&["TOPIC", "POSTS", "LAST"], rows.collect(), args.rows, "no topics"));
    Ok(0)
}

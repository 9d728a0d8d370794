//! The store in one SQLite file. Of all modules, only `row` and `question` know columns, and only `open`
//! and `init` know how a connection is set up.

mod archive;
mod backup;
mod chain;
mod check;
mod column;
mod compact;
mod derived;
mod fault;
mod filesystem;
mod init;
mod load;
mod mark;
mod migrate;
mod open;
mod operation;
mod patience;
mod persist;
mod place;
mod question;
mod repair;
mod replay;
mod restore;
mod row;
mod schema;
mod search;
mod settle;
mod source;
mod store;
mod table;

pub use backup::{Copied, backup};
pub use check::{Check, Examined, Finding, examine};
pub use compact::{Compacted, Movable, check_archive, compact, compactable};
pub use mark::lost;
pub use migrate::{Upgraded, upgrade};
pub use open::{Options, Synchronous};
pub use repair::{Repair, refresh_mark, repair};
pub use restore::{Restored, restore};
pub use store::Sqlite;

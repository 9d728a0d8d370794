//! The store in one SQLite file. Of all modules, only `row` knows columns, and only `open` and
//! `init` know how a connection is set up.

mod column;
mod fault;
mod init;
mod load;
mod open;
mod patience;
mod persist;
mod place;
mod row;
mod schema;
mod store;
mod table;

pub use open::Options;
pub use store::Sqlite;

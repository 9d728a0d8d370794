//! Telling somebody what humans are asked: an outbox in the store, and a program that is given what is due.

mod outbox;
mod packet;
mod program;
mod sending;

pub use outbox::{NoticeView, Undelivered, drop, list, retry, undelivered};
pub use packet::{ChoicePacket, Packet};
pub use program::program;
pub use sending::{Delivery, Sent, Unsent, send_due};

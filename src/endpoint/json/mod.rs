//! A push reader for JSON replies that carry megabytes of picture inside a text. In: chunks of any
//! size. Out: a bounded skeleton of the document as a `serde_json::Value`; texts that the owner
//! takes for itself pass through piece by piece. Keeps no body, recurses nowhere.

mod scanner;
mod skeleton;
#[cfg(test)]
mod tests;
mod text;

pub(super) use scanner::{Event, Malformed, Scanner};
pub(super) use skeleton::{Skeleton, Step};

//! Files and servers that mean harm: bounds, secrets, names, hostile input.

#![cfg(test)]

mod bounds;
mod corpus;
mod huge;
mod names;
mod open_files;
mod properties;
mod secrets;
mod setup;
#[expect(unreachable_pub, reason = "the crate in `fuzz/` is made of this file, too")]
mod targets;
mod templates;

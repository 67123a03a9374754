//! Files and servers that mean harm: bounds, secrets, names, hostile input.

#![cfg(test)]

mod corpus;
mod huge;
mod properties;
#[expect(unreachable_pub, reason = "the crate in `fuzz/` is made of this file, too")]
mod targets;

//! Files and servers that mean harm: bounds, secrets, names, hostile input.

#![cfg(test)]

mod corpus;
mod huge;
mod properties;
mod targets;

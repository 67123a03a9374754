//! Files and servers that mean harm: bounds, secrets, names, hostile input.

#![cfg(test)]

mod bounds;
mod names;
mod open_files;
mod secrets;
mod setup;
mod templates;

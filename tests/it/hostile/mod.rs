//! Files and servers that mean harm: bounds, secrets, names, hostile input.

#![cfg(test)]

//! The dashboard page through the binary: made, made again, checked, adopted, refused.

// the attribute tells clippy that helpers are test code too
#[cfg(test)]
mod adopt;
#[cfg(test)]
mod charts;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod tables;

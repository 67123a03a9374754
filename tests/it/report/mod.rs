//! Tests of summarize and report: plans and records made by hand, the figures and texts they must give.

// the attribute tells clippy that helpers are test code too
#[cfg(test)]
pub(crate) mod build;
#[cfg(test)]
mod client;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod names;
#[cfg(test)]
mod page;
#[cfg(test)]
mod stats;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod warnings;

//! Any table from stored results: which rows (runs, or classes or stages of runs), filtered, grouped and
//! sorted by keys, and which columns. In: results and a [`Query`]. Out: a table with its footnotes, or
//! every key that is not known with the nearest that is. Reads no files.

mod aggregate;
mod build;
mod cells;
mod filter;
mod keys;
mod kinds;
mod subject;

pub(crate) use build::{chosen, standard, tabulate};
pub use keys::{List, QueryError};
pub(crate) use keys::{Query, Wanted};

pub(crate) use subject::Subject;

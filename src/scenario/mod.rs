//! What the user wrote: the scenario file's types, its two syntaxes, its layers, and the place of
//! every key. In: file text, environment, `--set`. Out: a [`Scenario`] or every problem found.
//! Decides nothing: defaults and meanings belong to the plan.

mod assign;
mod checks;
mod de;
mod defaults;
mod fault;
mod files;
mod layer;
mod load;
pub mod model;
mod node;
mod read;
mod secret;
mod shape;
mod syntax;

pub use load::{Broken, Entry, LoadOptions, Loaded, load, load_text};
pub use model::Scenario;

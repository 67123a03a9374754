//! What the user wrote: the scenario file's types, its two syntaxes, its layers, and the place of
//! every key. In: file text, environment, `--set`. Out: a [`Scenario`] or every problem found.
//! Decides nothing: defaults and meanings belong to the plan.

pub mod model;

pub use model::Scenario;

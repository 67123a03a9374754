//! Summaries and a baseline → a verdict. Pure.

//! Summaries in SQLite, and back.

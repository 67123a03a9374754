//! Foreign files → a scenario and a baseline.

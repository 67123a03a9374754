//! `omni-bench submit`, `status` and `cancel`.

//! `submit`, `status` and `cancel`.

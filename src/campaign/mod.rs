//! Walking the plan's steps: server starts, order, resume, claims, interrupts.

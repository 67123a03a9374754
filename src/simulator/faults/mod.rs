//! Faults that the simulated server commits on purpose: seeded, by kind and rate.

//! Two sets of records → differences with intervals. Pure.

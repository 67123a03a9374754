//! Results → foreign formats.

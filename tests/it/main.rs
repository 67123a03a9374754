//! The one integration-test binary: a module per area, one support module for all.

mod campaign;
mod compare;
mod docs;
mod endpoint;
mod execute;
mod export;
mod gate;
mod import;
mod layers;
mod media;
mod openai;
mod plan;
mod report;
mod scenario;
mod scenarios;
mod simulator;
mod support;
mod trust;
mod wire;

//! The one integration-test binary: a module per area, one support module for all.

mod bench;
mod campaign;
mod compare;
mod dashboard;
mod docs;
mod endpoint;
mod execute;
mod formats;
mod history;
mod html;
mod layers;
mod media;
mod openai;
mod parity;
mod plan;
mod report;
mod scenario;
mod scenarios;
mod simulator;
mod support;
mod trust;
mod wire;
mod workload;

//! What a server and its GPUs do while a run goes on: samples on a thread of their own, kept as `telemetry.jsonl`.
//! In: a device reader and the server's `/metrics`. Out: samples. It judges nothing.

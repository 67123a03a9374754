//! The embedded server: the endpoints, status codes and job lifecycle of a vLLM-Omni server over a
//! cost model, so that everything can be tried without a GPU. Shares no wire type with `endpoint`.

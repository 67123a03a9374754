//! What single functions cost. Whole runs are measured by `cargo run --release --example client_cost`.

fn main() {
    divan::main();
}

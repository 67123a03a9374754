//! The tool, and the null server that it is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Outcome;

/// The only model that it serves.
pub(crate) const MODEL: &str = "Qwen/Qwen-Image";
/// The endpoint that everything here asks.
pub(crate) const PATH: &str = "/v1/images/generations";

/// The built tool beside this program: `target/release/omni-bench`. It is built when it is not as new.
pub(crate) fn binary() -> Outcome<PathBuf> {
    let here = std::env::current_exe()?;
    let folder = here.parent().and_then(Path::parent).ok_or("this program is in no folder of cargo's")?;
    let binary = folder.join(format!("omni-bench{}", std::env::consts::EXE_SUFFIX));
    if let Some(cargo) = std::env::var_os("CARGO") {
        let mut build = Command::new(cargo);
        build.args([
            "build",
            "--bin",
            "omni-bench",
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ]);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        if !build.stdout(Stdio::null()).status()?.success() {
            return Err("omni-bench could not be built".into());
        }
    }
    if binary.is_file() { Ok(binary) } else { Err("build it first: cargo build --release".into()) }
}

/// A null server, ended when this goes.
pub(crate) struct Null {
    child: Child,
    address: String,
}

impl Null {
    pub(crate) fn start(binary: &Path) -> Outcome<Self> {
        let mut child = Command::new(binary)
            .args(["simulate", "--null", "--detailed", "--port", "0", "--model", MODEL])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take();
        let mut null = Self { child, address: String::new() };
        let mut line = String::new();
        BufReader::new(out.ok_or("the null server has no output")?).read_line(&mut line)?;
        let address =
            line.trim().strip_prefix("listening on ").ok_or("the null server did not say where it listens")?;
        address.clone_into(&mut null.address);
        Ok(null)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Bytes of the reply to a request for a picture of this size.
    pub(crate) fn reply_bytes(&self, side: u32) -> Outcome<u64> {
        let body = body(side);
        let mut stream = TcpStream::connect(&self.address)?;
        write!(
            stream,
            "POST {PATH} HTTP/1.1\r\nhost: null\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply)?;
        let head = reply
            .windows(4)
            .position(|bytes| bytes == b"\r\n\r\n")
            .ok_or("the null server's reply has no end of its head")?;
        if !reply.starts_with(b"HTTP/1.1 200") {
            return Err(format!("the null server refused: {}", String::from_utf8_lossy(&reply)).into());
        }
        Ok((reply.len() - head - 4) as u64)
    }

    /// The side of a square whose reply has about this many bytes.
    pub(crate) fn side_for(&self, bytes: f64) -> Outcome<u32> {
        let mut side = 1024_u32;
        for _ in 0..4 {
            let factor = (bytes / f64::from(u32::try_from(self.reply_bytes(side)?)?)).sqrt();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a side of a few thousand pixels"
            )]
            let better = ((f64::from(side) * factor / 16.0).round() as u32 * 16).clamp(16, 8192);
            if better == side {
                break;
            }
            side = better;
        }
        Ok(side)
    }
}

impl Drop for Null {
    fn drop(&mut self) {
        // one that has ended by itself is as good
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

/// The body that rivals send, of the fields that a run sends.
pub(crate) fn body(side: u32) -> String {
    format!(
        r#"{{"model":"{MODEL}","prompt":"Random prompt 0 for benchmarking diffusion models","size":"{side}x{side}","response_format":"b64_json","num_inference_steps":1}}"#
    )
}

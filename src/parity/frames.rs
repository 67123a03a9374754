//! Frames of a video through ffmpeg, one after the other, as portable pixmaps over a pipe.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::media::Pixels;

/// Longest side of a frame.
const LONGEST_SIDE: u32 = 16_384;

/// Time between two looks at a program that is about to end.
const GLANCE: Duration = Duration::from_millis(2);

const LATE: &str = "ffmpeg did not come to an end in time";

/// The program that decodes videos.
#[derive(Debug, Clone)]
pub struct Ffmpeg {
    /// Name or path.
    pub program: OsString,
    /// Time for one video; then it is stopped and the pair is not compared.
    pub patience: Duration,
}

impl Default for Ffmpeg {
    fn default() -> Self {
        Self { program: "ffmpeg".into(), patience: Duration::from_mins(10) }
    }
}

/// A video on its way out of ffmpeg. Dropping it stops the program.
pub(super) struct Frames {
    pixmaps: BufReader<ChildStdout>,
    child: Arc<Mutex<Child>>,
    errors: std::fs::File,
    late: Arc<AtomicBool>,
    guard: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Ffmpeg {
    /// Starts decoding; `Ok(None)` when the program is not installed.
    pub(super) fn decode(&self, video: &Path) -> io::Result<Option<Frames>> {
        let errors = tempfile::tempfile()?;
        let mut command = Command::new(&self.program);
        // every frame once, whatever its time stamp
        command.args(["-v", "error", "-nostdin", "-i"]).arg(video);
        command.args(["-map", "0:v:0", "-fps_mode", "passthrough", "-f", "image2pipe", "-c:v", "ppm", "pipe:1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors.try_clone()?);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let pixmaps = child.stdout.take().ok_or_else(|| io::Error::other("the program has no output"))?;
        let (child, late) = (Arc::new(Mutex::new(child)), Arc::new(AtomicBool::new(false)));
        let guard = guard(Arc::clone(&child), Arc::clone(&late), self.patience);
        Ok(Some(Frames { pixmaps: BufReader::new(pixmaps), child, errors, late, guard: Some(guard) }))
    }
}

/// Stops the program when its time is over, so that reading from it comes to an end.
fn guard(child: Arc<Mutex<Child>>, late: Arc<AtomicBool>, patience: Duration) -> (Sender<()>, JoinHandle<()>) {
    let (sender, done) = channel();
    let waiting = std::thread::spawn(move || {
        if done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            late.store(true, Ordering::Release);
            kill(&child);
        }
    });
    (sender, waiting)
}

fn kill(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // it may have ended by itself
    drop(child.kill());
}

impl Frames {
    /// The next frame; `None` after the last one of a video that was decoded whole.
    pub(super) fn next(&mut self) -> Result<Option<Pixels>, String> {
        let frame = pixmap(&mut self.pixmaps);
        match frame {
            Ok(Some(frame)) => Ok(Some(frame)),
            Ok(None) => self.end().map(|()| None),
            Err(error) => {
                kill(&self.child);
                // what the program says is worth more than how its output broke off
                let said = self.said();
                let late = self.late.load(Ordering::Acquire);
                Err(match (late, said.is_empty()) {
                    (true, _) => LATE.to_owned(),
                    (false, true) => format!("ffmpeg's output cannot be read: {error}"),
                    (false, false) => format!("ffmpeg: {said}"),
                })
            }
        }
    }

    /// How the program ended, after its output had.
    fn end(&mut self) -> Result<(), String> {
        let status = loop {
            // the lock is not held while waiting: the guard may have to stop the program
            let ended = self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
            match ended {
                Ok(Some(status)) => break status,
                Ok(None) => std::thread::sleep(GLANCE),
                Err(error) => return Err(format!("ffmpeg cannot be waited for: {error}")),
            }
        };
        let said = self.said();
        if self.late.load(Ordering::Acquire) {
            Err(LATE.to_owned())
        } else if !said.is_empty() {
            // it may have gone on after damage, with frames that it made up
            Err(format!("ffmpeg: {said}"))
        } else if status.success() {
            Ok(())
        } else {
            Err(format!("ffmpeg ended with {status}"))
        }
    }

    /// The first line that it wrote to its error output.
    fn said(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = self.errors.seek(SeekFrom::Start(0)).and_then(|_| (&self.errors).take(4096).read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        read.ok().and_then(|_| text.lines().map(str::trim).find(|line| !line.is_empty())).unwrap_or_default().to_owned()
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        kill(&self.child);
        if let Some((sender, waiting)) = self.guard.take() {
            drop(sender);
            // it holds nothing but the program
            drop(waiting.join());
        }
        drop(self.child.lock().unwrap_or_else(PoisonError::into_inner).wait());
    }
}

/// Reads one binary pixmap (`P6 <width> <height> 255` and its bytes); `None` at the end.
fn pixmap(from: &mut impl BufRead) -> io::Result<Option<Pixels>> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    if from.fill_buf()?.is_empty() {
        return Ok(None);
    }
    if word(from)? != "P6" {
        return Err(wrong("it is no pixmap"));
    }
    let (width, height) = (word(from)?.parse::<u32>(), word(from)?.parse::<u32>());
    let (Ok(width @ 1..=LONGEST_SIDE), Ok(height @ 1..=LONGEST_SIDE)) = (width, height) else {
        return Err(wrong("a frame has no size that is decoded here"));
    };
    if word(from)? != "255" {
        return Err(wrong("a frame does not have 8 bits per channel"));
    }
    let bytes = u64::from(width) * u64::from(height) * 3;
    let mut rgb = Vec::new();
    from.take(bytes).read_to_end(&mut rgb)?;
    Pixels::new(width, height, rgb).map(Some).ok_or_else(|| wrong("a frame is cut off"))
}

/// A word of a pixmap's head, with the one white space after it.
fn word(from: &mut impl BufRead) -> io::Result<String> {
    let mut word = String::new();
    for byte in from.take(16).bytes() {
        let byte = byte?;
        if byte.is_ascii_whitespace() {
            break;
        }
        word.push(char::from(byte));
    }
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixmaps_follow_one_another_and_a_torn_one_is_an_error() {
        let two = b"P6\n2 1\n255\nABCDEFP6 1 1 255\nxyz";
        let mut from = &two[..];
        assert_eq!(pixmap(&mut from).unwrap(), Pixels::new(2, 1, b"ABCDEF".to_vec()));
        assert_eq!(pixmap(&mut from).unwrap(), Pixels::new(1, 1, b"xyz".to_vec()));
        assert_eq!(pixmap(&mut from).unwrap(), None);
        for broken in
            ["P6 2 1 255\nABC", "P5 1 1 255\nA", "P6 0 1 255\n", "P6 1 1 65535\nABC", "P6 99999 1 255\n", "P6"]
        {
            assert!(pixmap(&mut broken.as_bytes()).is_err(), "{broken}");
        }
    }
}

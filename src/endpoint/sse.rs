//! A push parser for event streams (`text/event-stream`). In: bytes in any chunks. Out: the data of
//! each event piece by piece, so that megabytes of picture in one line pass without being kept, and
//! the event's end. Lines end in LF, CR or CRLF; comments and fields other than `data` are skipped.

/// What the parser tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SseEvent<'a> {
    /// The next piece of the event's data; several data lines are joined by a line feed.
    Data(&'a [u8]),
    /// The event is whole.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of the stream, that many bytes into a byte order mark.
    Mark(usize),
    /// Within a field's name, of which that many bytes are those of `data`.
    Name(usize),
    /// Behind the colon of a data line.
    Colon,
    Data,
    Skip,
}

/// The parser. A stream has no errors: what is not understood is skipped.
#[derive(Debug)]
pub(crate) struct Sse {
    state: State,
    after_cr: bool,
    /// The event has a data line, perhaps an empty one.
    open: bool,
}

const MARK: &[u8] = b"\xef\xbb\xbf";
const NAME: &[u8] = b"data";

impl Sse {
    pub(crate) const fn new() -> Self {
        Self { state: State::Mark(0), after_cr: false, open: false }
    }

    /// Reads the next bytes and tells `sink` what they hold.
    pub(crate) fn feed(&mut self, chunk: &[u8], sink: &mut impl FnMut(SseEvent<'_>)) {
        let mut rest = chunk;
        while let Some((&byte, tail)) = rest.split_first() {
            let is_second_half = std::mem::take(&mut self.after_cr) && byte == b'\n';
            rest = match (self.state, byte) {
                _ if is_second_half => tail,
                (_, b'\r' | b'\n') => {
                    self.after_cr = byte == b'\r';
                    self.end_line(sink);
                    tail
                }
                (State::Colon, b' ') => {
                    self.state = State::Data;
                    tail
                }
                (State::Colon | State::Data | State::Skip, _) => self.rest_of_line(rest, sink),
                (State::Mark(at), _) if MARK.get(at) == Some(&byte) => {
                    self.state = if at + 1 == MARK.len() { State::Name(0) } else { State::Mark(at + 1) };
                    tail
                }
                // no mark: the byte begins the first line
                (State::Mark(0), _) => {
                    self.state = State::Name(0);
                    rest
                }
                (State::Name(at), _) if NAME.get(at) == Some(&byte) => {
                    self.state = State::Name(at + 1);
                    tail
                }
                (State::Name(at), b':') if at == NAME.len() => {
                    self.begin_data(sink);
                    self.state = State::Colon;
                    tail
                }
                (State::Mark(_) | State::Name(_), _) => {
                    self.state = State::Skip;
                    tail
                }
            };
        }
    }

    /// Whether the stream is within an event, or within a line that may belong to one.
    pub(crate) fn is_open(&self) -> bool {
        self.open || !matches!(self.state, State::Mark(0) | State::Name(0) | State::Skip)
    }

    fn rest_of_line<'a>(&mut self, rest: &'a [u8], sink: &mut impl FnMut(SseEvent<'_>)) -> &'a [u8] {
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len());
        let (line, tail) = rest.split_at(end);
        if self.state != State::Skip {
            self.state = State::Data;
            sink(SseEvent::Data(line));
        }
        tail
    }

    fn begin_data(&mut self, sink: &mut impl FnMut(SseEvent<'_>)) {
        if std::mem::replace(&mut self.open, true) {
            sink(SseEvent::Data(b"\n"));
        }
    }

    fn end_line(&mut self, sink: &mut impl FnMut(SseEvent<'_>)) {
        match std::mem::replace(&mut self.state, State::Name(0)) {
            // a name without a colon is a field without a value
            State::Name(at) if at == NAME.len() => self.begin_data(sink),
            State::Mark(0) | State::Name(0) if std::mem::take(&mut self.open) => sink(SseEvent::End),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The data of every whole event, and whether the stream ended within one.
    fn events(stream: &[u8], step: usize) -> (Vec<String>, bool) {
        let (mut parser, mut events, mut data) = (Sse::new(), Vec::new(), Vec::new());
        for chunk in stream.chunks(step) {
            parser.feed(chunk, &mut |event| match event {
                SseEvent::Data(piece) => data.extend_from_slice(piece),
                SseEvent::End => events.push(String::from_utf8(std::mem::take(&mut data)).unwrap()),
            });
        }
        (events, parser.is_open())
    }

    #[test]
    fn an_event_is_the_same_in_every_spelling() {
        for stream in [
            "data: {\"a\":\"ü\"}\n\ndata: [DONE]\n\n",
            "data: {\"a\":\"ü\"}\r\n\r\ndata: [DONE]\r\n\r\n",
            "data: {\"a\":\"ü\"}\r\rdata: [DONE]\r\r",
            "data:{\"a\":\"ü\"}\n\ndata:[DONE]\n\n",
            "\u{feff}: ping\ndata: {\"a\":\"ü\"}\n: keep-alive\n\n\n\nevent: x\ndata: [DONE]\nid: 7\n\n",
            ": only a comment\n\nretry: 10\n\ndatum: no\ndat\ndata: {\"a\":\"ü\"}\n\ndata: [DONE]\n\n",
        ] {
            for step in 1..stream.len() {
                let (found, open) = events(stream.as_bytes(), step);
                assert_eq!(found, ["{\"a\":\"ü\"}", "[DONE]"], "{stream:?} by {step}");
                assert!(!open);
            }
        }
    }

    #[test]
    fn data_lines_are_joined_and_one_space_is_dropped() {
        assert_eq!(events(b"data: a\ndata:  b\ndata\ndata:\n\n", 2).0, ["a\n b\n\n"]);
        assert_eq!(events(b"data:\n\n\n", 2).0, [""]);
    }

    #[test]
    fn a_stream_that_breaks_off_within_an_event_is_known() {
        for stream in ["data: x", "data: x\n", "da", "data:", "data"] {
            assert_eq!(events(stream.as_bytes(), 3), (vec![], true), "{stream}");
        }
        for stream in ["", "data: x\n\n", ": comm", "event: x\n", "\n\n"] {
            assert!(!events(stream.as_bytes(), 3).1, "{stream}");
        }
    }

    proptest! {
        #[test]
        fn chunk_borders_do_not_matter(stream in "(data|d|:| |\r|\n|x|\u{feff}|ü){0,40}", step in 1usize..20) {
            prop_assert_eq!(events(stream.as_bytes(), step), events(stream.as_bytes(), 1000));
        }
    }
}

//! Writes an MP4 file with one H.264 track of equally long frames, `moov` before `mdat`.

use super::super::types::MediaError;

/// The track to write.
#[derive(Debug)]
pub(crate) struct H264Track<'a> {
    pub(crate) width: u16,
    pub(crate) height: u16,
    /// Time units per second.
    pub(crate) timescale: u32,
    /// Time units per frame.
    pub(crate) frame_duration: u32,
    /// Profile, constraint flags and level.
    pub(crate) profile: [u8; 3],
    /// Sequence parameter set.
    pub(crate) sequence: &'a [u8],
    /// Picture parameter set.
    pub(crate) picture: &'a [u8],
    /// One NAL unit per frame; the first is a key frame.
    pub(crate) frames: &'a [Vec<u8>],
}

/// Rows of the unity matrix, in 16.16 and 2.30 fixed point.
const MATRIX: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];
/// `und`, three letters in five bits each.
const LANGUAGE: u16 = 0x55C4;
/// Enabled, in the movie.
const TRACK_FLAGS: u32 = 3;
/// The media is in this file.
const SELF_CONTAINED: u32 = 1;

/// Most bytes of a file; far below what 32-bit sizes and offsets can hold.
const MOST: usize = 1 << 30;

/// The whole file.
pub(crate) fn write(track: &H264Track<'_>) -> Result<Vec<u8>, MediaError> {
    let media_bytes: usize = track.frames.iter().map(|frame| frame.len() + 4).sum();
    if media_bytes > MOST {
        return Err(MediaError::new("video is too large to write"));
    }
    let duration = u32::try_from(track.frames.len())
        .ok()
        .and_then(|frames| frames.checked_mul(track.frame_duration))
        .ok_or_else(|| MediaError::new("video is too long to write"))?;

    let mut file = Out::default();
    file.nest(*b"ftyp", |ftyp| ftyp.bytes(b"isom").u32(0x200).bytes(b"isomiso2avc1mp41"));
    // the offset has a fixed width, so a first draft tells where the media will lie
    let mut draft = Out::default();
    movie(&mut draft, track, duration, 0);
    let offset = word(file.0.len() + draft.0.len() + 8);
    movie(&mut file, track, duration, offset);
    file.nest(*b"mdat", |mdat| track.frames.iter().fold(mdat, |mdat, frame| mdat.u32(word(frame.len())).bytes(frame)));
    Ok(file.0)
}

fn movie(out: &mut Out, track: &H264Track<'_>, duration: u32, offset: u32) {
    out.nest(*b"moov", |moov| {
        moov.full(*b"mvhd", 0, |mvhd| {
            // created, modified, timescale, duration, rate 1, volume 1, reserved
            let mvhd = mvhd.u32(0).u32(0).u32(track.timescale).u32(duration).u32(0x1_0000).u16(0x100).zeros(10);
            // matrix, predefined, next track id
            mvhd.words(&MATRIX).zeros(24).u32(2)
        })
        .nest(*b"trak", |trak| {
            trak.full(*b"tkhd", TRACK_FLAGS, |tkhd| {
                // created, modified, track id, reserved, duration; reserved, layer, group, volume, reserved
                let tkhd = tkhd.u32(0).u32(0).u32(1).u32(0).u32(duration).zeros(16);
                tkhd.words(&MATRIX).u32(u32::from(track.width) << 16).u32(u32::from(track.height) << 16)
            })
            .nest(*b"mdia", |mdia| {
                mdia.full(*b"mdhd", 0, |mdhd| {
                    mdhd.u32(0).u32(0).u32(track.timescale).u32(duration).u16(LANGUAGE).u16(0)
                })
                .full(*b"hdlr", 0, |hdlr| hdlr.u32(0).bytes(b"vide").zeros(12).bytes(b"video\0"))
                .nest(*b"minf", |minf| {
                    minf.full(*b"vmhd", 1, |vmhd| vmhd.zeros(8))
                        .nest(*b"dinf", |dinf| {
                            dinf.full(*b"dref", 0, |dref| dref.u32(1).full(*b"url ", SELF_CONTAINED, |url| url))
                        })
                        .nest(*b"stbl", |stbl| sample_tables(stbl, track, offset))
                })
            })
        })
    });
}

/// One chunk with all frames, the first of them a key frame.
fn sample_tables<'a>(stbl: &'a mut Out, track: &H264Track<'_>, offset: u32) -> &'a mut Out {
    let frames = word(track.frames.len());
    stbl.full(*b"stsd", 0, |stsd| stsd.u32(1).nest(*b"avc1", |avc1| sample_entry(avc1, track)))
        .full(*b"stts", 0, |stts| stts.u32(1).u32(frames).u32(track.frame_duration))
        .full(*b"stss", 0, |stss| stss.u32(1).u32(1))
        .full(*b"stsc", 0, |stsc| stsc.u32(1).u32(1).u32(frames).u32(1))
        .full(*b"stsz", 0, |stsz| {
            let stsz = stsz.u32(0).u32(frames);
            track.frames.iter().fold(stsz, |stsz, frame| stsz.u32(word(frame.len() + 4)))
        })
        .full(*b"stco", 0, |stco| stco.u32(1).u32(offset))
}

/// `avc1` with its `avcC` (ISO/IEC 14496-15, section 5.3.3).
fn sample_entry<'a>(avc1: &'a mut Out, track: &H264Track<'_>) -> &'a mut Out {
    // reserved, data reference 1, predefined; size; 72 dpi; reserved; one frame per sample
    let avc1 = avc1.zeros(6).u16(1).zeros(16).u16(track.width).u16(track.height);
    let avc1 = avc1.u32(0x48_0000).u32(0x48_0000).u32(0).u16(1);
    // no compressor name, colour without alpha, predefined -1
    avc1.zeros(32).u16(0x18).u16(0xFFFF).nest(*b"avcC", |avcc| {
        // version 1, four-byte lengths, one parameter set of each kind
        avcc.bytes(&[1]).bytes(&track.profile).bytes(&[0xFF, 0xE1]);
        avcc.u16(half(track.sequence.len())).bytes(track.sequence);
        avcc.bytes(&[1]).u16(half(track.picture.len())).bytes(track.picture)
    })
}

/// A length as a 32-bit field; [`write()`] has checked that everything together is far shorter.
fn word(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The length of a parameter set, some tens of bytes, as a 16-bit field.
fn half(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// Bytes being written; each step returns the writer for the next.
#[derive(Debug, Default)]
struct Out(Vec<u8>);

impl Out {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_be_bytes())
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_be_bytes())
    }

    fn words(&mut self, values: &[u32]) -> &mut Self {
        values.iter().fold(self, |out, value| out.u32(*value))
    }

    fn zeros(&mut self, count: usize) -> &mut Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    /// A box around what `inside` writes.
    fn nest(&mut self, kind: [u8; 4], inside: impl FnOnce(&mut Self) -> &mut Self) -> &mut Self {
        let start = self.0.len();
        self.u32(0).bytes(&kind);
        inside(self);
        let size = word(self.0.len() - start).to_be_bytes();
        for (slot, byte) in self.0.iter_mut().skip(start).zip(size) {
            *slot = byte;
        }
        self
    }

    /// A box that starts with version 0 and flags.
    fn full(&mut self, kind: [u8; 4], flags: u32, inside: impl FnOnce(&mut Self) -> &mut Self) -> &mut Self {
        self.nest(kind, |out| inside(out.u32(flags)))
    }
}

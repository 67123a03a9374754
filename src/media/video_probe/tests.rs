use proptest::prelude::*;

use super::*;
use crate::media::write_video;

fn fixture(name: &str) -> Vec<u8> {
    fs_err::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

fn probe(bytes: &[u8]) -> Result<VideoInfo, MediaError> {
    let mut probe = VideoProbe::new();
    probe.feed(bytes);
    probe.finish()
}

fn reason(bytes: &[u8]) -> String {
    probe(bytes).unwrap_err().0
}

fn nest(kind: [u8; 4], parts: &[Vec<u8>]) -> Vec<u8> {
    let payload = parts.concat();
    [&u32::try_from(payload.len() + 8).unwrap().to_be_bytes()[..], &kind, &payload].concat()
}

/// The same box with a 64-bit size.
fn long(kind: [u8; 4], payload: &[u8]) -> Vec<u8> {
    [&[0, 0, 0, 1][..], &kind, &(payload.len() as u64 + 16).to_be_bytes(), payload].concat()
}

/// The same box with size 0, which runs to the end.
fn last(kind: [u8; 4], payload: &[u8]) -> Vec<u8> {
    [&[0; 4][..], &kind, payload].concat()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

fn ftyp() -> Vec<u8> {
    nest(*b"ftyp", &[b"isom\0\0\0\0".to_vec()])
}

fn media() -> Vec<u8> {
    nest(*b"mdat", &[vec![9; 64]])
}

/// A track to describe in a `trak`.
struct Track {
    id: u32,
    handler: &'static [u8; 4],
    entry: (u16, u16),
    shown: (u32, u32),
    timescale: u32,
    duration: u32,
    stts: Vec<u32>,
    sizes: u32,
}

impl Default for Track {
    fn default() -> Self {
        Self {
            id: 7,
            handler: b"vide",
            entry: (320, 240),
            shown: (0, 0),
            timescale: 600,
            duration: 250,
            stts: vec![2, 100, 1, 50],
            sizes: 3,
        }
    }
}

impl Track {
    fn bytes(&self) -> Vec<u8> {
        let (width, height) = self.shown;
        let tkhd = [words(&[3, 0, 0, self.id, 0, 0]), vec![0; 52], words(&[width << 16, height << 16])];
        let mdhd = words(&[0, 0, 0, self.timescale, self.duration, 0]);
        let hdlr = [words(&[0, 0]), self.handler.to_vec(), vec![0; 13]];
        let (width, height) = (self.entry.0.to_be_bytes(), self.entry.1.to_be_bytes());
        let entry = nest(*b"avc1", &[vec![0; 24], width.to_vec(), height.to_vec(), vec![0; 50]]);
        let rows = u32::try_from(self.stts.len() / 2).unwrap();
        let sizes = vec![9; usize::try_from(self.sizes).unwrap()];
        let stbl = [
            nest(*b"stsd", &[words(&[0, 1]), entry]),
            nest(*b"stts", &[words(&[0, rows]), words(&self.stts)]),
            nest(*b"stsz", &[words(&[0, 0, self.sizes]), words(&sizes)]),
        ];
        let minf = nest(*b"minf", &[nest(*b"vmhd", &[vec![0; 12]]), nest(*b"stbl", &stbl)]);
        nest(
            *b"trak",
            &[nest(*b"tkhd", &tkhd), nest(*b"mdia", &[nest(*b"mdhd", &[mdhd]), nest(*b"hdlr", &hdlr), minf])],
        )
    }

    fn file(&self) -> Vec<u8> {
        [ftyp(), nest(*b"moov", &[self.bytes()]), media()].concat()
    }
}

fn facts(bytes: &[u8]) -> (u32, u32, u64, f64) {
    let info = probe(bytes).unwrap();
    assert!((info.fps * info.duration_s / f64::from(u32::try_from(info.frames).unwrap()) - 1.0).abs() < 1e-9);
    (info.width, info.height, info.frames, info.duration_s)
}

#[test]
fn a_track_gives_size_frames_and_duration() {
    assert_eq!(facts(&Track::default().file()), (320, 240, 3, 250.0 / 600.0));
    let shown = Track { entry: (0, 0), shown: (1920, 1080), ..Track::default() };
    assert_eq!(facts(&shown.file()), (1920, 1080, 3, 250.0 / 600.0));
    let unknown = Track { duration: u32::MAX, ..Track::default() };
    assert_eq!(facts(&unknown.file()), (320, 240, 3, 250.0 / 600.0));
}

#[test]
fn the_first_video_track_counts_whatever_lies_before_it() {
    let sound = Track { id: 1, handler: b"soun", sizes: 9, ..Track::default() };
    let second = Track { id: 9, entry: (16, 16), ..Track::default() };
    let moov =
        nest(*b"moov", &[vec![0, 0, 0, 8], b"free".to_vec(), sound.bytes(), Track::default().bytes(), second.bytes()]);
    assert_eq!(facts(&[moov, media()].concat()).0, 320);
    assert_eq!(reason(&nest(*b"moov", &[sound.bytes()])), "no video track");
}

#[test]
fn every_way_to_write_a_size_is_read() {
    let track = Track::default().bytes();
    let moov = nest(*b"moov", std::slice::from_ref(&track));
    let bytes = [9; 1000];
    for file in [
        [ftyp(), long(*b"mdat", &bytes), moov.clone()].concat(),
        [ftyp(), long(*b"moov", &track), last(*b"mdat", &bytes)].concat(),
        [long(*b"free", &[]), nest(*b"uuid", &[vec![1; 30]]), nest(*b"sidx", &[]), media(), last(*b"moov", &track)]
            .concat(),
        [ftyp(), nest(*b"moov", &[long(*b"free", &[1; 5]), last(*b"trak", &track[8..])]), media()].concat(),
        [ftyp(), moov, media(), vec![0; 100]].concat(),
    ] {
        assert_eq!(facts(&file), (320, 240, 3, 250.0 / 600.0));
    }
}

/// A fragment of track 7: `tfhd` with these flags and fields, `trun` with these.
fn fragment(tfhd: &[u32], trun: &[u32]) -> Vec<u8> {
    let header = [words(&tfhd[..1]), words(&[7]), words(&tfhd[1..])];
    nest(
        *b"moof",
        &[
            nest(*b"mfhd", &[words(&[0, 1])]),
            nest(*b"traf", &[nest(*b"tfhd", &header), nest(*b"trun", &[words(trun)])]),
        ],
    )
}

#[test]
fn fragments_add_up_with_durations_from_wherever_they_stand() {
    let empty = Track { duration: 0, stts: vec![], sizes: 0, ..Track::default() };
    let mvex = nest(*b"mvex", &[nest(*b"trex", &[words(&[0, 7, 1, 25, 0, 0])])]);
    let moov = nest(*b"moov", &[empty.bytes(), mvex]);
    let media = media();
    let parts = [
        // 4 samples at the track's default of 25
        fragment(&[0x2_0000], &[0, 4]),
        // 3 samples at this fragment's default of 10, behind base offset and description
        fragment(&[0x0B, 0, 0, 1, 10], &[0x005, 3, 99, 0]),
        // 2 samples with their own durations among sizes, flags and composition offsets
        fragment(&[0x08, 10], &[0xF01, 2, 99, 40, 1, 2, 3, 60, 1, 2, 3]),
    ];
    let total = (320, 240, 9, (100.0 + 30.0 + 100.0) / 600.0);
    let [first, second, third] = &parts;
    let file = [&ftyp(), &moov, first, &media, second, &media, third, &media].map(|part| &part[..]).concat();
    assert_eq!(facts(&file), total);
    // the order does not matter
    assert_eq!(facts(&[&ftyp(), first, &media, third, second, &moov].map(|part| &part[..]).concat()), total);
    // and samples in the `moov` count besides
    let both = nest(*b"moov", &[Track { duration: 9999, ..Track::default() }.bytes()]);
    let file = [ftyp(), both, second.clone(), media].concat();
    assert_eq!(facts(&file), (320, 240, 6, (250.0 + 30.0) / 600.0));
}

#[test]
fn what_is_not_a_video_is_named() {
    assert_eq!(reason(b""), "no video data");
    assert_eq!(reason(b"nope"), "not an MP4 video: starts with `nope`");
    assert_eq!(reason(br#"{"detail": "x"}"#), "not an MP4 video: starts with `{\"detail`");
    assert_eq!(
        reason(&[0x1A, 0x45, 0xDF, 0xA3, 1, 0, 0, 0, 0]),
        "not an MP4 video: starts with bytes `1a 45 df a3 01 00 00 00`"
    );
    assert_eq!(reason(&ftyp()), "no `moov` box");
    assert_eq!(reason(&nest(*b"moov", &[])), "no video track");
}

#[test]
fn tracks_without_a_picture_are_named() {
    let track = |change: fn(&mut Track)| {
        let mut track = Track::default();
        change(&mut track);
        reason(&track.file())
    };
    assert_eq!(track(|track| track.entry = (0, 240)), "video track has size 0x0");
    assert_eq!(track(|track| track.sizes = 0), "video track has no frames");
    assert_eq!(track(|track| track.timescale = 0), "video track has timescale 0");
    assert_eq!(track(|track| (track.duration, track.stts) = (0, vec![3, 0])), "video track has no duration");
}

#[test]
fn files_that_end_early_are_named() {
    let file = fixture("moov_first.mp4");
    let length = file.len();
    assert_eq!(reason(&file[..length - 1]), "video is cut off: 1 bytes of its `mdat` box are missing");
    assert_eq!(reason(&[&file[..], &[0, 0, 0]].concat()), "video is cut off in a box header");
    for count in 8..length {
        let reason = reason(&file[..count]);
        // a cut between two boxes leaves a whole file, which lacks its media or its description
        assert!(
            reason.starts_with("video is cut off") || ["no `moov` box", "no media data"].contains(&reason.as_str()),
            "{reason} after {count} bytes"
        );
    }
}

#[test]
fn lying_sizes_are_errors() {
    assert_eq!(reason(b"\0\0\0\x03ftyp"), "`ftyp` box says it has 3 bytes, less than its header");
    assert_eq!(reason(b"\0\0\0\x01ftyp\0\0\0\0\0\0\0\x09"), "`ftyp` box says it has 9 bytes, less than its header");
    assert_eq!(reason(b"\xff\xff\xff\xffmoov"), "`moov` box is larger than 64 MiB (limit `memory_per_request`)");
    assert_eq!(
        reason(b"\0\0\0\x01moof\xff\xff\xff\xff\xff\xff\xff\xff"),
        "`moof` box is larger than 64 MiB (limit `memory_per_request`)"
    );
    let inner = |bytes: &[u8]| reason(&nest(*b"moov", &[bytes.to_vec()]));
    assert_eq!(inner(b"\0\0\0\x0ctrak"), "`trak` box says it has 12 bytes where 8 are left");
    assert_eq!(inner(b"\0\0\0\x02trak"), "`trak` box says it has 2 bytes where 8 are left");
    assert_eq!(
        inner(b"\0\0\0\x01trak\xff\xff\xff\xff\xff\xff\xff\xff"),
        format!("`trak` box says it has {} bytes where 16 are left", u64::MAX)
    );
    assert_eq!(inner(b"\0\0\x07"), "`moov` box is too short");
    assert_eq!(inner(&nest(*b"trak", &[nest(*b"tkhd", &[vec![0; 20]])])), "`tkhd` box is too short");
}

#[test]
fn tables_that_claim_more_than_they_hold_are_errors() {
    let mut file = Track::default().file();
    let place = file.windows(4).position(|window| window == b"stsz").unwrap();
    file[place + 12] = 0xFF;
    assert_eq!(reason(&file), "`stsz` box says it has 4278190083 entries and holds 3");
    let moov = nest(*b"moov", &[Track::default().bytes()]);
    assert_eq!(reason(&moov), "no media data");
    let many = fragment(&[0x08, 1], &[0, u32::MAX]);
    assert_eq!(reason(&[moov, many, media()].concat()), "video says it has 4294967298 frames in 64 bytes");
    let file = [ftyp(), fragment(&[0], &[0x100, u32::MAX, 5])].concat();
    assert_eq!(reason(&file), "`trun` box says it has 4294967295 entries and holds 1");
}

#[test]
fn a_movie_box_without_an_end_is_bounded() {
    let mut probe = VideoProbe::new();
    probe.feed(&last(*b"moov", &[]));
    let chunk = vec![0; 1 << 20];
    for _ in 0..70 {
        probe.feed(&chunk);
    }
    assert_eq!(probe.finish().unwrap_err().0, "`moov` box is larger than 64 MiB (limit `memory_per_request`)");
}

fn files() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![
        vec![],
        fixture("clip_64x64_33f_24fps.mp4"),
        fixture("moov_first.mp4"),
        fixture("fragmented.mp4"),
        fixture("audio_only.mp4"),
        Track::default().file(),
        write_video(16, 16, 3, 8.0, 1).unwrap(),
    ])
}

proptest! {
    #[test]
    fn chunks_do_not_matter_and_no_bytes_panic(
        file in files(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
        more in prop::collection::vec(any::<u8>(), 0..40),
        sizes in prop::collection::vec(0_usize..400, 1..60),
    ) {
        let mut file = [file, more].concat();
        for (place, value) in changes {
            if !file.is_empty() {
                let place = place.index(file.len());
                file[place] = value;
            }
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len() + 1));
        }
        let whole = probe(&file);
        let mut probe = VideoProbe::new();
        let mut rest = &file[..];
        for size in sizes.into_iter().chain([usize::MAX]) {
            let (chunk, later) = rest.split_at(rest.len().min(size));
            probe.feed(chunk);
            rest = later;
        }
        prop_assert_eq!(probe.finish(), whole);
    }

    #[test]
    fn written_videos_read_back(width in 1_u32..200, height in 1_u32..200, frames in 1_u32..50, fps in 0.1_f64..120.0, seed: u64) {
        let info = probe(&write_video(2 * width, 2 * height, frames, fps, seed).unwrap()).unwrap();
        prop_assert_eq!((info.width, info.height, info.frames), (2 * width, 2 * height, u64::from(frames)));
        prop_assert!((info.fps / fps - 1.0).abs() < 1e-4, "{} for {}", info.fps, fps);
    }
}

#[test]
fn one_byte_at_a_time_gives_the_same() {
    for name in ["clip_64x64_33f_24fps.mp4", "moov_last.mp4", "moov_first.mp4", "fragmented.mp4", "audio_only.mp4"] {
        let file = fixture(name);
        let mut dripped = VideoProbe::new();
        for byte in &file {
            dripped.feed(&[*byte]);
        }
        assert_eq!(dripped.finish(), probe(&file), "{name}");
    }
}

//! Writes an H.264 stream by hand (ITU-T H.264, constrained baseline profile): one picture, still or
//! panned, for any number of frames.
//!
//! The first frame holds some macroblocks of raw samples; every other one is predicted from its
//! neighbours' mean and carries no residual, which takes a byte. Later frames skip every macroblock
//! and take some ten bytes each, or move the whole picture and take a few hundred. No encoder is
//! involved, and decoding is as cheap.

use std::collections::BTreeSet;

use super::bits::Bits;
use super::seeded::Seeded;
use super::types::MediaError;

/// Macroblocks are squares of this many luma samples.
const MACROBLOCK: u32 = 16;
/// Frame numbers count up to this and start again; `log2_max_frame_num_minus4` is 0.
const FRAME_NUMBERS: u32 = 16;
/// Macroblocks of raw samples in the first frame of a still picture.
const RAW: u32 = 6;
/// One macroblock of so many holds raw samples when the picture moves, so that there is something to
/// see everywhere; at most `MOST_RAW`, which take 384 bytes each.
const RAW_SHARE: u32 = 16;
const MOST_RAW: u32 = 400;
/// How far a panned picture moves per frame, in quarter samples: two pixels, a whole one of colour.
const PAN: i16 = 8;
/// Frames after which a panned picture turns back.
const PAN_LENGTH: u32 = 24;

/// `level_idc`, macroblocks per second, macroblocks per frame (H.264, table A-1).
const LEVELS: [(u8, f64, u32); 17] = [
    (10, 1_485.0, 99),
    (11, 3_000.0, 396),
    (12, 6_000.0, 396),
    (13, 11_880.0, 396),
    (21, 19_800.0, 792),
    (22, 20_250.0, 1_620),
    (30, 40_500.0, 1_620),
    (31, 108_000.0, 3_600),
    (32, 216_000.0, 5_120),
    (40, 245_760.0, 8_192),
    (42, 522_240.0, 8_704),
    (50, 589_824.0, 22_080),
    (51, 983_040.0, 36_864),
    (52, 2_073_600.0, 36_864),
    (60, 4_177_920.0, 139_264),
    (61, 8_355_840.0, 139_264),
    (62, 16_711_680.0, 139_264),
];

/// A stream to write: its size in samples and its rate.
#[derive(Debug)]
pub(super) struct Stream {
    width: u32,
    height: u32,
    columns: u32,
    rows: u32,
    level: u8,
}

impl Stream {
    /// Checks that H.264 can hold the size.
    pub(super) fn new(width: u32, height: u32, fps: f64) -> Result<Self, MediaError> {
        let (columns, rows) = (width.div_ceil(MACROBLOCK), height.div_ceil(MACROBLOCK));
        let macroblocks = columns.saturating_mul(rows);
        // a side may be at most the square root of eight times the frame
        let fits = |most: u32| macroblocks <= most && columns.max(rows).saturating_pow(2) <= 8 * most;
        let (highest, ..) = LEVELS
            .into_iter()
            .rfind(|(.., most)| fits(*most))
            .ok_or_else(|| MediaError(format!("{width}x{height} is too large for H.264")))?;
        let level = LEVELS
            .into_iter()
            .find(|(_, per_second, most)| fits(*most) && f64::from(macroblocks) * fps <= *per_second)
            .map_or(highest, |(level, ..)| level);
        Ok(Self { width, height, columns, rows, level })
    }

    /// `profile_idc`, constraint flags and `level_idc`, as the sequence header and `avcC` have them.
    pub(super) const fn profile(&self) -> [u8; 3] {
        [66, 0xC0, self.level]
    }

    /// The sequence parameter set.
    pub(super) fn sequence(&self) -> Vec<u8> {
        let mut bits = Bits::default();
        for byte in self.profile() {
            bits.put(byte.into(), 8);
        }
        bits.ue(0); // seq_parameter_set_id
        bits.ue(0); // log2_max_frame_num_minus4
        bits.ue(2); // pic_order_cnt_type: frames are shown in the order in which they come
        bits.ue(1); // max_num_ref_frames
        bits.flag(false); // gaps_in_frame_num_value_allowed_flag
        bits.ue(self.columns - 1);
        bits.ue(self.rows - 1);
        bits.flag(true); // frame_mbs_only_flag
        bits.flag(true); // direct_8x8_inference_flag
        let (right, bottom) = (self.columns * MACROBLOCK - self.width, self.rows * MACROBLOCK - self.height);
        let cropped = right > 0 || bottom > 0;
        bits.flag(cropped);
        if cropped {
            // in chroma samples, which are two luma samples apart
            for edge in [0, right / 2, 0, bottom / 2] {
                bits.ue(edge);
            }
        }
        bits.flag(false); // vui_parameters_present_flag
        unit(0x67, bits)
    }

    /// The picture parameter set.
    pub(super) fn picture() -> Vec<u8> {
        let mut bits = Bits::default();
        bits.ue(0); // pic_parameter_set_id
        bits.ue(0); // seq_parameter_set_id
        bits.flag(false); // entropy_coding_mode_flag: CAVLC
        bits.flag(false); // bottom_field_pic_order_in_frame_present_flag
        bits.ue(0); // num_slice_groups_minus1
        bits.ue(0); // num_ref_idx_l0_default_active_minus1
        bits.ue(0); // num_ref_idx_l1_default_active_minus1
        bits.flag(false); // weighted_pred_flag
        bits.put(0, 2); // weighted_bipred_idc
        bits.se_zero(); // pic_init_qp_minus26
        bits.se_zero(); // pic_init_qs_minus26
        bits.se_zero(); // chroma_qp_index_offset
        bits.flag(true); // deblocking_filter_control_present_flag
        bits.flag(false); // constrained_intra_pred_flag
        bits.flag(false); // redundant_pic_cnt_present_flag
        unit(0x68, bits)
    }

    /// The first frame of a still picture.
    pub(super) fn key_frame(&self, seeded: Seeded) -> Vec<u8> {
        self.intra_frame(seeded, RAW)
    }

    /// The first frame of a panned picture.
    pub(super) fn textured_key_frame(&self, seeded: Seeded) -> Vec<u8> {
        self.intra_frame(seeded, (self.columns * self.rows / RAW_SHARE).clamp(RAW, MOST_RAW))
    }

    /// An IDR picture in one I slice, with about so many macroblocks of raw samples.
    fn intra_frame(&self, mut seeded: Seeded, raw: u32) -> Vec<u8> {
        let macroblocks = self.columns * self.rows;
        let mut raw: BTreeSet<u32> = (1..raw.min(macroblocks)).map(|_| seeded.below(macroblocks)).collect();
        raw.insert(0);

        let mut bits = Bits::default();
        slice_header(&mut bits, 7, 0);
        bits.ue(0); // idr_pic_id
        bits.flag(false); // no_output_of_prior_pics_flag
        bits.flag(false); // long_term_reference_flag
        slice_header_end(&mut bits);
        for row in 0..self.rows {
            for column in 0..self.columns {
                let address = row * self.columns + column;
                if raw.contains(&address) {
                    bits.ue(25); // mb_type I_PCM
                    bits.aligned(&samples(&mut seeded));
                } else {
                    let left = column.checked_sub(1).map(|_| raw.contains(&(address - 1)));
                    let above = row.checked_sub(1).map(|_| raw.contains(&(address - self.columns)));
                    predicted(&mut bits, left, above);
                }
            }
        }
        unit(0x65, bits)
    }

    /// A later frame, in which nothing changes: one P slice that skips every macroblock.
    pub(super) fn repeat_frame(&self, index: u32) -> Vec<u8> {
        let mut bits = predicted_slice(index);
        bits.ue(self.columns * self.rows); // mb_skip_run
        unit(0x41, bits)
    }

    /// A later frame, in which the whole picture has moved sideways.
    ///
    /// A skipped macroblock takes the motion of its neighbours, but only with one above and one to
    /// the left (section 8.4.1.1); so the first row and column are written out. Their motion too is
    /// predicted, and differs from the prediction in the first macroblock alone.
    pub(super) fn panned_frame(&self, index: u32) -> Vec<u8> {
        let motion = if (index / PAN_LENGTH).is_multiple_of(2) { PAN } else { -PAN };
        let mut bits = predicted_slice(index);
        for column in 0..self.columns {
            moved(&mut bits, 0, if column == 0 { motion } else { 0 });
        }
        let others = self.columns - 1;
        for row in 1..self.rows {
            // the rest of the row above, unless it was the first
            moved(&mut bits, if row > 1 { others } else { 0 }, 0);
        }
        if self.rows > 1 && others > 0 {
            bits.ue(others); // mb_skip_run
        }
        unit(0x41, bits)
    }
}

/// A macroblock that is copied from another place of the frame before, after a run of skipped ones.
fn moved(bits: &mut Bits, skipped: u32, difference: i16) {
    bits.ue(skipped); // mb_skip_run
    bits.ue(0); // mb_type P_L0_16x16
    bits.se(difference); // mvd_l0, horizontal
    bits.se_zero(); // and vertical
    bits.ue(0); // coded_block_pattern: no residual
}

/// The beginning of a P slice.
fn predicted_slice(index: u32) -> Bits {
    let mut bits = Bits::default();
    slice_header(&mut bits, 5, index % FRAME_NUMBERS);
    bits.flag(false); // num_ref_idx_active_override_flag
    bits.flag(false); // ref_pic_list_modification_flag_l0
    bits.flag(false); // adaptive_ref_pic_marking_mode_flag
    slice_header_end(&mut bits);
    bits
}

fn slice_header(bits: &mut Bits, slice_type: u32, frame_number: u32) {
    bits.ue(0); // first_mb_in_slice
    bits.ue(slice_type);
    bits.ue(0); // pic_parameter_set_id
    bits.put(frame_number, 4); // frame_num
}

fn slice_header_end(bits: &mut Bits) {
    bits.se_zero(); // slice_qp_delta
    bits.ue(1); // disable_deblocking_filter_idc
}

/// An `I_16x16` macroblock predicted from the mean of its neighbours, without residual. `left` and
/// `above` tell whether a neighbour holds raw samples; `None` when there is no such neighbour.
fn predicted(bits: &mut Bits, left: Option<bool>, above: Option<bool>) {
    bits.ue(3); // mb_type: DC prediction, no coefficients but the DC block
    bits.ue(0); // intra_chroma_pred_mode: DC
    bits.se_zero(); // mb_qp_delta
    // An empty DC block. Its code depends on how many coefficients the neighbouring blocks have
    // (section 9.2.1): a macroblock of raw samples counts as 16, a predicted one as 0.
    let coefficients = |raw: bool| if raw { 16_u32 } else { 0 };
    let expected = match (left.map(coefficients), above.map(coefficients)) {
        (Some(left), Some(above)) => (left + above).div_ceil(2),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => 0,
    };
    match expected {
        0 | 1 => bits.put(0b1, 1),
        2 | 3 => bits.put(0b11, 2),
        4..=7 => bits.put(0b1111, 4),
        _ => bits.put(0b00_0011, 6),
    }
}

/// The sample, or one near it, within video range.
fn near(seeded: &mut Seeded, sample: u8) -> u8 {
    seeded.near(sample).clamp(16, 240)
}

/// The samples of a raw macroblock: 4×4 patches of brightness in one hue, within video range.
fn samples(seeded: &mut Seeded) -> Vec<u8> {
    let mut samples = Vec::with_capacity(384);
    for _ in 0..4 {
        let [a, b, c, d, ..] = seeded.bytes();
        let line: Vec<u8> = [a, b, c, d].into_iter().flat_map(|value| [near(seeded, 16 + value % 216); 4]).collect();
        samples.extend(line.repeat(4));
    }
    let [blue, red, ..] = seeded.bytes();
    samples.extend([near(seeded, 16 + blue % 224); 64]);
    samples.extend([near(seeded, 16 + red % 224); 64]);
    samples
}

/// A NAL unit: its header byte and the payload, where no three bytes may look like a start code
/// (section 7.4.1).
fn unit(header: u8, bits: Bits) -> Vec<u8> {
    let payload = bits.finish();
    let mut unit = Vec::with_capacity(payload.len() + 8);
    unit.push(header);
    let mut zeros = 0;
    for byte in payload {
        if zeros == 2 && byte <= 3 {
            unit.push(3);
            zeros = 0;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        unit.push(byte);
    }
    unit
}

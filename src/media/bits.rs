//! Writers of bits: most significant first, as H.264 and JPEG have them, and least significant first,
//! as deflate and WebP have them.

/// Bits that become bytes, most significant first.
#[derive(Debug, Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, in the low end.
    pending: u64,
    count: u32,
}

impl Bits {
    /// The low `count` bits of `value`; at most 32 at a time.
    pub(super) fn put(&mut self, value: u32, count: u32) {
        debug_assert!(count <= 32 && u64::from(value) < 1 << count, "{value} has more than {count} bits");
        self.pending = (self.pending << count) | u64::from(value);
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            let [byte, ..] = (self.pending >> self.count).to_le_bytes();
            self.bytes.push(byte);
            self.pending &= (1 << self.count) - 1;
        }
    }

    /// One bit.
    pub(super) fn flag(&mut self, value: bool) {
        self.put(value.into(), 1);
    }

    /// An unsigned Exp-Golomb code, ue(v) of ITU-T H.264, section 9.1; for values below 65535.
    pub(super) fn ue(&mut self, value: u32) {
        let code = value + 1;
        let length = u32::BITS - code.leading_zeros();
        self.put(code, 2 * length - 1);
    }

    /// The signed Exp-Golomb code of 0, se(v).
    pub(super) fn se_zero(&mut self) {
        self.ue(0);
    }

    /// A signed Exp-Golomb code, se(v) of ITU-T H.264, section 9.1.1.
    pub(super) fn se(&mut self, value: i16) {
        let magnitude = u32::from(value.unsigned_abs());
        self.ue(if value > 0 { 2 * magnitude - 1 } else { 2 * magnitude });
    }

    /// Zero bits up to the next whole byte, then these bytes.
    pub(super) fn aligned(&mut self, bytes: &[u8]) {
        self.put(0, self.count.wrapping_neg() % 8);
        self.bytes.extend_from_slice(bytes);
    }

    /// Ones up to a whole byte, as JPEG wants it, and all bytes.
    pub(super) fn filled(mut self) -> Vec<u8> {
        let missing = self.count.wrapping_neg() % 8;
        self.put((1 << missing) - 1, missing);
        self.bytes
    }

    /// The stop bit and zeros up to a whole byte (`rbsp_trailing_bits`), and all bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.flag(true);
        self.aligned(&[]);
        self.bytes
    }
}

/// Bits that become bytes, least significant first.
#[derive(Debug, Default)]
pub(super) struct LowBits {
    bytes: Vec<u8>,
    pending: u64,
    count: u32,
}

impl LowBits {
    /// The low `count` bits of `value`; at most 32 at a time.
    pub(super) fn put(&mut self, value: u32, count: u32) {
        self.pending |= u64::from(value) << self.count;
        self.count += count;
        while self.count >= 8 {
            let [byte, ..] = self.pending.to_le_bytes();
            self.bytes.push(byte);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    /// A prefix code, whose highest bit comes first.
    pub(super) fn code(&mut self, code: u32, length: u32) {
        self.put(code.reverse_bits() >> (32 - length), length);
    }

    /// Zero bits up to a whole byte, and all bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.put(0, self.count.wrapping_neg() % 8);
        self.bytes
    }
}

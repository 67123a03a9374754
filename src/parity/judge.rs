//! Findings → judgements. Pure.

use super::types::{Band, Counts, Difference, Finding, Likeness, PARITY_FORMAT, Pair, Parity, Side};

/// What a finding comes to when it is held against the noise of restarts, and why.
pub fn judge(finding: &Finding, band: Option<&Band>) -> (Likeness, String) {
    match finding {
        Finding::SameBytes => (Likeness::Identical, "the same bytes".to_owned()),
        Finding::Pixels(difference) => judge_pixels(difference, band),
        Finding::Shape { a, b } => (Likeness::Different, format!("{a} against {b}")),
        Finding::Missing(side) => {
            let side = match side {
                Side::A => "first",
                Side::B => "second",
            };
            (Likeness::NotCompared, format!("the {side} folder has no such file"))
        }
        Finding::Uncompared(why) => (Likeness::NotCompared, why.clone()),
    }
}

fn judge_pixels(difference: &Difference, band: Option<&Band>) -> (Likeness, String) {
    let Some(psnr_db) = difference.psnr_db else {
        return (Likeness::SamePixels, "other bytes, the same pixels".to_owned());
    };
    let ssim = difference.ssim.map(|ssim| format!(", SSIM {ssim:.5}")).unwrap_or_default();
    let seen = format!("PSNR {psnr_db:.2} dB{ssim}");
    let Some(band) = band.filter(|band| band.pairs > 0) else {
        let why = "no repeats of one configuration tell how far apart restarts are";
        return (Likeness::Unresolved, format!("{seen}; {why}"));
    };
    let Some(least_db) = band.min_psnr_db else {
        return (Likeness::Different, format!("{seen}; restarts draw the same pixels"));
    };
    let known = difference.ssim.zip(band.min_ssim);
    let least = band.min_ssim.map(|ssim| format!(", SSIM {ssim:.5}")).unwrap_or_default();
    let of_restarts = format!("restarts: PSNR {least_db:.2} dB{least}");
    let inside = psnr_db >= least_db && known.is_none_or(|(ssim, least)| ssim >= least);
    if inside {
        (Likeness::Unresolved, format!("{seen}, no further apart than {of_restarts}"))
    } else {
        (Likeness::Different, format!("{seen}, further apart than {of_restarts}"))
    }
}

/// A pair of the folders with what was found about it.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) request: u32,
    pub(super) output: u32,
    pub(super) a: Option<String>,
    pub(super) b: Option<String>,
    pub(super) finding: Finding,
}

/// Everything that was found, judged.
pub(super) fn judge_all(found: Vec<Found>, band: Option<Band>) -> Parity {
    let pairs: Vec<Pair> = found.into_iter().map(|found| judged(found, band.as_ref())).collect();
    let mut counts = Counts::default();
    for pair in &pairs {
        *match pair.likeness {
            Likeness::Identical => &mut counts.identical,
            Likeness::SamePixels => &mut counts.same_pixels,
            Likeness::Unresolved => &mut counts.unresolved,
            Likeness::NotCompared => &mut counts.not_compared,
            Likeness::Different => &mut counts.different,
        } += 1;
    }
    let differences = || pairs.iter().filter_map(|pair| pair.difference);
    Parity {
        format: PARITY_FORMAT,
        likeness: pairs.iter().map(|pair| pair.likeness).max().unwrap_or(Likeness::NotCompared),
        counts,
        min_psnr_db: lowest(differences().map(|difference| difference.psnr_db)),
        min_ssim: lowest(differences().map(|difference| difference.ssim)),
        band,
        pairs,
    }
}

fn judged(found: Found, band: Option<&Band>) -> Pair {
    let (likeness, reason) = judge(&found.finding, band);
    let difference = match found.finding {
        Finding::Pixels(difference) => Some(difference),
        Finding::SameBytes | Finding::Shape { .. } | Finding::Missing(_) | Finding::Uncompared(_) => None,
    };
    let Found { request, output, a, b, .. } = found;
    Pair { request, output, a, b, likeness, difference, reason }
}

/// The noise of restarts from what was found among repeats of one configuration.
pub(super) fn band_of<'a>(repeats: u64, findings: impl Iterator<Item = &'a Finding>) -> Band {
    let mut band = Band { repeats, pairs: 0, not_compared: 0, min_psnr_db: None, min_ssim: None };
    for finding in findings {
        match finding {
            Finding::SameBytes => band.pairs += 1,
            Finding::Pixels(difference) => {
                band.pairs += 1;
                band.min_psnr_db = lowest([band.min_psnr_db, difference.psnr_db].into_iter());
                band.min_ssim = lowest([band.min_ssim, difference.ssim].into_iter());
            }
            Finding::Shape { .. } | Finding::Missing(_) | Finding::Uncompared(_) => band.not_compared += 1,
        }
    }
    band
}

/// The smallest of what is known.
pub(super) fn lowest(numbers: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    numbers.flatten().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(psnr_db: f64, ssim: f64) -> Finding {
        Finding::Pixels(Difference { frames: 1, differing_frames: 1, psnr_db: Some(psnr_db), ssim: Some(ssim) })
    }

    fn same_pixels() -> Finding {
        Finding::Pixels(Difference { frames: 1, differing_frames: 0, psnr_db: None, ssim: Some(1.0) })
    }

    fn likeness(finding: &Finding, band: Option<&Band>) -> Likeness {
        judge(finding, band).0
    }

    #[test]
    fn a_band_is_the_furthest_that_repeats_are_apart() {
        let findings = [pixels(41.0, 0.97), Finding::SameBytes, pixels(38.0, 0.98), Finding::Missing(Side::A)];
        let band = band_of(3, findings.iter());
        assert_eq!(band, Band { repeats: 3, pairs: 3, not_compared: 1, min_psnr_db: Some(38.0), min_ssim: Some(0.97) });
    }

    #[test]
    fn inside_the_band_nothing_is_claimed_and_below_it_the_difference_is() {
        let band = band_of(2, [pixels(38.0, 0.97)].iter());
        assert_eq!(likeness(&pixels(38.0, 0.97), Some(&band)), Likeness::Unresolved);
        assert_eq!(likeness(&pixels(45.0, 0.99), Some(&band)), Likeness::Unresolved);
        assert_eq!(likeness(&pixels(37.9, 0.99), Some(&band)), Likeness::Different);
        assert_eq!(likeness(&pixels(45.0, 0.96), Some(&band)), Likeness::Different);
    }

    #[test]
    fn where_restarts_draw_the_same_pixels_every_other_pixel_is_a_difference() {
        for repeat in [Finding::SameBytes, same_pixels()] {
            let band = band_of(2, [repeat].iter());
            assert_eq!(likeness(&pixels(60.0, 0.9999), Some(&band)), Likeness::Different);
            assert_eq!(likeness(&same_pixels(), Some(&band)), Likeness::SamePixels);
        }
    }

    #[test]
    fn without_repeats_a_difference_is_told_and_not_judged() {
        let nothing = band_of(1, [].iter());
        for band in [None, Some(&nothing)] {
            let (likeness, reason) = judge(&pixels(12.0, 0.2), band);
            assert_eq!(likeness, Likeness::Unresolved);
            assert!(reason.contains("PSNR 12.00 dB") && reason.contains("no repeats"), "{reason}");
        }
    }

    #[test]
    fn the_gravest_pair_speaks_for_the_folders() {
        let found = |finding: &Finding| Found { request: 1, output: 0, a: None, b: None, finding: finding.clone() };
        let band = band_of(2, [pixels(38.0, 0.9)].iter());
        let mut findings = vec![Finding::SameBytes];
        let graver = [
            (same_pixels(), Likeness::SamePixels),
            (pixels(40.0, 0.95), Likeness::Unresolved),
            (Finding::Missing(Side::B), Likeness::NotCompared),
            (Finding::Shape { a: "1x1".into(), b: "2x2".into() }, Likeness::Different),
        ];
        for (finding, wanted) in graver {
            findings.push(finding);
            let parity = judge_all(findings.iter().map(found).collect(), Some(band));
            assert_eq!(parity.likeness, wanted);
        }
        assert_eq!(judge_all(Vec::new(), None).likeness, Likeness::NotCompared);
    }
}

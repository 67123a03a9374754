//! PSNR and SSIM against numpy and scikit-image.

use omni_bench::media::{Pixels, decode_pixels};
use omni_bench::parity::{mean_squared_error, psnr, ssim};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::repository;

fn fixture(name: &str) -> Pixels {
    decode_pixels(&fs_err::read(repository().join(format!("tests/fixtures/parity/{name}.png"))).unwrap()).unwrap()
}

#[test]
fn the_measures_are_those_of_scikit_image() {
    let pairs: Vec<Value> =
        serde_json::from_slice(&fs_err::read(repository().join("tests/fixtures/parity.json")).unwrap()).unwrap();
    assert!(pairs.len() >= 8);
    let near = |ours: Option<f64>, theirs: &Value, what: &str| match (ours, theirs.as_f64()) {
        (Some(ours), Some(theirs)) => assert!((ours - theirs).abs() < 1e-9, "{what}: {ours} against {theirs}"),
        (ours, theirs) => assert_eq!(ours, theirs, "{what}"),
    };
    for pair in pairs {
        let (a, b) = (fixture(pair["a"].as_str().unwrap()), fixture(pair["b"].as_str().unwrap()));
        for (a, b) in [(&a, &b), (&b, &a)] {
            let error = mean_squared_error(a, b).unwrap();
            near(Some(error), &pair["mse"], &format!("MSE of {pair}"));
            near(psnr(error), &pair["psnr_db"], &format!("PSNR of {pair}"));
            near(ssim(a, b), &pair["ssim"], &format!("SSIM of {pair}"));
        }
    }
}

#[test]
fn pictures_of_other_sizes_have_no_measures() {
    let (scene, small) = (fixture("scene"), fixture("small"));
    assert_eq!((mean_squared_error(&scene, &small), ssim(&scene, &small)), (None, None));
    let turned = |width, height| Pixels::new(width, height, vec![7; 12 * 20 * 3]).unwrap();
    assert_eq!(mean_squared_error(&turned(12, 20), &turned(20, 12)), None);
    assert_eq!((Pixels::new(2, 2, vec![0; 11]), Pixels::new(0, 2, Vec::new())), (None, None));
}

proptest! {
    #[test]
    fn measures_are_symmetric_bounded_and_best_for_the_same_picture(
        a in prop::collection::vec(any::<u8>(), 13 * 12 * 3),
        b in prop::collection::vec(any::<u8>(), 13 * 12 * 3),
    ) {
        let (a, b) = (Pixels::new(13, 12, a).unwrap(), Pixels::new(13, 12, b).unwrap());
        let (one, other) = (ssim(&a, &b).unwrap(), ssim(&b, &a).unwrap());
        prop_assert!((one - other).abs() < 1e-12 && (-1.0..=1.0).contains(&one));
        prop_assert!((ssim(&a, &a).unwrap() - 1.0).abs() < 1e-12);
        prop_assert_eq!(mean_squared_error(&a, &b), mean_squared_error(&b, &a));
        prop_assert_eq!(psnr(mean_squared_error(&a, &a).unwrap()), None);
        prop_assert!(mean_squared_error(&a, &b).unwrap() <= 255.0 * 255.0);
    }
}

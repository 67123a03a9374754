//! Driving one run: dispatcher, pacing, warm-up, calibration, cancellation, progress.

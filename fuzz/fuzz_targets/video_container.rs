#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::video_container(input));

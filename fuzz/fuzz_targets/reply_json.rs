#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| targets::reply_json(input));

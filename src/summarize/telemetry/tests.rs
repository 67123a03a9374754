use proptest::prelude::*;

use super::figures::{mean, peak_mean};
use super::*;
use crate::record::{GpuProcess, GpuSample, ServerSample, TelemetrySample, Total};

fn gpu(index: u32, power_w: f64, energy_j: Option<f64>) -> GpuSample {
    let process = GpuProcess { pid: 7, name: None, of_server: Some(index == 0), memory_mb: Some(1000.0 + power_w) };
    GpuSample {
        index,
        memory_mb: Some(2000.0 + power_w),
        utilization: Some(power_w / 400.0),
        power_w: Some(power_w),
        energy_j,
        processes: Some(vec![process]),
    }
}

fn look(at_s: u64, gpus: Vec<GpuSample>) -> TelemetrySample {
    let run = "v/A/c1".to_owned();
    TelemetrySample { run, at_us: at_s * 1_000_000, took_us: 0, gpus: Some(gpus), server: None }
}

const MADE: Made = Made { duration_s: Some(4.0), completed: 5, images: Some(10), videos: None };

fn near(value: Option<f64>, wanted: f64) {
    assert!(value.is_some_and(|value| (value - wanted).abs() < 1e-9), "{value:?} instead of {wanted}");
}

#[test]
fn the_energy_is_what_the_counter_grew_by_on_the_servers_gpus() {
    let counter = [(0, 1e6), (2, 1e6 + 500.0), (4, 1e6 + 1000.0)];
    let samples = counter.map(|(at, joules)| look(at, vec![gpu(0, 300.0, Some(joules)), gpu(1, 60.0, Some(5.0))]));
    let told = figures(&samples, MADE).unwrap();
    assert_eq!((told.gpu_samples, told.server_samples), (3, 0));
    assert_eq!(told.gpu_basis, Some(GpuBasis::ServerProcesses));
    assert_eq!(told.energy_basis, Some(EnergyBasis::Counter));
    near(told.energy_j, 1000.0);
    near(told.joules_per_request, 200.0);
    near(told.joules_per_image, 100.0);
    assert_eq!(told.joules_per_video, None);
    near(told.power_w, 300.0);
    near(told.utilization, 0.75);
    near(told.gpu_memory_mb.map(|memory| memory.max), 2300.0);
    near(told.process_memory_mb.map(|memory| memory.max), 1300.0);
    assert_eq!(told.gpus.iter().map(|gpu| gpu.counted).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn without_a_counter_power_over_time_is_the_energy() {
    let power = [(0, 100.0), (1, 300.0), (4, 300.0)];
    let told = figures(&power.map(|(at, watts)| look(at, vec![gpu(0, watts, None)])), MADE).unwrap();
    near(told.energy_j, 200.0 + 900.0);
    assert_eq!(told.energy_basis, Some(EnergyBasis::Power));
    near(told.power_w, 1100.0 / 4.0);
    // a counter that went back says nothing either
    let reset = [(0, 900.0), (2, 950.0), (4, 3.0)].map(|(at, joules)| look(at, vec![gpu(0, 100.0, Some(joules))]));
    near(figures(&reset, MADE).unwrap().energy_j, 400.0);
}

#[test]
fn samples_of_a_part_of_the_run_do_not_tell_its_energy() {
    let of = |end: u64| figures(&[0, end].map(|at| look(at, vec![gpu(0, 100.0, None)])), MADE).unwrap();
    assert_eq!((of(3).energy_j, of(3).joules_per_image, of(3).energy_basis), (None, None, None));
    near(of(4).energy_j, 400.0);
    near(of(3).power_w, 100.0);
}

#[test]
fn which_gpus_count_follows_from_what_can_be_seen() {
    let of = |processes: [Option<Vec<GpuProcess>>; 2]| {
        let gpus: Vec<GpuSample> =
            (0..).zip(processes).map(|(index, processes)| GpuSample { processes, ..gpu(index, 50.0, None) }).collect();
        let told = figures(&[look(0, gpus.clone()), look(4, gpus)], MADE).unwrap();
        (told.gpu_basis.unwrap(), told.energy_j.unwrap())
    };
    let someone = || Some(vec![GpuProcess { pid: 1, name: None, of_server: None, memory_mb: None }]);
    assert_eq!(of([someone(), Some(vec![])]), (GpuBasis::Processes, 200.0));
    assert_eq!(of([Some(vec![]), Some(vec![])]), (GpuBasis::All, 400.0));
    assert_eq!(of([None, None]), (GpuBasis::All, 400.0));
}

#[test]
fn what_no_sample_tells_is_null() {
    assert_eq!(figures(&[], MADE), None);
    let blind = GpuSample { index: 0, ..GpuSample::default() };
    let told = figures(&[look(0, vec![blind.clone()]), look(4, vec![blind])], MADE).unwrap();
    assert_eq!((told.gpu_memory_mb, told.process_memory_mb, told.utilization), (None, None, None));
    assert_eq!((told.power_w, told.energy_j, told.running), (None, None, None));
}

#[test]
fn the_queue_is_a_mean_over_time_and_times_are_differences() {
    let scrape = |at_s: u64, running: f64, waiting: f64, total: Option<Total>| TelemetrySample {
        run: String::new(),
        at_us: at_s * 1_000_000,
        took_us: 0,
        gpus: None,
        server: Some(ServerSample {
            running: Some(running),
            waiting: Some(waiting),
            times: total.map(|total| ("diffusion_exec_s".to_owned(), total)).into_iter().collect(),
            ..ServerSample::default()
        }),
    };
    let total = |sum, count| Some(Total { sum, count });
    let samples = [
        scrape(0, 0.0, 0.0, total(10.0, 4.0)),
        scrape(1, 2.0, 1.0, total(10.0, 4.0)),
        scrape(3, 2.0, 3.0, total(13.0, 6.0)),
    ];
    let told = figures(&samples, MADE).unwrap();
    assert_eq!(told.running, Some(PeakMean { max: 2.0, mean: 5.0 / 3.0 }));
    assert_eq!(told.waiting, Some(PeakMean { max: 3.0, mean: 4.5 / 3.0 }));
    assert_eq!(told.times["diffusion_exec_s"], ToldTime { n: 2.0, mean: 1.5 });
    assert_eq!((told.gpu_basis, told.energy_j, told.gpu_span_s), (None, None, None));
}

proptest! {
    #[test]
    fn a_mean_over_time_lies_between_the_extremes(
        gaps in prop::collection::vec((0.001_f64..100.0, 0.0_f64..1e4), 1..30)
    ) {
        let mut at = 0.0;
        let points: Vec<(f64, f64)> = gaps.into_iter().map(|(gap, value)| { at += gap; (at, value) }).collect();
        let values = || points.iter().map(|(_, value)| *value);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let mean = mean(&points).unwrap();
        prop_assert!(mean >= least - 1e-6 && mean <= most + 1e-6);
        prop_assert!(peak_mean(&points).is_some_and(|peak| peak.max.total_cmp(&most).is_eq()));
    }
}

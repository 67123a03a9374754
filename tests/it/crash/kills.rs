//! The tool killed at random moments, again and again.

use super::lane::{Dice, Lane, Moment, Tally};
use super::setup::{IMAGES, VIDEO_MODEL, at, launched, videos};
use crate::support::{Served, figure};

/// Kills of each of the three lanes.
const KILLS: u32 = 18;

/// Kills campaigns of a scenario until they were killed often enough; each is completed in the end.
fn killed(scenario: &str, url: Option<&str>, arguments: &[&str], moments: &[Moment], seed: u64) -> Tally {
    let (mut dice, mut tally) = (Dice(seed), Tally::default());
    let scenario = scenario.replace("requests = 30", "requests = 12");
    let mut lane = Lane::new(&scenario, url, arguments);
    let mut lives = 0;
    while tally.kills < KILLS {
        lives += 1;
        assert!(lives < 10 * KILLS, "{tally:?}");
        let rest = if lane.is_complete() { &[Moment::Writing] } else { moments };
        let moment = rest[dice.below(u32::try_from(rest.len()).unwrap()) as usize];
        let was_killed = lane.kill(moment, &mut dice, &mut tally);
        if !was_killed || moment == Moment::Writing {
            std::mem::replace(&mut lane, Lane::new(&scenario, url, arguments)).finish(&mut tally);
        }
    }
    lane.finish(&mut tally);
    tally
}

#[test]
fn kills_at_random_moments_lose_no_record_and_every_campaign_is_completed() {
    use Moment::{Claimed, Completed, Job, Records, Start};

    let images = Served::simulator(&["--model", "Qwen/Qwen-Image", "--speed", "30"]);
    let jobs = Served::simulator(&["--model", VIDEO_MODEL, "--speed", "30"]);
    let lanes = std::thread::scope(|scope| {
        let images = scope.spawn(|| {
            let scenario = at(IMAGES, images.url());
            killed(&scenario, None, &[], &[Start, Claimed, Records, Completed, Completed], 1)
        });
        let jobs = scope.spawn(|| {
            let scenario = at(&videos(), jobs.url());
            killed(&scenario, Some(jobs.url()), &[], &[Start, Claimed, Job, Records, Completed, Completed], 2)
        });
        // no process is left is a matter of servers that the tool started
        let servers = scope.spawn(|| {
            let scenario = launched(IMAGES, 30);
            killed(&scenario, None, &[], &[Start, Claimed, Records, Completed, Completed], 3)
        });
        [images, jobs, servers].map(|lane| lane.join().unwrap())
    });
    let sum = |of: &dyn Fn(&Tally) -> usize| lanes.iter().map(of).sum::<usize>();
    let kills: u32 = lanes.iter().map(|lane| lane.kills).sum();
    let (lost, orphans) = (sum(&|lane| lane.lost), sum(&|lane| lane.orphans));
    for (name, lane) in ["images", "jobs", "started servers"].iter().zip(&lanes) {
        println!("{name}: {lane:?}");
    }
    figure(&format!("kills survived: {kills}, records lost: {lost}"));
    assert_eq!((kills, lost, orphans), (3 * KILLS, 0, 0));
    assert!(sum(&|lane| lane.seen) > 100, "there was something to lose");
}

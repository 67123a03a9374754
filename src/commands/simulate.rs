//! `omni-bench simulate`.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use tokio::net::TcpListener;

use super::Ui;
use super::planning::{self, Planned};
use super::simulated;
use crate::catalog::{FaultKind, FaultRule};
use crate::cli::{PlanningArgs, ScenarioArgs, SimulateArgs};
use crate::diagnostic::nearest;
use crate::exit::Exit;
use crate::simulator::{self, Settings};

/// Serves until asked to stop, which is a clean end.
pub(super) fn run(args: &SimulateArgs, ui: Ui) -> Exit {
    let mut args = args.clone();
    let settings = match take_own_options(&mut args) {
        Ok(serve_flags) => settings(&args, &serve_flags, ui),
        Err(message) => Err(refuse(&message, ui)),
    };
    let settings = match settings {
        Ok(settings) => settings,
        Err(exit) => return exit,
    };
    match serve(&args, settings, ui) {
        Ok(()) => Exit::Fine,
        Err(error) => {
            ui.error(&format!("cannot serve on {}:{}: {error}", args.host, args.port));
            Exit::RunFailed
        }
    }
}

fn refuse(message: &str, ui: Ui) -> Exit {
    ui.error(message);
    Exit::Usage
}

/// Defaults, under the scenario's variant, under the options and flags that were typed.
fn settings(args: &SimulateArgs, serve_flags: &[String], ui: Ui) -> Result<Settings, Exit> {
    let mut settings = match (&args.scenario, &args.variant) {
        (Some(file), Some(variant)) => of_variant(file, variant, ui)?,
        (None, None) => Settings::default(),
        (Some(_), None) => return Err(refuse("`--scenario` needs `--variant`", ui)),
        (None, Some(_)) => return Err(refuse("`--variant` needs `--scenario`", ui)),
    };
    settings.model = args.model.clone().unwrap_or(settings.model);
    settings.speed = args.speed.unwrap_or(settings.speed);
    settings.profile = args.profile.clone().or(settings.profile);
    settings.noise = args.noise.unwrap_or(settings.noise);
    settings.seed = args.seed;
    settings.null = args.null;
    settings.detailed = args.detailed;
    add_faults(&mut settings, args).map_err(|message| refuse(&message, ui))?;
    apply(&mut settings, serve_flags, ui)?;
    settings.check().map_err(|message| refuse(&message, ui))?;
    Ok(settings)
}

/// Faults that were typed replace those of the scenario, kind by kind.
fn add_faults(settings: &mut Settings, args: &SimulateArgs) -> Result<(), String> {
    let mut typed = Vec::new();
    for text in &args.faults {
        let rule = fault(text)?;
        typed.retain(|earlier: &FaultRule| earlier.kind != rule.kind);
        typed.push(rule);
    }
    let kept = settings.faults.iter().filter(|rule| typed.iter().all(|typed| typed.kind != rule.kind));
    let given = kept.cloned().chain(typed.iter().cloned()).collect();
    settings.faults = FaultRule::mix(args.chaos.then_some(1.0), given);
    Ok(())
}

/// `KIND` or `KIND=RATE`.
fn fault(text: &str) -> Result<FaultRule, String> {
    let (name, rate) = text.split_once('=').unwrap_or((text, "1"));
    let kind = FaultKind::named(name).ok_or_else(|| {
        let names = FaultKind::ALL.iter().map(|kind| kind.name());
        let meant = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
        };
        format!("no fault is called `{name}`; {meant}")
    })?;
    let rate = rate.parse().map_err(|_| format!("`--fault {text}`: a rate is a number from 0 to 1, not `{rate}`"))?;
    Ok(FaultRule::rate(kind, rate))
}

fn apply(settings: &mut Settings, serve_flags: &[String], ui: Ui) -> Result<(), Exit> {
    let notes = settings.apply_serve_flags(serve_flags).map_err(|message| refuse(&message, ui))?;
    tell(&notes, ui);
    Ok(())
}

fn tell(notes: &[String], ui: Ui) {
    for note in notes {
        ui.note(&format!("note: {note}"));
    }
}

/// What a variant of a scenario stands for.
fn of_variant(file: &Path, name: &str, ui: Ui) -> Result<Settings, Exit> {
    let scenario = ScenarioArgs { scenario: file.to_path_buf(), set: Vec::new() };
    let wanted = PlanningArgs { simulate: true, ..PlanningArgs::all_of(scenario) };
    let Planned { loaded, plan, .. } = planning::prepare(&wanted, ui)?;
    let Some(variant) = plan.variants.iter().find(|variant| variant.name == name) else {
        let names: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
        return Err(refuse(&format!("no variant is called `{name}`; there are {}", names.join(", ")), ui));
    };
    let (mut settings, notes) = simulated::settings(&plan, variant).map_err(|message| refuse(&message, ui))?;
    // a server started by hand is as fast as the scenario says, not as `run --simulate` would make it
    settings.speed = loaded.scenario.simulator.speed.unwrap_or(Settings::default().speed);
    tell(&notes, ui);
    Ok(settings)
}

/// The command line ends in serve flags, so options of `simulate` itself that follow the first of them are
/// among its words. Takes them out into `args` and returns the rest.
fn take_own_options(args: &mut SimulateArgs) -> Result<Vec<String>, String> {
    let command = SimulateArgs::augment_args(Command::new("simulate").no_binary_name(true));
    let (mut own, mut rest) = (Vec::new(), Vec::new());
    let mut words = std::mem::take(&mut args.serve_flags).into_iter();
    while let Some(word) = words.next() {
        let name = word.strip_prefix("--").map(|bare| bare.split_once('=').map_or(bare, |(name, _)| name));
        if let Some(name @ ("quiet" | "verbose" | "color" | "no-progress")) = name {
            return Err(format!("write `--{name}` before the serve flags"));
        }
        let option = command.get_arguments().find(|option| option.get_long().is_some() && option.get_long() == name);
        let Some(option) = option else {
            rest.push(word);
            continue;
        };
        let takes_next = option.get_action().takes_values() && !word.contains('=');
        own.push(word);
        own.extend(takes_next.then(|| words.next()).flatten());
    }
    let matches = command.try_get_matches_from(own).map_err(|error| in_short(&error))?;
    let late = SimulateArgs::from_arg_matches(&matches).map_err(|error| in_short(&error))?;
    lay_over(args, late, &matches);
    Ok(rest)
}

/// Options that were typed replace those of `args`.
fn lay_over(args: &mut SimulateArgs, late: SimulateArgs, matches: &ArgMatches) {
    let typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let SimulateArgs {
        port,
        host,
        model,
        speed,
        profile,
        noise,
        seed,
        null,
        detailed,
        faults,
        chaos,
        scenario,
        variant,
        serve_flags: _,
    } = late;
    if typed("port") {
        args.port = port;
    }
    if typed("host") {
        args.host = host;
    }
    if typed("seed") {
        args.seed = seed;
    }
    args.null |= null;
    args.detailed |= detailed;
    args.chaos |= chaos;
    args.faults.extend(faults);
    args.model = model.or(args.model.take());
    args.speed = speed.or(args.speed);
    args.profile = profile.or(args.profile.take());
    args.noise = noise.or(args.noise);
    args.scenario = scenario.or(args.scenario.take());
    args.variant = variant.or(args.variant.take());
}

/// The message of a parse error on one line, without the usage that follows it.
fn in_short(error: &clap::Error) -> String {
    let text = error.to_string();
    let message: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let message = message.join(" ");
    message.strip_prefix("error: ").unwrap_or(&message).to_owned()
}

fn serve(args: &SimulateArgs, settings: Settings, ui: Ui) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let stop = stop_signal()?;
        let listener = TcpListener::bind((args.host.as_str(), args.port)).await?;
        let address: SocketAddr = listener.local_addr()?;
        if !address.ip().is_loopback() {
            ui.note(&format!("the simulator is open to other machines: anyone who reaches {address} can use it"));
        }
        ui.data(&format!("listening on {address}\n"))?;
        simulator::serve(listener, settings, stop).await
    });
    // an encoder that is still busy with a dropped request is not waited for
    runtime.shutdown_background();
    served
}

/// Done when the process is asked to stop by SIGINT or SIGTERM. The handlers are in place when this returns.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Done when the process is asked to stop.
#[cfg(not(unix))]
fn stop_signal() -> io::Result<impl Future<Output = ()> + Send> {
    Ok(async {
        // without a handler the process ends by itself
        drop(tokio::signal::ctrl_c().await);
    })
}

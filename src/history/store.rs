//! The file: opening it, adding to it, selecting from it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, Row, Transaction, TransactionBehavior, named_params, params_from_iter, types};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::schema::{STEPS, prepare};
use super::{Entry, Filter, HistoryError, Origin, Trend, trend_points};
use crate::units::Rate;

/// A history, open. Several processes may have it open at once.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
}

/// What adding came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Added {
    /// Entries that are new.
    pub new: usize,
    /// Entries that were there already, and stayed as they were.
    pub known: usize,
}

impl History {
    /// Opens the history, which is made when there is none. A file of an older version is brought up
    /// to date; one of a newer version or of another program is refused and left as it is.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        Self::with(path, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens a history that is there.
    pub fn open_existing(path: &Path) -> Result<Self, HistoryError> {
        if path.exists() { Self::with(path, OpenFlags::empty()) } else { Err(HistoryError::Absent(path.to_owned())) }
    }

    fn with(path: &Path, more: OpenFlags) -> Result<Self, HistoryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let opened = Connection::open_with_flags(path, flags);
        let mut connection = opened.map_err(|source| HistoryError::database(path, source))?;
        prepare(&mut connection, path, STEPS)?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Adds entries, all or none; they are on disk when this returns. A run that is there already, by
    /// plan, id and start, is not added again.
    pub fn add(&mut self, entries: &[Entry]) -> Result<Added, HistoryError> {
        let added = insert(&mut self.connection, entries);
        added.map_err(|source| HistoryError::database(&self.path, source))
    }

    /// The entries that the filter selects, oldest first.
    pub fn select(&self, filter: &Filter) -> Result<Vec<Entry>, HistoryError> {
        let database = |source| HistoryError::database(&self.path, source);
        let (condition, mut values) = filter.sql();
        let last = filter.last.map_or(String::new(), |last| {
            values.push(types::Value::Integer(last.into()));
            "WHERE place <= ?".to_owned()
        });
        let text = format!(
            "SELECT * FROM (
                SELECT *, row_number() OVER (
                    PARTITION BY key, hardware, simulated, speed ORDER BY started_us DESC, id DESC
                ) AS place
                FROM entry WHERE {condition}
            ) {last} ORDER BY started_us, id"
        );
        let mut statement = self.connection.prepare(&text).map_err(database)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(database)?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next().map_err(database)? {
            entries.push(self.entry(row)?);
        }
        Ok(entries)
    }

    /// One metric of the selected entries over time.
    pub fn trend(&self, metric: &str, filter: &Filter) -> Result<Trend, HistoryError> {
        trend_points(&self.select(filter)?, metric)
    }

    fn entry(&self, row: &Row<'_>) -> Result<Entry, HistoryError> {
        let database = |source| HistoryError::database(&self.path, source);
        let id = row.get("id").map_err(database)?;
        let broken = |message: String| HistoryError::Entry { path: self.path.clone(), id, message };
        let raw = Raw::read(row).map_err(database)?;
        raw.entry().map_err(broken)
    }
}

fn insert(connection: &mut Connection, entries: &[Entry]) -> rusqlite::Result<Added> {
    // the lock is taken at the beginning: taken later, it could be refused because someone else wrote
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut new = 0;
    for entry in entries {
        new += insert_one(&transaction, entry)?;
    }
    transaction.commit()?;
    Ok(Added { new, known: entries.len() - new })
}

fn insert_one(transaction: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<usize> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO entry (
            started_us, scenario, plan_hash, results, model, task, hardware, run, key, workload_key, config_key,
            variant, dataset, max_concurrency, request_rate, repeat, gpus, completed, validity, simulated, speed, summary
        ) VALUES (
            :started_us, :scenario, :plan_hash, :results, :model, :task, :hardware, :run, :key, :workload_key,
            :config_key, :variant, :dataset, :max_concurrency, :request_rate, :repeat, :gpus, :completed, :validity,
            :simulated, :speed, :summary
        ) ON CONFLICT (plan_hash, run, started_us) DO NOTHING",
    )?;
    let origin = &entry.origin;
    let request_rate = match entry.request_rate {
        Rate::PerSecond(rate) => types::Value::Real(rate),
        Rate::Infinite => types::Value::Text("inf".to_owned()),
    };
    statement.execute(named_params! {
        ":started_us": origin.time.as_microsecond(),
        ":scenario": origin.scenario,
        ":plan_hash": origin.plan_hash,
        ":results": origin.results,
        ":model": origin.model,
        ":task": origin.task,
        ":hardware": origin.hardware,
        ":run": entry.run,
        ":key": entry.key,
        ":workload_key": entry.workload_key,
        ":config_key": entry.config_key,
        ":variant": entry.variant,
        ":dataset": entry.dataset,
        ":max_concurrency": entry.max_concurrency,
        ":request_rate": request_rate,
        ":repeat": entry.repeat,
        ":gpus": entry.gpus,
        ":completed": i64::try_from(entry.completed).unwrap_or(i64::MAX),
        ":validity": entry.validity.name(),
        ":simulated": entry.simulated,
        ":speed": entry.speed,
        ":summary": entry.summary.to_string(),
    })
}

/// A row whose words have not been understood yet.
struct Raw {
    entry: Entry,
    started_us: i64,
    request_rate: types::Value,
    completed: i64,
    validity: String,
    summary: String,
}

impl Raw {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let origin = Origin {
            time: Timestamp::UNIX_EPOCH,
            scenario: row.get("scenario")?,
            plan_hash: row.get("plan_hash")?,
            results: row.get("results")?,
            model: row.get("model")?,
            task: row.get("task")?,
            hardware: row.get("hardware")?,
        };
        let entry = Entry {
            origin,
            run: row.get("run")?,
            key: row.get("key")?,
            workload_key: row.get("workload_key")?,
            config_key: row.get("config_key")?,
            variant: row.get("variant")?,
            dataset: row.get("dataset")?,
            max_concurrency: row.get("max_concurrency")?,
            request_rate: Rate::Infinite,
            repeat: row.get("repeat")?,
            gpus: row.get("gpus")?,
            completed: 0,
            validity: crate::catalog::Validity::Invalid,
            simulated: row.get("simulated")?,
            speed: row.get("speed")?,
            summary: serde_json::Value::Null,
        };
        Ok(Self {
            entry,
            started_us: row.get("started_us")?,
            request_rate: row.get("request_rate")?,
            completed: row.get("completed")?,
            validity: row.get("validity")?,
            summary: row.get("summary")?,
        })
    }

    fn entry(self) -> Result<Entry, String> {
        let Self { mut entry, started_us, request_rate, completed, validity, summary } = self;
        entry.origin.time = Timestamp::from_microsecond(started_us).map_err(|error| error.to_string())?;
        entry.request_rate = match request_rate {
            types::Value::Real(rate) => again(&rate)?,
            types::Value::Text(text) => again(&text)?,
            other => return Err(format!("its `request_rate` is {other:?}")),
        };
        entry.completed = u64::try_from(completed).map_err(|_| format!("its `completed` is {completed}"))?;
        entry.validity = again(&validity)?;
        entry.summary = serde_json::from_str(&summary).map_err(|error| format!("its summary is not JSON: {error}"))?;
        Ok(entry)
    }
}

/// A value in the words of JSON, as the type that reads those.
fn again<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, String> {
    serde_json::to_value(value).and_then(serde_json::from_value).map_err(|error| error.to_string())
}

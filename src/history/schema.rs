//! The tables of the history and how an older file becomes a newer one.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, TransactionBehavior};

use super::HistoryError;

/// Marks the file as ours (`omni` in ASCII), so that another program's database is never written to.
const APPLICATION_ID: i64 = 0x6F6D_6E69;

/// How long one process waits for another.
const PATIENCE: Duration = Duration::from_mins(1);

/// What brings a file from each version to the next; the first makes the tables. A released step never
/// changes: a new version is a new step.
pub(super) const STEPS: &[&str] = &["
    CREATE TABLE entry (
        id INTEGER PRIMARY KEY,
        started_us INTEGER NOT NULL,
        scenario TEXT NOT NULL,
        plan_hash TEXT NOT NULL,
        results TEXT NOT NULL,
        model TEXT NOT NULL,
        task TEXT NOT NULL,
        hardware TEXT NOT NULL,
        run TEXT NOT NULL,
        key TEXT NOT NULL,
        workload_key TEXT NOT NULL,
        config_key TEXT NOT NULL,
        variant TEXT NOT NULL,
        dataset TEXT NOT NULL,
        max_concurrency INTEGER,
        request_rate ANY NOT NULL,
        repeat INTEGER NOT NULL,
        gpus INTEGER NOT NULL,
        completed INTEGER NOT NULL,
        validity TEXT NOT NULL,
        simulated INTEGER NOT NULL,
        speed REAL NOT NULL,
        summary TEXT NOT NULL,
        UNIQUE (plan_hash, run, started_us)
    ) STRICT;
    CREATE INDEX entry_line ON entry (key, hardware, simulated, speed, started_us);
    CREATE INDEX entry_time ON entry (started_us);
    CREATE INDEX entry_scenario ON entry (scenario, variant, dataset);
"];

/// Makes the file one of the version that `steps` end at: a new or older one is brought there, a newer
/// one or another program's is refused and left as it is.
pub(super) fn prepare(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), HistoryError> {
    let database = |source| HistoryError::database(path, source);
    connection.busy_timeout(PATIENCE).map_err(database)?;
    let version = version(connection, path, steps)?;
    // writers then do not keep readers out, nor readers writers; where the file system cannot, the
    // older journal is as safe
    set_wal(connection).map_err(database)?;
    if version == steps.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(database)?;
    // someone else may have been faster
    let version = self::version(&transaction, path, steps)?;
    for step in steps.iter().skip(version) {
        transaction.execute_batch(step).map_err(database)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(database)?;
    transaction
        .pragma_update(None, "user_version", i64::try_from(steps.len()).unwrap_or(i64::MAX))
        .map_err(database)?;
    transaction.commit().map_err(database)
}

/// The file's version; 0 is an empty file.
fn version(connection: &Connection, path: &Path, steps: &[&str]) -> Result<usize, HistoryError> {
    let read = |what: &str| connection.query_row(what, [], |row| row.get::<_, i64>(0));
    let database = |source| HistoryError::database(path, source);
    let found = read("PRAGMA user_version").map_err(database)?;
    let is_empty = connection.query_row("SELECT 1 FROM sqlite_schema", [], |_| Ok(())).optional();
    let is_empty = is_empty.map_err(database)?.is_none();
    let is_ours = read("PRAGMA application_id").map_err(database)? == APPLICATION_ID;
    let is_new = is_empty && found == 0;
    if !(is_ours || is_new) {
        return Err(HistoryError::Foreign(path.to_owned()));
    }
    match usize::try_from(found) {
        Ok(version) if version <= steps.len() => Ok(version),
        _ => Err(HistoryError::Newer {
            path: path.to_owned(),
            found: u32::try_from(found).unwrap_or(u32::MAX),
            known: u32::try_from(steps.len()).unwrap_or(u32::MAX),
        }),
    }
}

/// Switches to the write-ahead log. The busy handler does not cover this, so that waiting is done here.
fn set_wal(connection: &Connection) -> rusqlite::Result<()> {
    let began = Instant::now();
    loop {
        let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        if mode == "wal" {
            return Ok(());
        }
        let switched = connection.query_row("PRAGMA journal_mode = wal", [], |row| row.get::<_, String>(0));
        match switched {
            Err(error) if is_busy(&error) && began.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other.map(drop),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[&str] = &["CREATE TABLE thing (name TEXT)"];
    const NEW: &[&str] =
        &["CREATE TABLE thing (name TEXT)", "ALTER TABLE thing ADD COLUMN size INTEGER NOT NULL DEFAULT 7"];

    fn open(folder: &Path, steps: &[&str]) -> Result<Connection, HistoryError> {
        let path = folder.join("h.sqlite");
        let mut connection = Connection::open(&path).unwrap();
        prepare(&mut connection, &path, steps).map(|()| connection)
    }

    #[test]
    fn an_older_file_is_brought_up_to_date_with_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path(), OLD).unwrap().execute_batch("INSERT INTO thing VALUES ('a')").unwrap();
        for _ in 0..2 {
            let connection = open(folder.path(), NEW).unwrap();
            let row = connection.query_row("SELECT name, size FROM thing", [], |row| Ok((row.get(0)?, row.get(1)?)));
            assert_eq!(row, Ok(("a".to_owned(), 7)));
        }
    }

    #[test]
    fn a_newer_file_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path(), NEW).unwrap();
        let before = fs_err::read(folder.path().join("h.sqlite")).unwrap();
        let error = open(folder.path(), OLD).unwrap_err().to_string();
        assert!(error.contains("h.sqlite") && error.contains("version 2") && error.contains("up to 1"), "{error}");
        assert_eq!(fs_err::read(folder.path().join("h.sqlite")).unwrap(), before);
    }

    #[test]
    fn a_step_that_fails_leaves_the_older_file() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path(), OLD).unwrap();
        let broken = ["", "CREATE TABLE more (x INTEGER); NOT SQL"];
        assert!(matches!(open(folder.path(), &broken), Err(HistoryError::Database { .. })));
        let connection = open(folder.path(), NEW).unwrap();
        assert!(connection.prepare("SELECT * FROM more").is_err(), "half a step stayed");
    }

    #[test]
    fn files_of_other_programs_are_refused_and_left_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.sqlite");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        let before = fs_err::read(&path).unwrap();
        assert!(matches!(open(folder.path(), OLD), Err(HistoryError::Foreign(_))));
        assert_eq!(fs_err::read(&path).unwrap(), before);
        fs_err::write(&path, "name,latency\nx,1\n".repeat(100)).unwrap();
        assert!(matches!(open(folder.path(), OLD), Err(HistoryError::Foreign(_))));
    }
}

//! Rows of SQLite as members of lists, with the order and the references that the schema promises checked.

use crate::words::Word;
use rusqlite::{Connection, Row};

/// Why the tables could not become a profile.
pub(crate) enum Failure {
    /// SQLite found the file malformed, or a value of another type than the schema's.
    Database(rusqlite::Error),
    /// The rows contradict each other.
    Contradiction(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Failure::Database(error)
    }
}

/// Every row that `query` gives.
pub(crate) fn list<T>(
    connection: &Connection,
    query: &str,
    row: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Failure> {
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([], |found| row(found))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The rows of a table whose first column numbers them 0, 1, 2, ...
pub(crate) fn numbered<T>(
    connection: &Connection,
    table: &str,
    row: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Failure> {
    let query = format!("SELECT * FROM {table} ORDER BY 1");
    let rows = list(connection, &query, |found| Ok((count(found, 0)?, row(found)?)))?;
    let mut members = Vec::with_capacity(rows.len());
    for (number, member) in rows {
        if number != members.len() as u64 {
            return Err(Failure::Contradiction(format!("{table} has no row {}", members.len())));
        }
        members.push(member);
    }
    Ok(members)
}

/// The only row of a table.
pub(crate) fn single<T>(
    connection: &Connection,
    table: &str,
    row: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<T, Failure> {
    let mut rows = list(connection, &format!("SELECT * FROM {table}"), row)?;
    match (rows.pop(), rows.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => Err(Failure::Contradiction(format!("{table} should have one row"))),
    }
}

/// An unsigned value, stored as the same 64 bits.
pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

/// A real number; what is not a number was stored as NULL.
pub(crate) fn real(row: &Row<'_>, column: usize) -> rusqlite::Result<f64> {
    Ok(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN))
}

/// A value of an enumeration.
pub(crate) fn word<W: Word>(row: &Row<'_>, column: usize) -> rusqlite::Result<W> {
    let word: String = row.get(column)?;
    W::from_word(&word).ok_or_else(|| {
        let unknown = format!("unknown {} {word:?}", W::WHAT);
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, unknown.into())
    })
}

/// Gives each member of a nested list to the element that owns it; owners and positions are the first two columns.
pub(crate) fn distribute<T, Member>(
    owners: &mut [T],
    table: &str,
    rows: Vec<(u64, u64, Member)>,
    members: impl Fn(&mut T) -> &mut Vec<Member>,
) -> Result<(), Failure> {
    for (owner, position, member) in rows {
        let list = usize::try_from(owner).ok().and_then(|owner| owners.get_mut(owner)).map(&members);
        match list {
            Some(list) if list.len() as u64 == position => list.push(member),
            Some(list) => {
                return Err(Failure::Contradiction(format!("{table} of {owner} lacks row {}", list.len())));
            }
            None => return Err(Failure::Contradiction(format!("{table} of {owner}, which is not there"))),
        }
    }
    Ok(())
}

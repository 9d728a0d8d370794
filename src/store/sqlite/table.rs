//! The SQL that follows from a table's columns, so that each list of them is written once.

/// A table, as this backend reads and writes it.
#[derive(Debug)]
pub(super) struct Table {
    /// Its name.
    pub name: &'static str,
    /// The columns that tell its rows apart.
    pub key: &'static [&'static str],
    /// Every column, in the order in which values are bound and read.
    pub columns: &'static [&'static str],
}

impl Table {
    /// All columns; `rest` may say which rows, and in which order.
    pub(super) fn select(&self, rest: &str) -> String {
        format!("SELECT {} FROM {} {rest}", self.columns.join(", "), self.name)
    }

    /// A new row.
    pub(super) fn insert(&self) -> String {
        let places: Vec<String> = (1..=self.columns.len()).map(|n| format!("?{n}")).collect();
        format!("INSERT INTO {}({}) VALUES ({})", self.name, self.columns.join(", "), places.join(", "))
    }

    /// A row that may be there already and is the same from now on.
    pub(super) fn insert_once(&self) -> String {
        format!("{} ON CONFLICT({}) DO NOTHING", self.insert(), self.key.join(", "))
    }

    /// A row that may be there already and gets new values.
    pub(super) fn upsert(&self) -> String {
        let values = self.columns.iter().filter(|column| !self.key.contains(column));
        let values: Vec<String> = values.map(|column| format!("{column} = excluded.{column}")).collect();
        format!("{} ON CONFLICT({}) DO UPDATE SET {}", self.insert(), self.key.join(", "), values.join(", "))
    }

    /// New values for some columns of one row: first the key, then the columns.
    pub(super) fn update(&self, columns: &[&str]) -> String {
        let values = columns.iter().enumerate();
        let values: Vec<String> =
            values.map(|(n, column)| format!("{column} = ?{}", self.key.len() + n + 1)).collect();
        format!("UPDATE {} SET {} WHERE {}", self.name, values.join(", "), self.keyed())
    }

    /// One row less.
    pub(super) fn delete(&self) -> String {
        format!("DELETE FROM {} WHERE {}", self.name, self.keyed())
    }

    /// Whether a row is there.
    pub(super) fn exists(&self) -> String {
        format!("SELECT 1 FROM {} WHERE {}", self.name, self.keyed())
    }

    fn keyed(&self) -> String {
        let keys: Vec<String> =
            self.key.iter().enumerate().map(|(n, key)| format!("{key} = ?{}", n + 1)).collect();
        keys.join(" AND ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: Table = Table { name: "pairs", key: &["a", "b"], columns: &["a", "b", "c", "d"] };

    #[test]
    fn statements_follow_from_the_columns() {
        assert_eq!(PAIRS.select("ORDER BY c"), "SELECT a, b, c, d FROM pairs ORDER BY c");
        assert_eq!(PAIRS.insert(), "INSERT INTO pairs(a, b, c, d) VALUES (?1, ?2, ?3, ?4)");
        assert!(PAIRS.insert_once().ends_with(" ON CONFLICT(a, b) DO NOTHING"));
        assert!(PAIRS.upsert().ends_with(" ON CONFLICT(a, b) DO UPDATE SET c = excluded.c, d = excluded.d"));
        assert_eq!(PAIRS.update(&["d"]), "UPDATE pairs SET d = ?3 WHERE a = ?1 AND b = ?2");
        assert_eq!(PAIRS.delete(), "DELETE FROM pairs WHERE a = ?1 AND b = ?2");
    }
}

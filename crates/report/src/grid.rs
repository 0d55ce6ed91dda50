//! Tables for a terminal: a header, a thin rule, columns parted by space; numbers to the right. Some columns of a table
//! give way: their names are shortened so that the table fits the width. Numbers are never shortened.

use crate::text::elide;
use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};

/// The least that a column that gives way keeps.
const LEAST_WIDTH: usize = 8;
/// Columns are parted by a space on each side.
const PADDING: usize = 2;

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// To the left, as wide as its cells.
    Text,
    /// To the left; gives way if the table is too wide.
    Flexible,
    /// To the right, numbers and names; gives way likewise.
    FlexibleNumber,
    /// To the right, as wide as its cells.
    Number,
}

/// A table under construction.
pub(crate) struct Grid {
    columns: Vec<(String, Column)>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table with these columns.
    pub(crate) fn new<Title: Into<String>>(columns: impl IntoIterator<Item = (Title, Column)>) -> Self {
        let columns = columns.into_iter().map(|(title, column)| (title.into(), column)).collect();
        Grid { columns, rows: Vec::new() }
    }

    /// Adds a row; it has a cell for each column.
    pub(crate) fn row<Text: Into<String>>(&mut self, cells: impl IntoIterator<Item = Text>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// The table in `width` columns: the header, the rule, then exactly one line for each row.
    pub(crate) fn lines(mut self, width: usize) -> Vec<String> {
        self.fit(width);
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
        let set = |text: &String, column: Column| {
            Cell::new(text).set_alignment(match column {
                Column::Number | Column::FlexibleNumber => CellAlignment::Right,
                Column::Text | Column::Flexible => CellAlignment::Left,
            })
        };
        table.set_header(self.columns.iter().map(|(title, column)| set(title, *column)));
        for row in &self.rows {
            table.add_row(row.iter().zip(&self.columns).map(|(cell, (_, column))| set(cell, *column)));
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Shortens the columns that give way, the widest first. Line breaks in cells would break the table: they become
    /// spaces.
    fn fit(&mut self, width: usize) {
        for cell in self.rows.iter_mut().flatten() {
            if cell.contains(char::is_control) {
                *cell = cell.replace(char::is_control, " ");
            }
        }
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width_of(column)).collect();
        let mut excess = widths.iter().map(|width| width + PADDING).sum::<usize>().saturating_sub(width);
        let least: Vec<usize> = (0..self.columns.len()).map(|column| self.least_width_of(column)).collect();
        while excess > 0 {
            let gives = (0..widths.len()).filter(|&column| widths[column] > least[column]);
            let Some(widest) = gives.max_by_key(|&column| widths[column]) else { break };
            widths[widest] -= 1;
            excess -= 1;
        }
        for row in &mut self.rows {
            for (cell, width) in row.iter_mut().zip(&widths) {
                *cell = elide(cell, *width);
            }
        }
    }

    /// How far a column can give way: not below its title and its numbers.
    fn least_width_of(&self, column: usize) -> usize {
        let (title, kind) = &self.columns[column];
        if matches!(kind, Column::Text | Column::Number) {
            return usize::MAX;
        }
        let is_number = |cell: &&str| !cell.contains(char::is_alphabetic);
        let numbers = self.rows.iter().map(|row| row[column].as_str()).filter(is_number);
        numbers.chain([title.as_str()]).map(|text| text.chars().count()).fold(LEAST_WIDTH, usize::max)
    }

    fn width_of(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        cells.chain([self.columns[column].0.chars().count()]).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new([("area", Column::Flexible), ("remote", Column::Number)]);
        grid.row(["make_boundary_exchange (boundary.c:123)", "12,345"]);
        grid.row(["table", "7"]);
        grid
    }

    #[test]
    fn a_table_that_fits_is_left_as_it_is() {
        let lines = grid().lines(80);
        let expected = [
            " area                                     remote",
            "─────────────────────────────────────────────────",
            " make_boundary_exchange (boundary.c:123)  12,345",
            " table                                         7",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_flexible_column_gives_way() {
        let lines = grid().lines(40);
        assert!(lines.iter().all(|line| line.chars().count() <= 40), "{lines:#?}");
        assert_eq!(lines[2], " make_boundary_e…oundary.c:123)  12,345");
    }

    #[test]
    fn line_breaks_in_cells_do_not_break_the_table() {
        let mut grid = grid();
        grid.row(["two\nlines", "1"]);
        assert_eq!(grid.lines(80).len(), 5);
    }
}

//! `olifant report`: a stored profile as text, CSV, JSON or a page for a browser.

use crate::arguments::TopArguments;
use crate::outcome::Outcome;
use crate::sources::SourceFiles;
use crate::{output, session};
use anyhow::ensure;
use clap::{Args, ValueEnum};
use olifant_opium::map::GranuleMap;
use olifant_report::page::{Page, PageRun};
use olifant_report::{CsvRows, ProfileReport, ReportOptions, Sort};
use olifant_store::symbols::Symbolizer;
use std::io::IsTerminal;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  olifant report ocean.olp
  olifant report --top 20 ocean.olp
  olifant report --format html ocean.olp > ocean.html
  olifant report --format csv --rows areas ocean.olp > areas.csv
  sqlite3 ocean.olp .schema";

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    top: TopArguments,

    /// Order of the areas: remote, local, transactions, bytes or name
    ///
    /// Example: --sort bytes
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = Order::Remote, hide_possible_values = true, help_heading = "Output")]
    sort: Order,

    /// Also show each granule (a page, unless recorded otherwise) of the areas
    ///
    /// Example: --granules --format csv, for a picture of who uses which page
    #[arg(long, help_heading = "Output")]
    granules: bool,

    /// Form of the result: table, json, csv or html (a page for a browser)
    ///
    /// Example: --format html > ocean.html
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Table, hide_possible_values = true, help_heading = "Output")]
    format: Form,

    /// Rows of the CSV: counters, areas, granules, nodes, links, threads, contested, filters, phases, locks or first-touches
    ///
    /// `counters` has a row for each area, thread, node and kind. Example: --format csv --rows contested
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Rows::Counters, hide_possible_values = true, help_heading = "Output")]
    rows: Rows,

    /// Profile that `olifant record` or `olifant tune` wrote
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
}

/// The form of the report on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a person
    Table,
    /// For a program: one object with stable names
    Json,
    /// For a spreadsheet: a header and rows
    Csv,
    /// For a browser: one file, with a heat map of the memory
    Html,
}

/// What a row of CSV stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// Counters by area, thread, node and kind
    Counters,
    /// Areas
    Areas,
    /// Granules with their accessors
    Granules,
    /// Nodes
    Nodes,
    /// Links
    Links,
    /// Threads
    Threads,
    /// Contested lines with their accessors
    Contested,
    /// Counters of filters
    Filters,
    /// Areas by phase and node
    Phases,
    /// Locks
    Locks,
    /// Who touched the pages of areas first
    FirstTouches,
}

/// What areas are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Transactions that left their node
    Remote,
    /// Transactions that stayed
    Local,
    /// All transactions
    Transactions,
    /// Size
    Bytes,
    /// Name
    Name,
}

/// Shows the profile.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let wants_granules =
        arguments.granules || arguments.format == Form::Csv && arguments.rows == Rows::Granules;
    let (profile, map) = if wants_granules {
        let profile = session::open(&arguments.profile)?;
        let map = GranuleMap::of(&profile);
        (profile, map)
    } else {
        session::open_map(&arguments.profile)?
    };
    let symbolizer = Symbolizer::new(&profile.modules);
    let locate = |address| symbolizer.frames_at(address).into_iter().next();
    let options =
        ReportOptions { top: arguments.top.top, sort: arguments.sort.into(), granules: arguments.granules };
    let report = || ProfileReport::of_map(&profile, &map, options).with_code(&locate);
    output::print(&match arguments.format {
        Form::Table => report().table(output::style()),
        Form::Json => report().json(),
        Form::Csv => report().csv_of(arguments.rows.into()),
        Form::Html => {
            ensure!(
                !std::io::stdout().is_terminal(),
                "a page on a terminal helps nobody: put it into a file with > {}",
                arguments.profile.with_extension("html").display()
            );
            let sources = SourceFiles::default();
            let run = PageRun { profile: &profile, map: &map, locate: &locate };
            Page { run, tuning: None, source_line: &|file, line| sources.line(file, line) }.html()
        }
    })?;
    Ok(Outcome::Done)
}

impl From<Order> for Sort {
    fn from(order: Order) -> Self {
        match order {
            Order::Remote => Sort::Remote,
            Order::Local => Sort::Local,
            Order::Transactions => Sort::Transactions,
            Order::Bytes => Sort::Bytes,
            Order::Name => Sort::Name,
        }
    }
}

impl From<Rows> for CsvRows {
    fn from(rows: Rows) -> Self {
        match rows {
            Rows::Counters => CsvRows::Counters,
            Rows::Areas => CsvRows::Areas,
            Rows::Granules => CsvRows::Granules,
            Rows::Nodes => CsvRows::Nodes,
            Rows::Links => CsvRows::Links,
            Rows::Threads => CsvRows::Threads,
            Rows::Contested => CsvRows::Contested,
            Rows::Filters => CsvRows::Filters,
            Rows::Phases => CsvRows::Phases,
            Rows::Locks => CsvRows::Locks,
            Rows::FirstTouches => CsvRows::FirstTouches,
        }
    }
}

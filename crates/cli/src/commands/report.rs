//! `olifant report`: a stored profile as text, CSV or JSON.

use crate::arguments::{Format, FormatArguments, TopArguments};
use crate::outcome::Outcome;
use crate::output;
use clap::{Args, ValueEnum};
use olifant_report::{ProfileReport, ReportOptions, Sort};
use olifant_store::symbols::Symbolizer;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  olifant report ocean.olp
  olifant report --top 20 ocean.olp
  olifant report --format csv ocean.olp > areas.csv
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

    #[command(flatten)]
    format: FormatArguments,

    /// Profile that `olifant record` or `olifant tune` wrote
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
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
    let profile = olifant_store::read(&arguments.profile)?;
    let symbolizer = Symbolizer::new(&profile.modules);
    let locate = |address| symbolizer.frames_at(address).into_iter().next();
    let options =
        ReportOptions { top: arguments.top.top, sort: arguments.sort.into(), granules: arguments.granules };
    let report = ProfileReport::new(&profile, options).with_code(&locate);
    output::print(&match arguments.format.format {
        Format::Table => report.table(output::style()),
        Format::Json => report.json(),
        Format::Csv => report.csv(),
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

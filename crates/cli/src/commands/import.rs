//! `olifant import`: what another recorder measured, as a profile.

use crate::arguments::{Format, FormatArguments, MachineArguments};
use crate::outcome::Outcome;
use crate::session::keep;
use crate::{machines, output};
use clap::Args;
use olifant_sampler::{Imported, SourceRow, import};
use olifant_store::symbols::{Symbolizer, resolve};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  perf mem record -o perf.data -- ./server
  olifant import perf.data
  olifant report perf.olp

Samples need the address of the access (perf mem record, or perf record -d). Their
data source, weight and physical address are used where the file has them. Reads
files, not pipes; files made with perf record -z are refused.";

/// Arguments of `import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Machine that the file was recorded on: `host`, a name or a machine file
    ///
    /// It says which cpu is on which node. Example: --on ./server.toml
    #[arg(long, value_name = "MACHINE", default_value = "host", help_heading = "Machine")]
    on: String,

    /// Profile to write, one SQLite file [default: as the file, with the end .olp]
    ///
    /// Example: -o server.olp
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArguments,

    /// The file that perf wrote
    #[arg(value_name = "PERF.DATA")]
    file: PathBuf,
}

/// Reads the file, keeps the profile, and tells where data came from.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let machine = machines::choose(&MachineArguments { on: arguments.on.clone(), config: None })?;
    let path = arguments.output.clone().unwrap_or_else(|| arguments.file.with_extension("olp"));
    output::check_writable(&path)?;
    let imported = import(&arguments.file, &machine, machine.os.page.0)?;
    let Imported { outcome, sources, without_address, has_weights } = imported;
    let mut profile = outcome.profile;
    let symbolizer = Symbolizer::new(&profile.modules);
    resolve(&mut profile, &symbolizer);
    keep(&profile, &path)?;
    output::print(&match arguments.format.format {
        Format::Table => table(&sources, has_weights),
        Format::Json => json(&sources, has_weights)?,
        Format::Csv => csv(&sources, has_weights),
    })?;
    let quality = &outcome.quality;
    output::say(&format!("olifant: {} samples with addresses of user memory", quality.samples));
    for (count, what) in [
        (without_address, "samples without one are left out"),
        (quality.of_others, "samples were of other processes and are left out"),
        (quality.lost, "records were lost when the file was made"),
    ] {
        if count > 0 {
            output::say(&format!("olifant: {count} {what}"));
        }
    }
    output::say(&format!("profile: {}", path.display()));
    Ok(Outcome::Done)
}

fn place(row: &SourceRow) -> String {
    format!("{}{}", if row.is_remote { "remote " } else { "" }, row.level.word())
}

fn table(sources: &[SourceRow], has_weights: bool) -> String {
    if sources.is_empty() {
        return String::new();
    }
    let all: u64 = sources.iter().map(|row| row.samples).sum();
    let mut text = format!(" {:<24} {:>10} {:>7} {:>12}\n", "data from", "samples", "share", "mean weight");
    for row in sources {
        let weight = if has_weights { format!("{:.1}", row.mean_weight) } else { "-".to_owned() };
        let share = 100.0 * row.samples as f64 / all as f64;
        text += &format!(" {:<24} {:>10} {share:>5.1} % {weight:>12}\n", place(row), row.samples);
    }
    text
}

fn json(sources: &[SourceRow], has_weights: bool) -> anyhow::Result<String> {
    let rows: Vec<_> = sources
        .iter()
        .map(|row| {
            serde_json::json!({
                "source": row.level.word(), "remote": row.is_remote, "samples": row.samples,
                "with_physical_address": row.with_physical,
                "mean_weight": has_weights.then_some(row.mean_weight),
            })
        })
        .collect();
    Ok(serde_json::to_string_pretty(&serde_json::json!({ "evidence": "sampled", "sources": rows }))? + "\n")
}

fn csv(sources: &[SourceRow], has_weights: bool) -> String {
    let mut text = "source,remote,samples,with_physical_address,mean_weight\n".to_owned();
    for row in sources {
        let weight = if has_weights { row.mean_weight.to_string() } else { String::new() };
        let (source, physical) = (row.level.word(), row.with_physical);
        text += &format!("{source},{},{},{physical},{weight}\n", row.is_remote, row.samples);
    }
    text
}

//! The common forms of dplace (SGI) and execrset (AIX), in the words of the launcher's own options.
//!
//! dplace: `-c CPUS` places processes and threads on these cpus in order, counted within the cpus allowed; `-s N` leaves
//! out the first N, `-x MASK` those of the mask, `-n NAME` all but processes of that name; `-e` is exact placement, `-q`
//! and `-v` are talk, `-r` replicates text. execrset: `-c CPUS -m NODES -e COMMAND` or `NAME -e COMMAND`; `-P` and `-F`
//! are about partitions of the whole system.
//! Sources: dplace(1) of SGI's Linux application tuning guide; execrset in the AIX 7 commands reference.

use crate::command_line::{CommandLine, OptionForm};
use crate::numactl::{reader, wrong};
use crate::own::Own;
use crate::{ExecError, World};
use olifant_placement::{ResourceSet, ThreadPolicy};
use std::ffi::OsString;

const fn form(short: char, long: &'static str, takes_value: bool) -> OptionForm {
    OptionForm { long, short: Some(short), takes_value, may_be_shortened: false }
}

const DPLACE: [OptionForm; 9] = [
    form('c', "c", true),
    form('s', "s", true),
    form('n', "n", true),
    form('x', "x", true),
    form('e', "e", false),
    form('r', "r", true),
    form('o', "o", true),
    form('q', "q", false),
    form('v', "v", true),
];

const EXECRSET: [OptionForm; 5] = [
    form('c', "c", true),
    form('m', "m", true),
    form('P', "P", false),
    form('F', "F", false),
    form('e', "e", false),
];

/// Reads a command line of dplace: the options in our words, and the command.
/// # Errors  `Usage`, `Unsupported`.
pub fn dplace<'a>(words: &'a [OsString], world: &dyn World) -> Result<(Own, &'a [OsString]), ExecError> {
    let mut own = Own::default();
    let mut line = CommandLine::new(&DPLACE, words);
    while let Some(given) = line.next()? {
        match given.name {
            "c" => {
                let list: ThreadPolicy =
                    given.value.parse().map_err(|error| ExecError::Usage(format!("{error}")))?;
                own.threads = Some(within_allowed(list, world)?);
            }
            "s" => own.skip.extend(0..skip_count(&given.value)?),
            "n" => own.process = Some(given.value),
            "x" => own.skip.extend(skip_mask(&given.value)?),
            "r" => {
                return Err(ExecError::Unsupported {
                    what: "dplace -r".to_owned(),
                    needs: "copies of program text on each node, which olifant does not make".to_owned(),
                });
            }
            // Placement is exact where it is done at all; the others are about what dplace says.
            _ => {}
        }
    }
    // dplace counts processes as it counts threads: all that comes of the command, in order.
    own.has_children = own.threads.is_some();
    Ok((own, line.command()))
}

/// Threads and processes that dplace can leave out by a count, which a slip of the finger should not make millions.
const MOST_SKIPPED: u32 = 1 << 16;

/// `-s N`: the first N are left out.
fn skip_count(text: &str) -> Result<u32, ExecError> {
    let number = text.parse().ok().filter(|&number| number <= MOST_SKIPPED);
    number.ok_or_else(|| {
        ExecError::Usage(format!("dplace -s {text}: a count from 0 to {MOST_SKIPPED} is needed"))
    })
}

/// `-x MASK`: bit N leaves out the one of number N.
fn skip_mask(text: &str) -> Result<Vec<u32>, ExecError> {
    let digits = text.strip_prefix("0x");
    let mask = digits.map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
    let mask =
        mask.map_err(|_| ExecError::Usage(format!("dplace -x {text}: a mask as 6 or 0x6 is needed")))?;
    Ok((0..u64::BITS).filter(|bit| mask >> bit & 1 == 1).collect())
}

/// dplace counts cpus within those that the process may use.
fn within_allowed(list: ThreadPolicy, world: &dyn World) -> Result<ThreadPolicy, ExecError> {
    let ThreadPolicy::List(places) = list else {
        return Err(ExecError::Usage("dplace -c takes a list of cpus".to_owned()));
    };
    let allowed: Vec<_> = world.allowed()?.cpus.iter().collect();
    let cpus = places.iter().map(|place| {
        allowed.get(place.index()).copied().ok_or_else(|| {
            ExecError::Usage(format!("dplace -c: place {place} is beyond the {} cpus allowed", allowed.len()))
        })
    });
    cpus.collect::<Result<_, _>>().map(ThreadPolicy::List)
}

/// Reads a command line of execrset: the set, and the command.
/// # Errors  `Usage`.
pub fn execrset<'a>(
    words: &'a [OsString],
    world: &dyn World,
) -> Result<(Option<ResourceSet>, &'a [OsString]), ExecError> {
    let usage = |problem: &str| ExecError::Usage(format!("execrset: {problem}"));
    let mut set = None;
    let mut rest = words;
    // A name may stand where options do, before -e.
    let mut parts: Vec<(&str, String)> = Vec::new();
    let command = loop {
        let mut line = CommandLine::new(&EXECRSET, rest);
        let mut is_command = false;
        while let Some(given) = line.next()? {
            match given.name {
                "e" => {
                    is_command = true;
                    break;
                }
                "c" | "m" => parts.push((if given.name == "c" { "-c" } else { "-m" }, given.value)),
                _ => {}
            }
        }
        if is_command {
            break line.command();
        }
        let Some((name, after)) = line.command().split_first() else {
            return Err(usage("no -e with a command behind it"));
        };
        if set.is_some() {
            return Err(usage("more than one set is named"));
        }
        set = Some(named(name, world)?);
        rest = after;
    };
    if !parts.is_empty() {
        if set.is_some() {
            return Err(usage("give a name, or -c and -m"));
        }
        let text: Vec<String> = parts.iter().map(|(option, list)| format!("{option} {list}")).collect();
        set = Some(reader(world, world.allowed()?)?.set(&text.join(" ")).map_err(wrong)?);
    }
    match set {
        Some(set) => Ok((Some(set), command)),
        None => Err(usage("no set: give -c CPUS, -m NODES or a name")),
    }
}

fn named(name: &OsString, world: &dyn World) -> Result<ResourceSet, ExecError> {
    let name =
        name.to_str().ok_or_else(|| ExecError::Usage("execrset: the name of a set is text".to_owned()))?;
    let unknown = |problem: String| ExecError::Usage(format!("execrset: {problem} (the command follows -e)"));
    world.lookup().named(name).map_err(unknown)
}

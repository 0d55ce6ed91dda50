//! The processor's name, clock and page size.
//!
//! Sources: /proc/cpuinfo, whose lines differ by architecture, and proc_pid_smaps(5) (KernelPageSize, Linux 2.6.29);
//! cpufreq's cpuinfo_max_freq, in kHz (Documentation/admin-guide/pm/cpufreq.rst). All three may be absent.

use crate::root::{HostError, SmallFiles};
use olifant_machine::{Bytes, Hertz};
use olifant_sys::Root;

/// The processor's name as /proc/cpuinfo gives it.
pub(crate) fn model_name(root: &Root) -> Option<String> {
    let cpuinfo = root.optional_text("proc/cpuinfo")?;
    // x86 and RISC-like kernels call it differently; ARM's have no name at all.
    ["model name", "cpu model", "cpu", "Processor"]
        .iter()
        .find_map(|name| value(&cpuinfo, name).map(str::to_owned))
}

/// The highest clock that the first cpu reaches, else the one that it had when /proc/cpuinfo was read.
pub(crate) fn clock(root: &Root, cpu: &str) -> Result<Option<Hertz>, HostError> {
    if let Some(kilohertz) = root.optional_number(&format!("{cpu}/cpufreq/cpuinfo_max_freq"))? {
        return Ok(Some(Hertz(kilohertz as f64 * 1e3)));
    }
    let Some(cpuinfo) = root.optional_text("proc/cpuinfo") else { return Ok(None) };
    // POWER writes "3800.000000MHz" after "clock".
    let megahertz = value(&cpuinfo, "cpu MHz").or_else(|| value(&cpuinfo, "clock")?.strip_suffix("MHz"));
    let megahertz = megahertz.and_then(|text| text.parse::<f64>().ok()).filter(|&megahertz| megahertz > 0.0);
    Ok(megahertz.map(|megahertz| Hertz((megahertz * 1e6).round())))
}

/// The base page size, from the first mapping of whoever reads.
pub(crate) fn page_size(root: &Root) -> Option<Bytes> {
    let smaps = root.optional_text("proc/self/smaps")?;
    let kilobytes: u64 = value(&smaps, "KernelPageSize")?.strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(Bytes(kilobytes * 1024)).filter(|page| page.0 > 0)
}

/// The value after `name` and a colon, of the first line that has it.
fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim()).find(|value| !value.is_empty())
}

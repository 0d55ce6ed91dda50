//! Data caches from sysfs.
//!
//! Source: Documentation/ABI/testing/sysfs-devices-system-cpu of Linux, `cache/index*`. The first online cpu stands
//! for all. Virtual machines and some firmware tell no caches, or no associativity; what is not told stays unknown.

use crate::root::{HostError, SmallFiles};
use olifant_machine::{Bytes, CacheShape};
use olifant_sys::Root;

/// The data or unified caches of levels 1, 2 and 3 below `directory`.
pub(crate) fn caches(root: &Root, directory: &str) -> Result<[Option<CacheShape>; 3], HostError> {
    let mut found = [None; 3];
    for index in 0.. {
        let cache = format!("{directory}/index{index}");
        if !root.has(&cache) {
            break;
        }
        if root.optional_text(&format!("{cache}/type")).as_deref() == Some("Instruction") {
            continue;
        }
        let level =
            root.optional_number(&format!("{cache}/level"))?.and_then(|level| usize::try_from(level).ok());
        let Some(place) = level.and_then(|level| level.checked_sub(1)).filter(|&place| place < found.len())
        else {
            continue;
        };
        let Some(size) = size(root, &format!("{cache}/size"))? else { continue };
        let told = |name: &str| {
            let number = root.optional_number(&format!("{cache}/{name}"))?;
            Ok::<_, HostError>(number.filter(|&number| number > 0))
        };
        found[place] = Some(CacheShape {
            size,
            ways: told("ways_of_associativity")?.and_then(|ways| u32::try_from(ways).ok()),
            line: told("coherency_line_size")?.map(Bytes),
        });
    }
    Ok(found)
}

/// A size as the kernel writes it, `32K`.
fn size(root: &Root, file: &str) -> Result<Option<Bytes>, HostError> {
    let Some(text) = root.optional_text(file) else { return Ok(None) };
    let (digits, scale) = match text.char_indices().last() {
        Some((at, 'K')) => (&text[..at], 1 << 10),
        Some((at, 'M')) => (&text[..at], 1 << 20),
        _ => (text.as_str(), 1),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(scale));
    let bytes = bytes.ok_or_else(|| root.broken(file, format!("{text:?} is not a size such as 32K")))?;
    Ok((bytes > 0).then_some(Bytes(bytes)))
}

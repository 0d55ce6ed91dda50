//! numactl's options for shared memory: a System V segment or a file in a memory file system is attached, made where it
//! is missing, and its range given a policy that stays with it.
//! Source: numactl(8), "Numactl can set up policy for a SYSV shared memory segment"; the output of 2.0.16.

use crate::ExecError;
use crate::size::{huge_page, number, size};
use core::fmt::Write as _;
use core::ops::Range;
use olifant_machine::{NodeId, NodeSet};
use olifant_sys::{
    Advice, FileMapping, MoveOnBind, NodePolicy, PageState, Pid, PolicyMode, SegmentKey, SharedSegment,
    advise, bind_range, page_size, page_states, policy_at,
};
use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// What holds the attached memory.
enum Memory {
    Segment(SharedSegment),
    File(FileMapping),
}

/// The shared memory that the options are about.
pub struct Segment {
    /// The option that asked for shared memory, before any is attached.
    option: Option<&'static str>,
    length: u64,
    offset: u64,
    mode: u32,
    number: u32,
    is_huge: bool,
    memory: Option<Memory>,
    page: usize,
    policy: Option<NodePolicy>,
    text: String,
    is_wrong: bool,
}

impl Default for Segment {
    fn default() -> Self {
        Segment {
            option: None,
            length: 0,
            offset: 0,
            // numactl's default: for the owner.
            mode: 0o600,
            number: 0,
            is_huge: false,
            memory: None,
            page: page_size(),
            policy: None,
            text: String::new(),
            is_wrong: false,
        }
    }
}

impl Segment {
    /// Carries out one option about shared memory.
    /// # Errors  `Usage`, `Refused`.
    pub fn take(
        &mut self,
        name: &str,
        value: &str,
        has_cpus: bool,
        has_policy: bool,
    ) -> Result<(), ExecError> {
        match name {
            "shm" | "file" if has_cpus => usage("shared memory has no cpus to bind"),
            "shm" | "file" if has_policy => usage(&format!("--{name} comes before the memory policy")),
            "shm" => self.attach_segment(Path::new(value)),
            "file" => self.attach_file(Path::new(value)),
            "length" => {
                self.before("length")?;
                self.length = size(value)?;
                Ok(())
            }
            "offset" => {
                self.before("offset")?;
                self.offset = size(value)?;
                Ok(())
            }
            "shmmode" => {
                self.before("shmmode")?;
                self.mode = u32::from_str_radix(value, 8)
                    .map_err(|_| ExecError::Usage(format!("--shmmode {value}: expected an octal number")))?;
                Ok(())
            }
            "huge" => {
                self.before("huge")?;
                self.is_huge = true;
                Ok(())
            }
            "shmid" => {
                self.number = number(value)
                    .and_then(|number| u32::try_from(number).ok())
                    .ok_or_else(|| ExecError::Usage(format!("--shmid {value}: expected a number")))?;
                Ok(())
            }
            _ => {
                let range = self
                    .range()
                    .ok_or_else(|| ExecError::Usage(format!("--{name} comes after --shm or --file")))?;
                match name {
                    "dump" => self.dump(&range),
                    "dump-nodes" => self.dump_nodes(&range),
                    "touch" => touch(&range),
                    _ => self.verify(&range),
                }
            }
        }
    }

    /// Whether memory is attached.
    pub fn is_attached(&self) -> bool {
        self.memory.is_some()
    }

    /// An option that means something for shared memory only, if one was given.
    pub fn option_used(&self) -> Option<&'static str> {
        self.option
    }

    /// Whether everything verified was as it should be.
    pub fn is_verified(&self) -> bool {
        !self.is_wrong
    }

    /// What was shown.
    pub fn take_text(&mut self) -> Option<String> {
        (!self.text.is_empty()).then(|| std::mem::take(&mut self.text))
    }

    /// Gives the range a policy; `strict` refuses if a page is elsewhere already.
    /// # Errors  `Refused`.
    pub fn place(&mut self, policy: NodePolicy, strict: bool) -> Result<(), ExecError> {
        let Some(range) = self.range() else { return Ok(()) };
        let moving = if strict { MoveOnBind::Check } else { MoveOnBind::Stay };
        bind_range(range, &policy, moving).map_err(refused)?;
        self.policy = Some(policy);
        Ok(())
    }

    fn before(&mut self, option: &'static str) -> Result<(), ExecError> {
        if self.is_attached() {
            return usage(&format!("--{option} comes before --shm or --file"));
        }
        self.option = Some(option);
        Ok(())
    }

    /// The addresses that the options are about.
    fn range(&self) -> Option<Range<usize>> {
        let (whole, skipped) = match self.memory.as_ref()? {
            Memory::Segment(segment) => (segment.range(), usize::try_from(self.offset).ok()?),
            Memory::File(mapping) => (mapping.range(), 0),
        };
        let start = whole.start.checked_add(skipped)?;
        let length = usize::try_from(self.length).ok()?;
        Some(start..start.checked_add(length)?.min(whole.end))
    }

    fn attach_segment(&mut self, path: &Path) -> Result<(), ExecError> {
        let unreadable = |error: std::io::Error| ExecError::Refused(format!("{}: {error}", path.display()));
        if !path.exists() {
            OpenOptions::new().write(true).create(true).mode(self.mode).open(path).map_err(unreadable)?;
        }
        let key = SegmentKey::of_file(path, self.number).map_err(unreadable)?;
        let bytes = usize::try_from(self.length + self.offset).unwrap_or(usize::MAX);
        let create = (self.length > 0).then_some((bytes, self.mode));
        let segment = SharedSegment::attach(key, self.is_huge, create).map_err(|error| match create {
            None if error.errno == olifant_sys::Errno::ENOENT => {
                ExecError::Usage("a new segment needs --length".to_owned())
            }
            _ => refused(error),
        })?;
        if self.length == 0 {
            self.length = (segment.range().len() as u64).saturating_sub(self.offset);
        }
        if self.is_huge {
            self.page = huge_page().unwrap_or(self.page);
        }
        self.memory = Some(Memory::Segment(segment));
        self.check()
    }

    fn attach_file(&mut self, path: &Path) -> Result<(), ExecError> {
        let failed = |error: std::io::Error| ExecError::Refused(format!("{}: {error}", path.display()));
        if self.length == 0 && !path.exists() {
            return usage("a new file needs --length");
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(self.mode);
        let file = options.open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if self.length == 0 {
            self.length = about.len().saturating_sub(self.offset);
        }
        // A page beyond the end of the file would be a bus error.
        if self.length + self.offset > about.len() {
            file.set_len(self.length + self.offset).map_err(failed)?;
        }
        // A memory file system gives the size of its pages for that of its blocks.
        self.page = usize::try_from(about.blksize()).unwrap_or(self.page).max(self.page);
        self.check_size()?;
        let bytes = usize::try_from(self.length).unwrap_or(usize::MAX);
        self.memory = Some(Memory::File(FileMapping::shared(&file, self.offset, bytes).map_err(refused)?));
        self.check()
    }

    fn check_size(&self) -> Result<(), ExecError> {
        let page = self.page as u64;
        if self.length == 0 {
            return usage("the region is empty: give --length, and --offset within the segment");
        }
        if !self.length.is_multiple_of(page) || !self.offset.is_multiple_of(page) {
            return usage(&format!("the region is not made of whole pages of {page} bytes"));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ExecError> {
        self.check_size()?;
        match self.range() {
            Some(range) if range.len() as u64 == self.length => Ok(()),
            _ => usage("the region reaches beyond the end of the segment"),
        }
    }

    /// The start of each page, with its place in the segment.
    fn pages(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (start, offset) = (range.start, self.offset);
        range.clone().step_by(self.page).map(move |page| (page, offset + (page - start) as u64))
    }

    /// Runs of pages with an equal policy, those without one left out.
    fn dump(&mut self, range: &Range<usize>) -> Result<(), ExecError> {
        let mut text = String::new();
        let policies: Vec<(u64, NodePolicy)> = self
            .pages(range)
            .map(|(page, place)| Ok((place, policy_at(page).map_err(refused)?)))
            .collect::<Result<_, ExecError>>()?;
        for run in policies.chunk_by(|a, b| a.1 == b.1) {
            let (start, policy) = &run[0];
            if policy.mode == PolicyMode::Default {
                continue;
            }
            let end = start + (run.len() * self.page) as u64;
            let nodes: String = policy.nodes.iter().map(|node| format!("{node} ")).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{start:016x}-{end:016x}: {} : {nodes}", name(policy.mode));
        }
        self.text += &text;
        Ok(())
    }

    /// Runs of pages on one node. Every page is there afterwards, as with numactl.
    fn dump_nodes(&mut self, range: &Range<usize>) -> Result<(), ExecError> {
        touch(range)?;
        let nodes = self.nodes(range)?;
        for run in nodes.chunk_by(|a, b| a.1 == b.1) {
            let (start, node) = run[0];
            let end = start + (run.len() * self.page) as u64;
            let node = node.map_or_else(|| "-1".to_owned(), |node| node.to_string());
            let _ = writeln!(self.text, "{start:016x}-{end:016x}: {node}");
        }
        Ok(())
    }

    fn nodes(&self, range: &Range<usize>) -> Result<Vec<(u64, Option<NodeId>)>, ExecError> {
        let (addresses, places): (Vec<usize>, Vec<u64>) = self.pages(range).unzip();
        let states = page_states(Pid::CALLING, &addresses).map_err(refused)?;
        Ok(places.into_iter().zip(states.into_iter().map(PageState::node)).collect())
    }

    /// Checks that every page has the policy given and is where it says.
    fn verify(&mut self, range: &Range<usize>) -> Result<(), ExecError> {
        let Some(policy) = self.policy.clone() else { return usage("--verify comes after a memory policy") };
        touch(range)?;
        let mut problems = Vec::new();
        for (page, place) in self.pages(range) {
            let found = policy_at(page).map_err(refused)?;
            if (found.mode, &found.nodes) != (policy.mode, &policy.nodes) {
                problems.push(format!("{place:x}: policy {found}, expected {policy}"));
            }
        }
        let binds = !matches!(policy.mode, PolicyMode::Local | PolicyMode::Default);
        let mut before: Option<NodeId> = None;
        for (place, node) in self.nodes(range)?.into_iter().filter(|_| binds) {
            match node {
                Some(node) if !policy.nodes.contains(node) => {
                    problems.push(format!("{place:x}: on node {node}, expected {}", policy.nodes));
                }
                None => problems.push(format!("{place:x}: on no node")),
                Some(node) if policy.mode == PolicyMode::Interleave => {
                    let expected = before.map_or(node, |before| next(&policy.nodes, before));
                    if node != expected {
                        problems.push(format!("{place:x}: on node {node}, expected {expected} in turn"));
                    }
                    before = Some(node);
                }
                Some(_) => {}
            }
        }
        self.is_wrong |= !problems.is_empty();
        for problem in problems {
            let _ = writeln!(self.text, "verify {problem}");
        }
        Ok(())
    }
}

/// The node after `node` in a set, the first after the last.
fn next(nodes: &NodeSet, node: NodeId) -> NodeId {
    nodes.iter().find(|&other| other > node).or_else(|| nodes.first()).unwrap_or(node)
}

fn touch(range: &Range<usize>) -> Result<(), ExecError> {
    advise(range.clone(), Advice::PopulateWrite).map_err(refused)
}

fn name(mode: PolicyMode) -> &'static str {
    match mode {
        PolicyMode::Default => "default",
        PolicyMode::Preferred => "preferred",
        PolicyMode::Bind => "bind",
        PolicyMode::Interleave => "interleave",
        PolicyMode::Local => "local",
        PolicyMode::PreferredMany => "preferred-many",
        PolicyMode::WeightedInterleave => "weighted interleave",
    }
}

fn refused(error: olifant_sys::SysError) -> ExecError {
    ExecError::Refused(error.to_string())
}

fn usage<T>(problem: &str) -> Result<T, ExecError> {
    Err(ExecError::Usage(problem.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_gets_its_length_and_its_policy_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut segment = Segment::default();
        assert!(segment.take("dump", "", false, false).is_err());
        assert!(segment.take("file", path.to_str().unwrap(), false, false).is_err());
        segment.take("length", "1m", false, false).unwrap();
        segment.take("file", path.to_str().unwrap(), false, false).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 1 << 20);
        assert!(segment.take("offset", "0", false, false).is_err());
        segment.take("dump", "", false, false).unwrap();
        assert_eq!(segment.take_text(), None);
        assert!(segment.take("verify", "", false, false).is_err());
    }

    #[test]
    fn the_turn_of_nodes_wraps() {
        let nodes: NodeSet = [NodeId(1), NodeId(4)].into_iter().collect();
        assert_eq!(next(&nodes, NodeId(1)), NodeId(4));
        assert_eq!(next(&nodes, NodeId(4)), NodeId(1));
    }
}

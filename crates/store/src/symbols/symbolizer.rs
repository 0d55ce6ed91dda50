//! Run-time code addresses to frames, over all the objects that a profile's program had loaded.

use crate::symbols::SymbolError;
use crate::symbols::object_file::{ObjectFile, RawFrame};
use olifant_opium::profile::{Frame, Module, Profile};
use std::cell::OnceCell;
use std::path::Path;

/// Looks up code addresses. Objects are opened when an address first falls into them.
pub struct Symbolizer {
    objects: Vec<Loaded>,
}

/// A module and its file.
struct Loaded {
    module: Module,
    file: OnceCell<(ObjectFile, Option<SymbolError>)>,
}

impl Symbolizer {
    /// Over the loaded objects of a profile.
    pub fn new(modules: &[Module]) -> Self {
        let loaded = |module: &Module| Loaded { module: module.clone(), file: OnceCell::new() };
        Symbolizer { objects: modules.iter().map(loaded).collect() }
    }

    /// The frames at the instruction at `address`, innermost first, inlined ones included; at least one.
    pub fn frames_at(&self, address: u64) -> Vec<Frame> {
        let raw = self.look_up(address, address, ObjectFile::frames_of_instruction);
        raw.into_iter().map(|raw| raw.frame).collect()
    }

    /// The frames of a call path (return addresses, innermost first), beginning with the program's own: frames of the
    /// runtime, the allocator and the C++ library at the inner end are left out, unless there are no others.
    pub fn frames_of_path(&self, path: &[u64]) -> Vec<Frame> {
        let call =
            |&address: &u64| self.look_up(address.saturating_sub(1), address, ObjectFile::frames_of_return);
        let raw: Vec<RawFrame> = path.iter().flat_map(call).collect();
        let first = raw.iter().position(|raw| !raw.is_beneath).unwrap_or_default();
        raw.into_iter().skip(first).map(|raw| raw.frame).collect()
    }

    /// The objects that could not be opened though addresses fall into them, with what was wrong. Their frames are
    /// `object+0x1234`.
    pub fn unreadable(&self) -> Vec<&SymbolError> {
        self.objects.iter().filter_map(|loaded| loaded.file.get()?.1.as_ref()).collect()
    }

    fn look_up(
        &self,
        within: u64,
        address: u64,
        frames: fn(&ObjectFile, u64) -> Vec<RawFrame>,
    ) -> Vec<RawFrame> {
        let holds = |loaded: &&Loaded| (loaded.module.start..loaded.module.end).contains(&within);
        match self.objects.iter().find(holds) {
            Some(loaded) => frames(loaded.file(), address.wrapping_sub(loaded.module.bias)),
            None => {
                let frame = Frame { function: format!("{address:#x}"), file: String::new(), line: 0 };
                vec![RawFrame { frame, is_beneath: false }]
            }
        }
    }
}

impl Loaded {
    fn file(&self) -> &ObjectFile {
        let path = Path::new(&self.module.path);
        let open = || match ObjectFile::open(path) {
            Ok(file) => (file, None),
            Err(error) => (ObjectFile::nameless(path), Some(error)),
        };
        &self.file.get_or_init(open).0
    }
}

/// Fills `frames` of every site of `profile`, and names the areas of resolved sites `function (file:line)`. Sites that
/// have frames keep them.
pub fn resolve(profile: &mut Profile, symbolizer: &Symbolizer) {
    for site in profile.sites.iter_mut().filter(|site| site.frames.is_empty()) {
        site.frames = symbolizer.frames_of_path(&site.path);
    }
    for area in &mut profile.areas {
        let site = area.site.and_then(|site| profile.sites.get(site as usize));
        if let Some(frame) = site.and_then(|site| site.frames.first()) {
            area.name = shown(frame);
        }
    }
}

/// A frame as an area's name.
fn shown(frame: &Frame) -> String {
    match Path::new(&frame.file).file_name() {
        Some(file) => format!("{} ({}:{})", frame.function, file.to_string_lossy(), frame.line),
        None => frame.function.clone(),
    }
}

//! Run-time code addresses to frames, over all the objects that a profile's program had loaded.

use crate::symbols::object_file::{ObjectFile, RawFrame};
use crate::symbols::{SymbolError, Variables};
use olifant_opium::facts::Place;
use olifant_opium::profile::{AreaKind, ContestedLine, Frame, LineField, Module, Profile};
use std::cell::OnceCell;
use std::collections::BTreeSet;
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

/// Fills `frames` of every site of `profile`, its places and its contested lines' fields, and names the areas of resolved sites `function (file:line)`. Sites that
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
    resolve_facts(profile, symbolizer);
}

/// Fills the places of all code addresses that `profile` names, and the fields of contested lines that lie in globals.
fn resolve_facts(profile: &mut Profile, symbolizer: &Symbolizer) {
    let accesses = profile.contested.iter().flat_map(|line| line.by.iter().map(|by| by.code));
    let touches = profile.facts.first_touches.iter().map(|touch| touch.code);
    let codes: BTreeSet<u64> = accesses.chain(touches).filter(|code| *code != 0).collect();
    // The addresses are where the hooks of the accesses return to; the byte before is the access's own.
    let place = |code: u64| Some(Place { code, frame: symbolizer.frames_at(code - 1).into_iter().next()? });
    profile.facts.places = codes.into_iter().filter_map(place).collect();
    let in_global = |line: &ContestedLine| profile.areas[line.area as usize].kind == AreaKind::Global;
    if !profile.contested.iter().any(in_global) {
        return;
    }
    // Globals that are areas are the program's own, and it is loaded where it was linked.
    let program = profile.modules.iter().find(|module| module.bias == 0);
    let variables = program.map(|module| Variables::open(Path::new(&module.path))).unwrap_or_default();
    for line in &mut profile.contested {
        let area = &profile.areas[line.area as usize];
        if area.kind == AreaKind::Global {
            line.fields = fields(line, area.start, &variables);
        }
    }
}

/// The fields of the line's parts that anybody used.
fn fields(line: &ContestedLine, start: u64, variables: &Variables) -> Vec<LineField> {
    let used = line.by.iter().fold(0, |used, by| used | by.read_mask | by.write_mask);
    let part_bytes = i64::from(line.bytes / u64::BITS).max(1);
    let mut fields: Vec<LineField> = Vec::new();
    for part in (0..i64::from(u64::BITS)).filter(|part| used >> part & 1 != 0) {
        let Ok(offset) = u64::try_from(line.offset + part * part_bytes) else { continue };
        let Some(field) = variables.field_at(start, offset) else { continue };
        let in_line = i64::try_from(field.offset).map(|offset| offset - line.offset);
        let (Ok(Ok(offset)), Ok(bytes)) = (in_line.map(i32::try_from), u32::try_from(field.bytes)) else {
            continue;
        };
        let field = LineField { name: field.name, offset, bytes };
        if fields.last() != Some(&field) {
            fields.push(field);
        }
    }
    fields
}

/// A frame as an area's name.
fn shown(frame: &Frame) -> String {
    match Path::new(&frame.file).file_name() {
        Some(file) => format!("{} ({}:{})", frame.function, file.to_string_lossy(), frame.line),
        None => frame.function.clone(),
    }
}

//! What lies where in a process at the moment: allocations, globals, stacks and mappings, each an area once it is used.
//!
//! Records come in the order of time, so only the present is kept; an area that ends keeps its number. What a record does
//! not tell (that memory was unmapped) shows when something else is mapped there.

use crate::modules::{Files, LoadedObject};
use crate::record::Mapped;
use olifant_heaplog::Entry;
use olifant_opium::profile::{Area, AreaKind, Site};
use std::collections::{BTreeMap, HashMap};

/// How far above the stack pointer an access still counts as one to the stack.
const STACK_REACH: u64 = 256 * 1024;
/// Bytes below the stack pointer that code may use. Source: System V ABI, AMD64 supplement, section 3.2.2.
const RED_ZONE: u64 = 128;

/// How far behind a program the heap of brk(2) begins at most. Source: arch_randomize_brk in Linux's
/// arch/x86/kernel/process.c, which moves it by up to 1 GiB.
const HEAP_REACH: u64 = (1 << 30) + (64 << 20);

/// A run of addresses with what is known of it.
#[derive(Debug, Clone)]
struct Span<T> {
    end: u64,
    what: T,
}

/// A mapping.
#[derive(Debug, Clone)]
struct Mapping {
    name: String,
    offset: u64,
    is_code: bool,
    area: Option<u32>,
}

/// An allocation that was told of.
#[derive(Debug, Clone)]
struct Allocation {
    bytes: u64,
    site: u32,
    ordinal: u32,
    thread: u16,
    born_ns: u64,
    area: Option<u32>,
}

/// The address space of one process.
#[derive(Debug, Clone, Default)]
pub struct Space {
    mappings: BTreeMap<u64, Span<Mapping>>,
    allocations: BTreeMap<u64, Span<Allocation>>,
    objects: Vec<LoadedObject>,
    /// Where the program's own object ends: the first that was mapped.
    program_end: Option<u64>,
    /// In the order of their first use.
    pub areas: Vec<Area>,
    /// Call paths of allocations.
    pub sites: Vec<Site>,
    site_numbers: HashMap<Vec<u64>, u32>,
    /// How many allocations a site made of a size.
    ordinals: HashMap<(u32, u64), u32>,
    /// Areas of allocations by place, size and site: memory that comes again is the same area again.
    known: HashMap<(u64, u64, u32), u32>,
    globals: HashMap<u64, u32>,
    stacks: HashMap<u16, u32>,
    /// Whether code was mapped since somebody last asked.
    has_new_code: bool,
}

impl Space {
    /// The same memory in a process that was forked, where nothing was used yet.
    pub fn forked(&self) -> Space {
        let mut forked = Space {
            mappings: self.mappings.clone(),
            allocations: self.allocations.clone(),
            objects: self.objects.clone(),
            program_end: self.program_end,
            sites: self.sites.clone(),
            site_numbers: self.site_numbers.clone(),
            ..Space::default()
        };
        forked.mappings.values_mut().for_each(|span| span.what.area = None);
        forked.allocations.values_mut().for_each(|span| span.what.area = None);
        forked
    }

    /// Memory was mapped.
    pub fn map(&mut self, mapped: &Mapped, files: &mut Files) {
        let end = mapped.start.saturating_add(mapped.bytes);
        let name = if mapped.name.starts_with("//") { "" } else { mapped.name.as_str() };
        // The kernel tells of a mapping that grew, or that it joined with its neighbours, as a whole.
        let area = self.mappings.range(mapped.start..end).find_map(|(_, span)| {
            (span.what.name == name && !mapped.is_code).then_some(span.what.area).flatten()
        });
        if let Some(area) = area.and_then(|area| self.areas.get_mut(area as usize)) {
            area.start = area.start.min(mapped.start);
            area.bytes = end - area.start;
        }
        clear(&mut self.mappings, mapped.start, end, |whole, cut| {
            Some(Mapping { offset: whole.offset.wrapping_add(cut), area: None, ..whole.clone() })
        });
        let what = Mapping { name: name.to_owned(), offset: mapped.offset, is_code: mapped.is_code, area };
        self.mappings.insert(mapped.start, Span { end, what });
        self.has_new_code |= mapped.is_code;
        // The first mapping of an object holds its head; later ones begin at rounded places that tell less.
        let is_part = |known: &LoadedObject| {
            known.module.path == name && (known.module.start..known.module.end).contains(&mapped.start)
        };
        if self.objects.iter().any(is_part) {
            return;
        }
        let Some(file) = files.object(name) else { return };
        let Some(object) = LoadedObject::of_mapping(&file, name, mapped.start, mapped.offset) else { return };
        let place = object.module.start..object.module.end;
        self.program_end.get_or_insert(place.end);
        self.objects.retain(|known| known.module.end <= place.start || place.end <= known.module.start);
        self.objects.push(object);
    }

    /// The program told of an allocation.
    pub fn allocate(&mut self, entry: &Entry, thread: u16) {
        let end = entry.address.saturating_add(entry.bytes);
        clear(&mut self.allocations, entry.address, end, |_, _| None);
        let next = u32::try_from(self.sites.len()).unwrap_or(u32::MAX);
        let site = *self.site_numbers.entry(entry.path().to_vec()).or_insert(next);
        if site == next {
            self.sites.push(Site { path: entry.path().to_vec(), frames: Vec::new() });
        }
        let area = self.known.get(&(entry.address, entry.bytes, site)).copied();
        let ordinal = match area {
            Some(area) => {
                self.areas[area as usize].freed = None;
                self.areas[area as usize].ordinal
            }
            None => {
                let count = self.ordinals.entry((site, entry.bytes)).or_insert(0);
                *count += 1;
                *count - 1
            }
        };
        let what = Allocation { bytes: entry.bytes, site, ordinal, thread, born_ns: entry.time_ns, area };
        self.allocations.insert(entry.address, Span { end, what });
    }

    /// The program told of the end of an allocation.
    pub fn free(&mut self, address: u64, time_ns: u64) {
        if let Some(area) = self.allocations.remove(&address).and_then(|span| span.what.area) {
            self.areas[area as usize].freed = Some(time_ns);
        }
    }

    /// The area of an address that a thread with this stack pointer uses; it begins to exist now if it was not used yet.
    pub fn area_at(&mut self, address: u64, thread: u16, stack_pointer: u64, time_ns: u64) -> u32 {
        if let Some(id) = self.allocation_at(address) {
            return id;
        }
        let new = u32::try_from(self.areas.len()).unwrap_or(u32::MAX);
        let is_near_stack = address.saturating_add(RED_ZONE) >= stack_pointer
            && address.saturating_sub(stack_pointer) < STACK_REACH;
        if stack_pointer != 0 && is_near_stack {
            return self.stack(address, thread, time_ns);
        }
        if let Some(object) =
            self.objects.iter().find(|object| (object.module.start..object.module.end).contains(&address))
        {
            // What has no symbol counts for the object as a whole.
            let (name, start, bytes, kind) = match object.symbol_at(address) {
                Some(symbol) => {
                    let start = symbol.address.wrapping_add(object.module.bias);
                    (symbol.name.clone(), start, symbol.bytes, AreaKind::Global)
                }
                None => {
                    let module = &object.module;
                    (base_name(&module.path), module.start, module.end - module.start, AreaKind::Other)
                }
            };
            let id = *self.globals.entry(start).or_insert(new);
            if id == new {
                self.areas.push(area(kind, name, start, bytes, thread, 0));
            }
            return id;
        }
        self.mapping_at(address, thread, time_ns)
    }

    fn allocation_at(&mut self, address: u64) -> Option<u32> {
        let (&start, span) = self.allocations.range_mut(..=address).next_back()?;
        if address >= span.end {
            return None;
        }
        let allocation = &mut span.what;
        if let Some(id) = allocation.area {
            return Some(id);
        }
        let id = u32::try_from(self.areas.len()).unwrap_or(u32::MAX);
        allocation.area = Some(id);
        self.known.insert((start, allocation.bytes, allocation.site), id);
        self.areas.push(Area {
            kind: AreaKind::Heap,
            name: String::new(),
            start,
            bytes: allocation.bytes,
            site: Some(allocation.site),
            ordinal: allocation.ordinal,
            thread: allocation.thread,
            born: allocation.born_ns,
            freed: None,
        });
        Some(id)
    }

    fn stack(&mut self, address: u64, thread: u16, time_ns: u64) -> u32 {
        let new = u32::try_from(self.areas.len()).unwrap_or(u32::MAX);
        let id = *self.stacks.entry(thread).or_insert(new);
        if id == new {
            let name = format!("stack of thread {thread}");
            self.areas.push(area(AreaKind::Stack, name, address, 1, thread, time_ns));
        }
        // It is as large as what was seen of it.
        let stack = &mut self.areas[id as usize];
        let end = (stack.start + stack.bytes).max(address + 1);
        stack.start = stack.start.min(address);
        stack.bytes = end - stack.start;
        id
    }

    fn mapping_at(&mut self, address: u64, thread: u16, time_ns: u64) -> u32 {
        let new = u32::try_from(self.areas.len()).unwrap_or(u32::MAX);
        let found = self.mappings.range_mut(..=address).next_back();
        let Some((&start, span)) = found.filter(|(_, span)| address < span.end) else {
            // Mapped in a way that no record told: a page for itself.
            const PAGE: u64 = 4096;
            let start = address / PAGE * PAGE;
            self.areas.push(area(AreaKind::Other, "unknown memory".to_owned(), start, PAGE, thread, time_ns));
            let what = Mapping { name: String::new(), offset: 0, is_code: false, area: Some(new) };
            self.mappings.insert(start, Span { end: start + PAGE, what });
            return new;
        };
        if let Some(id) = span.what.area {
            return id;
        }
        span.what.area = Some(new);
        let is_heap = |program_end: u64| (program_end..program_end + HEAP_REACH).contains(&start);
        let (kind, name) = match span.what.name.as_str() {
            "" if self.program_end.is_some_and(is_heap) => (AreaKind::Small, "small allocations".to_owned()),
            "" => (AreaKind::Mapping, "anonymous memory".to_owned()),
            "[heap]" => (AreaKind::Small, "small allocations".to_owned()),
            "[stack]" => (AreaKind::Stack, "stack of thread 0".to_owned()),
            path if span.what.is_code => (AreaKind::Other, base_name(path)),
            path => (AreaKind::Mapping, base_name(path)),
        };
        self.areas.push(area(kind, name, start, span.end - start, thread, time_ns));
        new
    }

    /// Copies code bytes from the mapped file; nothing if the address is not in one.
    pub fn read_code(&self, address: u64, into: &mut [u8], files: &mut Files) -> Option<usize> {
        let (start, span) = self.mappings.range(..=address).next_back()?;
        if address >= span.end {
            return None;
        }
        let file = files.object(&span.what.name)?;
        Some(file.read(address - start + span.what.offset, into))
    }

    /// Whether code was mapped since the last question.
    pub fn took_new_code(&mut self) -> bool {
        std::mem::take(&mut self.has_new_code)
    }

    /// The loaded objects, ascending by address.
    pub fn modules(&self) -> Vec<olifant_opium::profile::Module> {
        let mut modules: Vec<_> = self.objects.iter().map(|object| object.module.clone()).collect();
        modules.sort_by_key(|module| module.start);
        modules
    }
}

/// Makes room: what lies in `start..end` goes, what reaches over it is cut. `tail` makes what is left behind the room from
/// the whole and the number of bytes cut off, if it lives on.
fn clear<T: Clone>(
    spans: &mut BTreeMap<u64, Span<T>>,
    start: u64,
    end: u64,
    tail: impl Fn(&T, u64) -> Option<T>,
) {
    let mut left = None;
    if let Some((&before, span)) = spans.range_mut(..start).next_back() {
        if span.end > end {
            left = tail(&span.what, end - before).map(|what| Span { end: span.end, what });
        }
        span.end = span.end.min(start);
    }
    let inside: Vec<u64> = spans.range(start..end).map(|(start, _)| *start).collect();
    for key in inside {
        let span = spans.remove(&key).filter(|span| span.end > end);
        left = left
            .or(span.and_then(|span| tail(&span.what, end - key).map(|what| Span { end: span.end, what })));
    }
    if let Some(span) = left {
        spans.insert(end, span);
    }
}

fn area(kind: AreaKind, name: String, start: u64, bytes: u64, thread: u16, born: u64) -> Area {
    Area { kind, name, start, bytes, site: None, ordinal: 0, thread, born, freed: None }
}

fn base_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

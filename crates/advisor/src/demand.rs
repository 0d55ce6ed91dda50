//! Who wants which page: the profile's counters gathered by piece (a run of pages of one area that the counters tell
//! apart) and cell (what must share one home).
//!
//! A piece is one page, or one granule where granules are larger. A cell is one piece, except where areas alive at
//! the same time share a page at their edges: those pieces form one cell. Where a page lived in the profile does not
//! matter here: fetches, upgrades and write-backs happen wherever the page lives, and only become local or remote.

use olifant_opium::profile::{Accesses, Area, Granule, Profile};

/// Network packets of a remote fetch: one request, one response.
pub(crate) const FETCH_PACKETS: u64 = 2;
/// Network packets of a remote upgrade: a request and its acknowledgement; each further sharer costs more.
pub(crate) const UPGRADE_PACKETS: u64 = 2;
/// Network packets of a remote write-back.
pub(crate) const WRITE_BACK_PACKETS: u64 = 1;

/// Transactions of one thread on one piece.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The thread.
    pub thread: usize,
    /// Lines fetched to read.
    pub reads: u64,
    /// Lines fetched to write.
    pub writes: u64,
    /// Permissions to write a line already held.
    pub upgrades: u64,
    /// Dirty lines written back.
    pub write_backs: u64,
}

impl Entry {
    /// Lines fetched.
    pub fn fetches(&self) -> u64 {
        self.reads + self.writes
    }

    /// All transactions.
    pub fn transactions(&self) -> u64 {
        self.fetches() + self.upgrades + self.write_backs
    }

    /// Network packets if all of them were remote.
    pub fn packets(&self) -> u64 {
        FETCH_PACKETS * self.fetches()
            + UPGRADE_PACKETS * self.upgrades
            + WRITE_BACK_PACKETS * self.write_backs
    }

    fn add(&mut self, other: &Entry) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.upgrades += other.upgrades;
        self.write_backs += other.write_backs;
    }
}

impl From<&Accesses> for Entry {
    fn from(by: &Accesses) -> Entry {
        Entry {
            thread: usize::from(by.thread),
            reads: by.reads,
            writes: by.writes,
            upgrades: by.upgrades,
            write_backs: by.write_backs,
        }
    }
}

/// A run of pages of one area.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// Index of the area.
    pub area: usize,
    /// First page, counted from the page that holds the area's first byte.
    pub first_page: u64,
    /// Pages; 1 unless granules are larger than pages.
    pub pages: u64,
    /// The cell it belongs to.
    pub cell: usize,
    /// Where the profile saw it (a node id).
    pub home: u16,
    entries: (usize, usize),
}

/// Pieces by area and page, and cells in the order of their first pieces.
pub(crate) struct Demand {
    /// All pieces, ascending by (area, page).
    pub pieces: Vec<Piece>,
    entries: Vec<Entry>,
    all_packets: u64,
    /// Threads of the profile; counters of others are dropped.
    threads: usize,
    /// Pieces of area i: `area_starts[i]..area_starts[i + 1]`.
    area_starts: Vec<usize>,
    cell_starts: Vec<usize>,
    cell_pieces: Vec<usize>,
}

impl Demand {
    /// Gathers the counters of a profile.
    pub fn new(profile: &Profile, page_bytes: u64) -> Demand {
        let mut demand = Demand {
            pieces: Vec::new(),
            entries: Vec::new(),
            all_packets: 0,
            threads: profile.threads.len(),
            area_starts: vec![0; profile.areas.len() + 1],
            cell_starts: vec![0],
            cell_pieces: Vec::new(),
        };
        let unit_bytes = profile.granule_bytes.max(page_bytes);
        let unit = |granule: &Granule| granule_unit(profile, granule, unit_bytes);
        let same_piece = |a: &Granule, b: &Granule| a.area == b.area && unit(a) == unit(b);
        let mut units = Vec::new();
        for granules in profile.granules.chunk_by(same_piece) {
            let Some(area) = profile.areas.get(granules[0].area as usize) else { continue };
            demand.add_piece(granules, area, unit(&granules[0]), unit_bytes, page_bytes);
            units.push(unit(&granules[0]));
        }
        for piece in &demand.pieces {
            demand.area_starts[piece.area + 1] += 1;
        }
        for area in 0..profile.areas.len() {
            demand.area_starts[area + 1] += demand.area_starts[area];
        }
        demand.all_packets = demand.entries.iter().map(Entry::packets).sum();
        demand.join_shared_pages(&profile.areas, &units);
        demand
    }

    /// The pieces of an area, as indices.
    pub fn of_area(&self, area: usize) -> core::ops::Range<usize> {
        self.area_starts[area]..self.area_starts[area + 1]
    }

    /// The threads' transactions on a piece, ascending by thread.
    pub fn entries(&self, piece: usize) -> &[Entry] {
        let (from, to) = self.pieces[piece].entries;
        &self.entries[from..to]
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.cell_starts.len() - 1
    }

    /// The pieces of a cell.
    pub fn of_cell(&self, cell: usize) -> &[usize] {
        &self.cell_pieces[self.cell_starts[cell]..self.cell_starts[cell + 1]]
    }

    /// The transactions on a cell; a thread may occur once per piece.
    pub fn cell_entries(&self, cell: usize) -> impl Iterator<Item = &Entry> {
        self.of_cell(cell).iter().flat_map(|&piece| self.entries(piece))
    }

    /// Packets of all transactions if all were remote.
    pub fn all_packets(&self) -> u64 {
        self.all_packets
    }

    /// Whether the second cell begins with the page after the first cell's last, in one area.
    pub fn are_neighbours(&self, first: usize, second: usize) -> bool {
        let (Some(&left), Some(&right)) = (self.of_cell(first).last(), self.of_cell(second).first()) else {
            return false;
        };
        let (left, right) = (&self.pieces[left], &self.pieces[right]);
        left.area == right.area && left.first_page + left.pages == right.first_page
    }

    fn add_piece(&mut self, granules: &[Granule], area: &Area, unit: u64, unit_bytes: u64, page_bytes: u64) {
        let start = self.entries.len();
        let by = granules.iter().flat_map(|granule| &granule.by).map(Entry::from);
        self.entries.extend(by.filter(|entry| entry.thread < self.threads));
        combine_from(&mut self.entries, start);
        let pages_per_unit = unit_bytes / page_bytes;
        let area_first = area.start / page_bytes;
        let area_last = (area.start + area.bytes.max(1) - 1) / page_bytes;
        let first = (unit * pages_per_unit).max(area_first);
        let last = (unit * pages_per_unit + pages_per_unit - 1).min(area_last).max(first);
        self.pieces.push(Piece {
            area: granules[0].area as usize,
            first_page: first - area_first,
            pages: last - first + 1,
            cell: 0,
            home: granules[0].home,
            entries: (start, self.entries.len()),
        });
    }

    /// Forms the cells: pieces of one unit whose areas live at the same time belong together.
    fn join_shared_pages(&mut self, areas: &[Area], units: &[u64]) {
        let born = |piece: usize| areas[self.pieces[piece].area].born;
        let freed = |piece: usize| areas[self.pieces[piece].area].freed.unwrap_or(u64::MAX);
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_unstable_by_key(|&piece| (units[piece], born(piece), piece));
        // The first piece of each piece's cell.
        let mut leader: Vec<usize> = (0..units.len()).collect();
        let mut alive_until = 0;
        for pair in order.windows(2) {
            let (previous, piece) = (pair[0], pair[1]);
            let previous_starts_cell = leader[previous] == previous;
            alive_until =
                if previous_starts_cell { freed(previous) } else { freed(previous).max(alive_until) };
            if units[piece] == units[previous] && born(piece) < alive_until {
                leader[piece] = leader[previous];
            }
        }
        let mut members: Vec<(usize, usize)> = leader.into_iter().zip(0..).collect();
        members.sort_unstable();
        for cell in members.chunk_by(|a, b| a.0 == b.0) {
            for &(_, piece) in cell {
                self.pieces[piece].cell = self.cell_starts.len() - 1;
                self.cell_pieces.push(piece);
            }
            self.cell_starts.push(self.cell_pieces.len());
        }
    }
}

/// The number of the unit (page, or granule where that is larger) that holds a granule, counted from address 0.
fn granule_unit(profile: &Profile, granule: &Granule, unit_bytes: u64) -> u64 {
    let start = profile.areas.get(granule.area as usize).map_or(0, |area| area.start);
    let granule_bytes = profile.granule_bytes.max(1);
    (start / granule_bytes + granule.index) * granule_bytes / unit_bytes
}

/// Sorts the tail by thread and adds up what belongs to one thread.
fn combine_from(entries: &mut Vec<Entry>, start: usize) {
    entries[start..].sort_by_key(|entry| entry.thread);
    let mut kept = start;
    for next in start + 1..entries.len() {
        let entry = entries[next];
        if entries[kept].thread == entry.thread {
            entries[kept].add(&entry);
        } else {
            kept += 1;
            entries[kept] = entry;
        }
    }
    entries.truncate((kept + 1).min(entries.len()));
}

//! The forecast: a plan applied to the profile's counters, as the next run would apply it to the program.
//!
//! It goes through the same matching as a runtime does, so what a plan names by mistake or leaves out shows in the
//! figures. An area without an entry is taken to live where it lived in the profile.

use crate::affinity::Affinity;
use crate::capacity::{Holding, Peaks};
use crate::case::local_node;
use crate::demand::{Demand, Entry, Piece};
use crate::groups::path_of;
use crate::layout::Layout;
use crate::load::{Costs, Load, compute_seconds};
use crate::teams::Teams;
use olifant_machine::{Machine, NodeId};
use olifant_opium::profile::{Area, AreaKind, Profile};
use olifant_placement::{
    AreaMatch, AreaPlan, Decision, FOR_SMALL, FOR_STACKS, MemoryPolicy, Plan, striped_node,
};

/// What is needed to forecast.
pub(crate) struct Forecaster<'a> {
    profile: &'a Profile,
    layout: &'a Layout,
    demand: &'a Demand,
    teams: &'a Teams,
    affinity: &'a Affinity,
    costs: Costs,
    compute: Vec<f64>,
    /// Packets of the profile that no home explains: they go between holders of copies.
    copy_packets: f64,
    /// Share of a miss's latency that processors wait for, fitted to the profile.
    visible: f64,
    /// The run as it was.
    pub before: Outcome,
    /// Remote accesses per area, as it was.
    pub remote_of_area: Vec<f64>,
}

/// What a placement leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    /// Accesses whose page lives on another node.
    pub remote: f64,
    /// Network packets that they cause at least.
    pub packets: f64,
    /// All accesses.
    pub transactions: f64,
    /// Time by the model.
    pub seconds: f64,
}

impl<'a> Forecaster<'a> {
    /// Fits the model to the profile.
    pub fn new(
        profile: &'a Profile,
        machine: &Machine,
        layout: &'a Layout,
        demand: &'a Demand,
        teams: &'a Teams,
        affinity: &'a Affinity,
    ) -> Forecaster<'a> {
        let cpus: Vec<u16> = teams.given.cpu.iter().map(|cpu| cpu.0).collect();
        let costs = Costs::new(machine);
        let compute = compute_seconds(machine, &profile.cpus, &cpus);
        let mut load = Load::new(teams.len(), layout);
        let mut remote_of_area = vec![0.0; profile.areas.len()];
        for granule in &profile.granules {
            let Some(home) = layout.node_of_id(NodeId(granule.home)) else { continue };
            for by in &granule.by {
                let team = teams.of_thread.get(usize::from(by.thread)).copied();
                let from = layout.node_of_id(NodeId(by.node));
                if let (Some(team), Some(from)) = (team, from) {
                    let entry = Entry::from(by);
                    let remote = load.add(team, (from, home), &entry, 1.0, &costs, layout);
                    if let Some(sum) = remote_of_area.get_mut(granule.area as usize) {
                        *sum += remote;
                    }
                }
            }
        }
        let counted = (profile.totals.request_packets + profile.totals.response_packets) as f64;
        let copy_packets = (counted - load.packets).max(0.0);
        load.add_fixed(&compute, copy_packets, &costs, layout);
        let visible = load.work.fit_visible(profile.totals.seconds);
        let mut before = Outcome::of(&load, visible);
        // Where the model is too slow although fitted, the profile knows better. Where it is too fast, something that it
        // doesn't know (waiting for other threads) took the rest, and is taken to shrink along.
        if profile.totals.seconds > 0.0 {
            before.seconds = before.seconds.min(profile.totals.seconds);
        }
        Forecaster {
            profile,
            layout,
            demand,
            teams,
            affinity,
            costs,
            compute,
            copy_packets,
            visible,
            before,
            remote_of_area,
        }
    }

    /// The entry for each area, by the plan's own rule of matching.
    pub fn entries_of_areas(&self, plan: &Plan) -> Vec<Option<usize>> {
        let place = |entry: &AreaPlan| plan.areas.iter().position(|other| core::ptr::eq(other, entry));
        let movers: Vec<(&AreaPlan, Option<usize>)> =
            plan.movers().map(|entry| (entry, place(entry))).collect();
        let first = |is_match: &dyn Fn(&AreaMatch) -> bool| {
            movers.iter().find(|(entry, _)| is_match(&entry.area)).and_then(|&(_, place)| place)
        };
        let by_symbol =
            |symbol: &str| first(&|name| matches!(name, AreaMatch::Symbol(other) if other == symbol));
        let entry_of = |(number, area): (usize, &Area)| {
            if self.demand.of_area(number).is_empty() {
                return None;
            }
            match (area.kind, area.site.and_then(|site| self.profile.sites.get(site as usize))) {
                (AreaKind::Heap | AreaKind::Mapping, Some(site)) => {
                    first(&|name| name.is_allocation(path_of(site), area.bytes, area.ordinal))
                }
                (AreaKind::Global, _) => by_symbol(&area.name),
                (AreaKind::Stack, _) => by_symbol(FOR_STACKS),
                (AreaKind::Small, site) => site
                    .and_then(|site| {
                        first(&|name| name.is_allocation(path_of(site), area.bytes, area.ordinal))
                    })
                    .or_else(|| by_symbol(FOR_SMALL)),
                _ => None,
            }
        };
        self.profile.areas.iter().enumerate().map(entry_of).collect()
    }

    /// Where a placement leads, and the remote accesses per area.
    pub fn forecast(
        &self,
        node_of_team: &[usize],
        areas: &[AreaPlan],
        entry_of_area: &[Option<usize>],
    ) -> (Outcome, Vec<f64>) {
        let thread_nodes = self.teams.thread_nodes(node_of_team);
        let mut load = Load::new(self.teams.len(), self.layout);
        let shared_before = self.affinity.across_nodes(&self.teams.given.node).max(1) as f64;
        let shared = self.affinity.across_nodes(node_of_team) as f64 / shared_before;
        load.add_fixed(&self.compute, self.copy_packets * shared, &self.costs, self.layout);
        let mut remote_of_area = vec![0.0; self.profile.areas.len()];
        for (number, remote) in remote_of_area.iter_mut().enumerate() {
            let decision = entry_of_area[number].map(|entry| &areas[entry].decision);
            let homes = self.page_homes(decision, number, &thread_nodes);
            for index in self.demand.of_area(number) {
                let piece = self.demand.pieces[index];
                let share = 1.0 / piece.pages as f64;
                for page in piece.first_page..piece.first_page + piece.pages {
                    let home = self.home(&homes, &piece, page);
                    for entry in self.demand.entries(index) {
                        let team = self.teams.of_thread[entry.thread];
                        let ends = (node_of_team[team], home);
                        *remote += load.add(team, ends, entry, share, &self.costs, self.layout);
                    }
                }
            }
        }
        (Outcome::of(&load, self.visible), remote_of_area)
    }

    /// Whether a placement leaves every node within its memory.
    pub fn fits(&self, node_of_team: &[usize], areas: &[AreaPlan], entry_of_area: &[Option<usize>]) -> bool {
        let thread_nodes = self.teams.thread_nodes(node_of_team);
        let mut holdings = Vec::new();
        for (number, area) in self.profile.areas.iter().enumerate() {
            let decision = entry_of_area[number].map(|entry| &areas[entry].decision);
            let homes = self.page_homes(decision, number, &thread_nodes);
            for index in self.demand.of_area(number) {
                let piece = self.demand.pieces[index];
                // A page that areas share counts with the first of them.
                if self.demand.of_cell(piece.cell).first() == Some(&index) {
                    let pages = piece.first_page..piece.first_page + piece.pages;
                    let one_page = |page| Holding::new(area, 1, self.home(&homes, &piece, page));
                    holdings.extend(pages.map(one_page));
                }
            }
        }
        Peaks::new(&holdings, self.layout).overflow.is_none()
    }

    fn page_homes(&self, decision: Option<&Decision>, area: usize, thread_nodes: &[usize]) -> PageHomes {
        let first_page = self.profile.areas[area].start / self.layout.page_bytes;
        let local = || local_node(self.profile, self.demand, thread_nodes, area);
        PageHomes::new(decision, self.layout, first_page, local)
    }

    fn home(&self, homes: &PageHomes, piece: &Piece, page: u64) -> usize {
        let given = || self.layout.node_of_id(NodeId(piece.home)).unwrap_or(0);
        homes.of(page, self.layout).unwrap_or_else(given)
    }
}

impl Outcome {
    fn of(load: &Load, visible: f64) -> Outcome {
        Outcome {
            remote: load.remote,
            packets: load.packets,
            transactions: load.transactions,
            seconds: load.work.seconds(visible),
        }
    }
}

/// A decision as a function from pages to nodes.
enum PageHomes {
    /// Where the profile saw them.
    Given,
    Fixed(usize),
    /// Pages per stripe, the nodes, and the virtual page that is the area's first.
    Striped(u32, Vec<NodeId>, u64),
    /// Each run's end page and node, ascending.
    Runs(Vec<(u64, usize)>),
}

impl PageHomes {
    fn new(
        decision: Option<&Decision>,
        layout: &Layout,
        first_page: u64,
        local: impl Fn() -> usize,
    ) -> PageHomes {
        let striped = |pages: u32| {
            let nodes: Vec<NodeId> = layout.memory_nodes().into_iter().map(|node| layout.ids[node]).collect();
            if nodes.is_empty() {
                PageHomes::Given
            } else {
                PageHomes::Striped(pages.max(1), nodes, first_page)
            }
        };
        match decision {
            Some(Decision::Policy(MemoryPolicy::Node(id))) => {
                layout.node_of_id(*id).map_or(PageHomes::Given, PageHomes::Fixed)
            }
            Some(Decision::Policy(MemoryPolicy::Local)) => PageHomes::Fixed(local()),
            Some(Decision::Policy(MemoryPolicy::Striped { pages })) => striped(*pages),
            Some(Decision::Replicate) => striped(1),
            Some(Decision::Blocks(runs)) => {
                let mut end = 0;
                let ends = runs.iter().map(|run| {
                    end += run.pages;
                    (end, layout.node_of_id(run.node).unwrap_or(0))
                });
                PageHomes::Runs(ends.collect())
            }
            // First touch, remote and any depend on what the counters don't tell; the advisor never decides so, nor for parts.
            Some(Decision::Policy(_) | Decision::Parts(_) | Decision::Pad) | None => PageHomes::Given,
        }
    }

    fn of(&self, page: u64, layout: &Layout) -> Option<usize> {
        match self {
            PageHomes::Given => None,
            PageHomes::Fixed(node) => Some(*node),
            PageHomes::Striped(pages, nodes, first) => {
                layout.node_of_id(striped_node(first + page, *pages, nodes))
            }
            PageHomes::Runs(runs) => {
                let run = runs.partition_point(|&(end, _)| end <= page);
                runs.get(run).or(runs.last()).map(|&(_, node)| node)
            }
        }
    }
}

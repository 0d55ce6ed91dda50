//! The planner: orders of threads and homes tried, put into a plan's words, and judged by the forecast.

use crate::advise::{plan_for, whole};
use crate::affinity::Affinity;
use crate::capacity;
use crate::case::Case;
use crate::decide::{STRIPED, decide, part};
use crate::demand::Demand;
use crate::forecast::{Forecaster, Outcome};
use crate::groups::{Group, group};
use crate::layout::Layout;
use crate::options::{
    BALANCE_TRIALS, EVEN_WITHIN, LEAST_BALANCE_GAIN, LEAST_ORDER_GAIN, NEGLIGIBLE_AREA, NEGLIGIBLE_TOGETHER,
    Options,
};
use crate::order::{Order, Search};
use crate::reason;
use crate::teams::Teams;
use olifant_opium::profile::Profile;
use olifant_placement::{AreaPlan, Decision, Plan};

/// An area is tried for balance if striping it costs at most this share of its traffic.
const MOST_BALANCE_LOSS: f64 = 0.25;

/// Makes plans from one profile.
pub(crate) struct Planner<'a> {
    /// What the run showed.
    pub profile: &'a Profile,
    /// The machine.
    pub layout: &'a Layout,
    /// Who wants what.
    pub demand: &'a Demand,
    /// Who moves together.
    pub teams: &'a Teams,
    /// Who shares.
    pub affinity: &'a Affinity,
    /// What a plan leads to.
    pub forecaster: &'a Forecaster<'a>,
    /// What may be done.
    pub options: &'a Options,
}

impl Planner<'_> {
    /// The best plan found, and what it leads to.
    pub fn best(&self) -> (Plan, Outcome) {
        let tolerance = if self.options.may_balance { EVEN_WITHIN } else { 0.0 };
        let search = Search {
            demand: self.demand,
            layout: self.layout,
            teams: self.teams,
            affinity: self.affinity,
            tolerance,
        };
        let given = search.given();
        if !self.options.may_move_threads {
            return self.plan(given);
        }
        let mut best = self.plan(search.improve(given));
        for seats in search.other_seatings() {
            let other = self.plan(search.grown(&seats));
            if other.1.seconds < best.1.seconds * (1.0 - LEAST_ORDER_GAIN) {
                best = other;
            }
        }
        best
    }

    /// The plan for an order of threads.
    fn plan(&self, order: Order) -> (Plan, Outcome) {
        let Order { node_of_team, mut homes } = order;
        let thread_nodes = self.teams.thread_nodes(&node_of_team);
        let is_tight =
            capacity::fit(&mut homes, self.demand, &self.profile.areas, self.layout, &thread_nodes);
        let (profile, layout, demand) = (self.profile, self.layout, self.demand);
        let case = Case { profile, layout, demand, thread_nodes, homes, is_tight };
        // Short forms may fill a node that the chosen homes did not; then each page's home is said instead.
        let words = self.put_into_words(&case, &node_of_team);
        if is_tight || self.forecaster.fits(&node_of_team, &words.plan.areas, &words.entry_of_area) {
            return (words.plan, words.outcome);
        }
        let words = self.put_into_words(&Case { is_tight: true, ..case }, &node_of_team);
        (words.plan, words.outcome)
    }

    /// The homes as a plan.
    fn put_into_words(&self, case: &Case, node_of_team: &[usize]) -> Words {
        let groups = group(self.profile, |area| !self.demand.of_area(area).is_empty());
        let left = self.forecaster.forecast(node_of_team, &[], &vec![None; self.profile.areas.len()]).1;
        let mut plan = self.empty_plan(node_of_team);
        for group in self.worth_placing(&groups, &left, case) {
            plan.areas.extend(decide(case, group));
        }
        let entry_of_area = self.forecaster.entries_of_areas(&plan);
        let mut forecast = self.forecaster.forecast(node_of_team, &plan.areas, &entry_of_area);
        if self.options.may_balance && !case.is_tight {
            self.balance(case, node_of_team, &mut plan, &entry_of_area, &mut forecast);
        }
        let (outcome, remote_of_area) = forecast;
        let entry_of_area = self.account(&mut plan, &entry_of_area, &remote_of_area);
        Words { plan, outcome, entry_of_area }
    }

    fn empty_plan(&self, node_of_team: &[usize]) -> Plan {
        let seats = self.teams.seats(node_of_team, self.layout);
        Plan {
            threads: self.teams.of_thread.iter().map(|&team| seats.cpu[team]).collect(),
            ..plan_for(self.profile)
        }
    }

    /// All groups but those whose traffic is negligible, alone and together.
    ///
    /// An area's traffic is what is remote in the profile, or would be if it were left where it was, or will be since
    /// it shares a page with another that matters more.
    fn worth_placing<'g>(&self, groups: &'g [Group], left: &[f64], case: &Case) -> Vec<&'g Group> {
        let remote = |group: &Group| -> f64 {
            let of_area = |&area: &usize| {
                self.forecaster.remote_of_area[area].max(left[area]).max(case.remote_at_best(area) as f64)
            };
            group.areas.iter().map(of_area).sum()
        };
        let all: f64 = groups.iter().map(remote).sum();
        let mut by_traffic: Vec<(f64, &Group)> = groups.iter().map(|group| (remote(group), group)).collect();
        by_traffic.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut skipped = 0.0;
        let mut is_negligible = |traffic: f64| {
            let fits = traffic < NEGLIGIBLE_AREA * all && skipped + traffic <= NEGLIGIBLE_TOGETHER * all;
            if fits {
                skipped += traffic;
            }
            fits
        };
        // Where memory is short everything counts: what is left out could fill a node.
        by_traffic.retain(|&(traffic, _)| case.is_tight || !is_negligible(traffic));
        by_traffic.into_iter().map(|(_, group)| group).collect()
    }

    /// Stripes areas that no node dominates, where that lowers the predicted time: the busiest node decides.
    fn balance(
        &self,
        case: &Case,
        node_of_team: &[usize],
        plan: &mut Plan,
        entry_of_area: &[Option<usize>],
        forecast: &mut (Outcome, Vec<f64>),
    ) {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); plan.areas.len()];
        for (area, entry) in entry_of_area.iter().enumerate() {
            if let Some(entry) = entry {
                members[*entry].push(area);
            }
        }
        let weight = |areas: &[usize]| -> u64 { areas.iter().map(|&area| case.weight(area)).sum() };
        let loss = |areas: &[usize]| -> u64 {
            areas.iter().map(|&area| case.cost_striped(area).saturating_sub(case.best_cost(area))).sum()
        };
        let mut trials: Vec<(u64, usize)> = (0..plan.areas.len())
            .filter(|&entry| {
                plan.areas[entry].decision != STRIPED && plan.areas[entry].decision != Decision::Replicate
            })
            .filter(|&entry| members[entry].iter().any(|&area| case.pages(area) > 1))
            .filter(|&entry| loss(&members[entry]) <= part(weight(&members[entry]), MOST_BALANCE_LOSS))
            .map(|entry| (weight(&members[entry]), entry))
            .collect();
        trials.sort_unstable_by_key(|&(weight, entry)| (core::cmp::Reverse(weight), entry));
        for (_, entry) in trials.into_iter().take(BALANCE_TRIALS) {
            let old = core::mem::replace(&mut plan.areas[entry].decision, STRIPED);
            let trial = self.forecaster.forecast(node_of_team, &plan.areas, entry_of_area);
            if trial.0.seconds < forecast.0.seconds * (1.0 - LEAST_BALANCE_GAIN) {
                *forecast = trial;
                plan.areas[entry].reason = reason::balance(case, &case.usage(&members[entry]));
            } else {
                plan.areas[entry].decision = old;
            }
        }
    }

    /// Fills in each entry's counts and puts the weightiest first; returns the entry of each area anew.
    fn account(
        &self,
        plan: &mut Plan,
        entry_of_area: &[Option<usize>],
        remote_of_area: &[f64],
    ) -> Vec<Option<usize>> {
        let mut before = vec![0.0; plan.areas.len()];
        let mut after = vec![0.0; plan.areas.len()];
        for (area, entry) in entry_of_area.iter().enumerate() {
            if let Some(entry) = *entry {
                before[entry] += self.forecaster.remote_of_area[area];
                after[entry] += remote_of_area[area];
            }
        }
        for (entry, (before, after)) in plan.areas.iter_mut().zip(before.into_iter().zip(after)) {
            entry.remote_before = whole(before);
            entry.remote_after = whole(after);
        }
        let importance = |entry: &AreaPlan| core::cmp::Reverse(entry.remote_before.max(entry.remote_after));
        let mut order: Vec<usize> = (0..plan.areas.len()).collect();
        order.sort_by_key(|&entry| importance(&plan.areas[entry]));
        plan.areas.sort_by_key(importance);
        let mut place = vec![0; order.len()];
        for (new, old) in order.into_iter().enumerate() {
            place[old] = new;
        }
        entry_of_area.iter().map(|entry| entry.map(|old| place[old])).collect()
    }
}

/// A plan with what it leads to.
struct Words {
    plan: Plan,
    outcome: Outcome,
    /// The entry for each area.
    entry_of_area: Vec<Option<usize>>,
}

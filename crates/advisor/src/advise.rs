//! From a profile to advice: the steps in order, and the verdict.

use crate::advice::{Advice, Effect, Finding, Verdict};
use crate::affinity::Affinity;
use crate::demand::Demand;
use crate::findings::{areas_to_pad, contention, is_false};
use crate::forecast::{Forecaster, Outcome};
use crate::groups::group;
use crate::layout::Layout;
use crate::options::{LEAST_REMOTE_GAIN, LEAST_TIME_GAIN, Options};
use crate::planner::Planner;
use crate::reason;
use crate::teams::Teams;
use olifant_machine::Machine;
use olifant_opium::profile::{Area, AreaKind, Profile};
use olifant_placement::{AreaMatch, AreaPlan, Decision, Plan, Prediction};

/// Works out where threads and data should live. Deterministic; reads nothing but its arguments.
/// Cost: near-linear in the granules, quadratic in threads.
pub fn advise(profile: &Profile, machine: &Machine, options: &Options) -> Advice {
    let layout = match Layout::new(machine) {
        Ok(layout) => layout,
        Err(error) => return leave(profile, Vec::new(), None, &format!("machine {}: {error}", machine.name)),
    };
    let teams = match Teams::new(profile, &layout) {
        Ok(teams) => teams,
        Err(cpu) => {
            let why =
                format!("the profile has threads on cpu {cpu}, which machine {} doesn't have", machine.name);
            return leave(profile, Vec::new(), None, &why);
        }
    };
    let mut findings = contention(profile);
    let demand = Demand::new(profile, layout.page_bytes);
    let affinity = Affinity::new(&demand, &profile.contested, &teams);
    let forecaster = Forecaster::new(profile, machine, &layout, &demand, &teams, &affinity);
    let before = forecaster.before;
    if let Some(why) = hopeless(&layout, &before) {
        return leave(profile, findings, Some(before), &why);
    }
    let plans = Planner {
        profile,
        layout: &layout,
        demand: &demand,
        teams: &teams,
        affinity: &affinity,
        forecaster: &forecaster,
        options,
    };
    let (plan, after) = plans.best();
    findings.extend(read_only(profile, &plan, &forecaster));
    let plan = with_padding(plan, profile, &findings);
    let time_gain = 1.0 - after.seconds / before.seconds;
    let remote_gain = 1.0 - after.remote / before.remote.max(1.0);
    let is_slower = time_gain < -LEAST_TIME_GAIN;
    if is_slower || time_gain < LEAST_TIME_GAIN && remote_gain < LEAST_REMOTE_GAIN {
        let why = no_gain(&findings, profile, time_gain, remote_gain, &before);
        return leave(profile, findings, Some(before), &why);
    }
    let effect = effect(&before, &after);
    let predicted = Prediction {
        remote_before: effect.remote_before,
        remote_after: effect.remote_after,
        time_ratio: effect.time_ratio,
    };
    let plan = Plan { predicted: Some(predicted), ..plan };
    Advice { plan, verdict: Verdict::Tune, effect, findings }
}

/// Why no plan can help, if so.
fn hopeless(layout: &Layout, before: &Outcome) -> Option<String> {
    if layout.len() < 2 {
        Some("the machine has one node: all memory is equally near".to_owned())
    } else if layout.memory_nodes().len() < 2 {
        Some("only one node has memory: pages have no choice".to_owned())
    } else if before.transactions == 0.0 {
        Some("the profile has no counters by page".to_owned())
    } else if before.remote == 0.0 {
        Some("no access left its node".to_owned())
    } else {
        None
    }
}

/// The verdict's reason where a plan would gain too little.
fn no_gain(
    findings: &[Finding],
    profile: &Profile,
    time_gain: f64,
    remote_gain: f64,
    before: &Outcome,
) -> String {
    let shared: u64 =
        profile.contested.iter().filter(|line| !is_false(line.sharing)).map(|line| line.transfers).sum();
    let is_shared = findings.iter().any(|finding| matches!(finding, Finding::TrueSharing(_)))
        && shared as f64 >= before.remote / 2.0;
    if is_shared {
        return "threads contend for the same words, and no placement ends that (see the findings)"
            .to_owned();
    }
    let remote = reason::percent(remote_gain.max(0.0));
    if time_gain < -LEAST_TIME_GAIN {
        let more = reason::percent(-time_gain);
        return format!(
            "the best placement found would take {remote} off the remote accesses but add {more} to the time"
        );
    }
    let time = reason::percent(time_gain.max(0.0));
    format!("the best placement found would take {remote} off the remote accesses and {time} off the time")
}

/// Advice to do nothing.
fn leave(profile: &Profile, findings: Vec<Finding>, before: Option<Outcome>, reason: &str) -> Advice {
    let before = before.unwrap_or(Outcome { remote: 0.0, packets: 0.0, transactions: 0.0, seconds: 1.0 });
    Advice {
        plan: plan_for(profile),
        verdict: Verdict::LeaveAlone { reason: reason.to_owned() },
        effect: effect(&before, &before),
        findings,
    }
}

/// A plan that says nothing yet but for whom it is.
pub(crate) fn plan_for(profile: &Profile) -> Plan {
    let program = profile.run.program.rsplit('/').next().unwrap_or_default();
    Plan {
        program: program.to_owned(),
        machine: profile.run.machine.clone(),
        configuration: profile.run.configuration.clone(),
        ..Plan::default()
    }
}

fn effect(before: &Outcome, after: &Outcome) -> Effect {
    Effect {
        remote_before: whole(before.remote),
        remote_after: whole(after.remote),
        packets_before: whole(before.packets),
        packets_after: whole(after.packets),
        accesses: whole(before.transactions),
        time_ratio: if before.seconds > 0.0 { after.seconds / before.seconds } else { 1.0 },
    }
}

/// Data worth a copy per node, from the plan's own entries.
fn read_only(profile: &Profile, plan: &Plan, forecaster: &Forecaster) -> Vec<Finding> {
    let entry_of_area = forecaster.entries_of_areas(plan);
    let is_copied =
        |area: &usize| entry_of_area[*area].is_some_and(|e| plan.areas[e].decision == Decision::Replicate);
    let finding = |area: usize| Finding::ReadOnly {
        area: profile.areas[area].name.clone(),
        bytes_per_node: profile.areas[area].bytes,
        remote: whole(forecaster.remote_of_area[area]),
    };
    (0..profile.areas.len()).filter(is_copied).map(finding).collect()
}

/// Adds advice to pad, for areas that a plan can name.
fn with_padding(mut plan: Plan, profile: &Profile, findings: &[Finding]) -> Plan {
    let areas = areas_to_pad(profile, findings);
    let may_pad = |area: &Area| !matches!(area.kind, AreaKind::Stack | AreaKind::Small);
    let groups = group(profile, |area| areas.contains(&area) && may_pad(&profile.areas[area]));
    for group in &groups {
        for &area in &group.areas {
            let name: AreaMatch = group.single_out(profile, area).unwrap_or_else(|| group.name.clone());
            let reason = findings
                .iter()
                .find(|f| matches!(f, Finding::FalseSharing(contention) if contention.area == profile.areas[area].name))
                .map_or_else(String::new, ToString::to_string);
            plan.areas.push(AreaPlan {
                area: name,
                decision: Decision::Pad,
                reason,
                remote_before: 0,
                remote_after: 0,
            });
        }
    }
    plan
}

/// A count from sums of shares.
pub(crate) fn whole(count: f64) -> u64 {
    // A float-to-int `as` saturates, and counts are not negative.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = count.round() as u64;
    whole
}

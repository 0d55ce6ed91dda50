//! The layout by hand as a plan. Definitions name functions; plans match allocations by function, file and line. The lines
//! come from the profile of a short run: where the path to an allocation passes the function.

use crate::RunDefinition;
use olifant_opium::profile::Profile;
use olifant_placement::{AreaMatch, AreaPlan, Decision, Plan};

/// The plan for a run, from a profile of its program at any size.
/// # Errors  What is wrong with the definition, or the name of a function that no allocation passes.
pub(crate) fn plan(definition: &RunDefinition, profile: &Profile) -> Result<Plan, String> {
    let mut areas = Vec::new();
    for part in &definition.layout {
        let decision = match (&part.parts, &part.policy) {
            (Some(nodes), None) => {
                let numbers = nodes.split(',').map(|node| node.parse().map(olifant_machine::NodeId));
                Decision::Parts(
                    numbers.collect::<Result<_, _>>().map_err(|error| format!("parts {nodes}: {error}"))?,
                )
            }
            (None, Some(policy)) => Decision::Policy(
                policy.parse().map_err(|error: olifant_placement::PolicyError| error.to_string())?,
            ),
            _ => return Err(format!("layout of {}: parts or a policy, not both", part.site)),
        };
        let mut places: Vec<(&str, u32)> = profile
            .sites
            .iter()
            .filter_map(|site| site.frames.iter().find(|frame| frame.function == part.site))
            .map(|frame| (frame.file.as_str(), frame.line))
            .collect();
        places.sort_unstable();
        places.dedup();
        if places.is_empty() {
            return Err(format!("layout: no allocation of {} passes {}", definition.program, part.site));
        }
        areas.extend(places.into_iter().map(|(file, line)| AreaPlan {
            area: AreaMatch::Site {
                function: part.site.clone(),
                file: file.to_owned(),
                line,
                bytes: None,
                ordinal: None,
            },
            decision: decision.clone(),
            reason: "the layout by hand".to_owned(),
            remote_before: 0,
            remote_after: 0,
        }));
    }
    Ok(Plan {
        program: definition.program.clone(),
        machine: definition.machine.clone(),
        configuration: definition.configuration.clone(),
        areas,
        ..Plan::default()
    })
}

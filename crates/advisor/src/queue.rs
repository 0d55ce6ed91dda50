//! A closed queueing network: how long the processors' work takes when they queue for buses and coherence units.
//!
//! Each processor is one customer that computes (no queue), waits for latencies (no queue) and visits centres. The
//! time is found by approximate mean value analysis after Bard and Schweitzer: on arrival at a centre a customer finds
//! the others there in proportion to the time they spend there. Work that nobody waits for (write-backs, and the
//! overlapped part of misses) slows the centre for the rest. Left out: phases of the program. docs/plan.md has the
//! measured error.
//!
//! Source: P. J. Schweitzer, "Approximate analysis of multiclass closed networks of queues" (1979).

/// The work of one run.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// Number of centres.
    pub centres: usize,
    /// Per customer, seconds that pass wherever data live.
    pub compute: Vec<f64>,
    /// Per customer, seconds of latency without queueing.
    pub delay: Vec<f64>,
    /// Per customer and centre, seconds of service that the customer may have to wait for.
    pub service: Vec<f64>,
    /// Per centre, seconds of service that nobody waits for.
    pub unawaited: Vec<f64>,
}

/// Iterations stop when the time changes by less than this share.
const CONVERGED: f64 = 1e-4;
/// Iterations stop in any case after so many.
const MOST_ITERATIONS: usize = 60;
/// A centre that only works for nobody still lets this share through; keeps the algebra finite.
const LEAST_SHARE: f64 = 0.02;
/// Halvings when the visible share is fitted.
const FIT_STEPS: usize = 10;
/// Least share of a miss that a processor is taken to wait for.
const LEAST_VISIBLE: f64 = 0.05;

impl Work {
    /// No work yet.
    pub fn new(customers: usize, centres: usize) -> Work {
        Work {
            centres,
            compute: vec![0.0; customers],
            delay: vec![0.0; customers],
            service: vec![0.0; customers * centres],
            unawaited: vec![0.0; centres],
        }
    }

    /// Seconds until the last customer is done, if customers wait for this share of their misses' latency.
    pub fn seconds(&self, visible: f64) -> f64 {
        let mut total_service = self.unawaited.clone();
        for row in self.service.chunks(self.centres.max(1)) {
            for (total, service) in total_service.iter_mut().zip(row) {
                *total += service;
            }
        }
        let awaited = |centre: usize| (total_service[centre] - self.unawaited[centre]) * visible;
        let busiest = total_service.iter().copied().fold(0.0, f64::max);
        let alone = self.slowest(visible, |_, service| service);
        let mut time = alone.max(busiest);
        // Customers begin spread in proportion to their service.
        let mut waits: Vec<f64> = self.service.iter().map(|service| service * visible).collect();
        let mut queue = vec![0.0; self.centres];
        for _ in 0..MOST_ITERATIONS {
            queue.fill(0.0);
            for row in waits.chunks(self.centres.max(1)) {
                for (length, wait) in queue.iter_mut().zip(row) {
                    *length += wait / time;
                }
            }
            let slowdown: Vec<f64> = (0..self.centres)
                .map(|centre| {
                    let others = total_service[centre] - awaited(centre);
                    1.0 / (1.0 - others / time).max(LEAST_SHARE)
                })
                .collect();
            for (row, services) in
                waits.chunks_mut(self.centres.max(1)).zip(self.service.chunks(self.centres.max(1)))
            {
                for centre in 0..self.centres {
                    // Of the customer found in service half is done already: service times are constant.
                    let in_service = (awaited(centre) - services[centre] * visible) / time;
                    let found = (queue[centre] - row[centre] / time - in_service / 2.0).max(0.0);
                    row[centre] = services[centre] * visible * slowdown[centre] * (1.0 + found);
                }
            }
            let next = self.slowest(visible, |index, _| waits[index]).max(busiest);
            let has_converged = (next - time).abs() <= CONVERGED * time;
            // The mean of old and new damps the swings that a saturated centre causes.
            time = f64::midpoint(time, next);
            if has_converged {
                break;
            }
        }
        time
    }

    /// The share of the latency that processors must have waited for, so that this work took the measured time.
    /// Between a small share and 1; where even 1 takes less than was measured, the rest is not memory's doing.
    pub fn fit_visible(&self, measured: f64) -> f64 {
        if measured.is_nan() || measured <= 0.0 || self.seconds(1.0) <= measured {
            return 1.0;
        }
        let (mut low, mut high) = (LEAST_VISIBLE, 1.0);
        for _ in 0..FIT_STEPS {
            let middle = f64::midpoint(low, high);
            if self.seconds(middle) > measured { high = middle } else { low = middle }
        }
        low
    }

    /// The longest time of a customer, given what it spends at each centre.
    fn slowest(&self, visible: f64, spent: impl Fn(usize, f64) -> f64) -> f64 {
        let scale = |index: usize, service: f64| spent(index, service * visible);
        (0..self.compute.len())
            .map(|customer| {
                let first = customer * self.centres;
                let row = &self.service[first..first + self.centres];
                let at_centres: f64 = row.iter().enumerate().map(|(at, &s)| scale(first + at, s)).sum();
                self.compute[customer] + self.delay[customer] * visible + at_centres
            })
            .fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Customers that alternate between thinking (a time drawn evenly from 0 to twice the mean) and one visit, first
    /// come first served, `visits` times each.
    fn simulate(think: f64, service: f64, customers: usize, visits: u32) -> f64 {
        let mut state = 1u64;
        let mut draw = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            2.0 * think * (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut ready: Vec<(f64, u32)> = (0..customers).map(|_| (draw(), visits)).collect();
        let (mut free_at, mut end) = (0.0f64, 0.0f64);
        while let Some(next) =
            (0..customers).filter(|&i| ready[i].1 > 0).min_by(|&a, &b| ready[a].0.total_cmp(&ready[b].0))
        {
            free_at = free_at.max(ready[next].0) + service;
            end = end.max(free_at);
            ready[next] = (free_at + draw(), ready[next].1 - 1);
        }
        end
    }

    fn one_centre(think: f64, service: f64, customers: usize, visits: u32) -> Work {
        let mut work = Work::new(customers, 1);
        work.compute.fill(think * f64::from(visits));
        work.service.fill(service * f64::from(visits));
        work
    }

    #[test]
    fn a_lone_customer_never_queues() {
        let mut work = one_centre(3.0, 2.0, 1, 10);
        work.delay[0] = 7.0;
        assert!((work.seconds(1.0) - 57.0).abs() < 0.01);
        // Half of the service is overlapped, and still occupies the centre when the customer comes back to it.
        assert!((43.5..57.0).contains(&work.seconds(0.5)));
    }

    #[test]
    fn a_saturated_centre_decides() {
        let time = one_centre(1.0, 2.0, 16, 100).seconds(1.0);
        assert!((time / 3200.0 - 1.0).abs() < 0.05, "{time}");
    }

    #[test]
    fn unawaited_work_slows_the_centre() {
        let mut work = one_centre(10.0, 1.0, 4, 100);
        let before = work.seconds(1.0);
        work.unawaited[0] = 500.0;
        assert!(work.seconds(1.0) > before * 1.05);
    }

    #[test]
    fn the_fitted_share_reproduces_the_measured_time() {
        let mut work = one_centre(5.0, 1.0, 8, 100);
        work.delay.fill(2000.0);
        let measured = work.seconds(0.4);
        assert!((work.fit_visible(measured) - 0.4).abs() < 0.01);
        assert!((work.fit_visible(1e9) - 1.0).abs() < f64::EPSILON);
    }

    proptest! {
        /// The bound that docs/plan.md states.
        #[test]
        fn the_analysis_is_close_to_a_simulated_queue(
            think in 0.1f64..50.0, customers in 1usize..20,
        ) {
            let simulated = simulate(think, 1.0, customers, 400);
            let ratio = one_centre(think, 1.0, customers, 400).seconds(1.0) / simulated;
            prop_assert!((0.85..1.15).contains(&ratio), "ratio {}", ratio);
        }
    }
}

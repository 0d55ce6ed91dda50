//! Samples of a process, taken beside the picture that is drawn of it.

use olifant_opium::profile::Profile;
use olifant_sampler::{Options, record_process};
use olifant_sys::Pid;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How old the profile may be that a picture is made from.
const FRESH: Duration = Duration::from_millis(400);

/// What was sampled so far.
#[derive(Debug, Clone, Default)]
pub enum Seen {
    /// Nothing yet.
    #[default]
    Nothing,
    /// A profile.
    Profile(Arc<Profile>),
    /// Sampling is not possible, and why.
    Refused(String),
    /// Nobody asked for samples.
    Unasked,
}

/// Sampling that goes on in a thread of its own until it is dropped.
pub struct Live {
    seen: Arc<Mutex<Seen>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Begins to sample; a rate of 0 does not.
    /// # Errors  if this computer cannot be looked at.
    pub fn begin(process: Pid, rate: u32) -> anyhow::Result<Live> {
        let seen = Arc::new(Mutex::new(if rate == 0 { Seen::Unasked } else { Seen::Nothing }));
        let is_over = Arc::new(AtomicBool::new(rate == 0));
        let mut live = Live { seen: Arc::clone(&seen), is_over: Arc::clone(&is_over), thread: None };
        if rate > 0 {
            let machine = olifant_host::find_machine(&olifant_host::Root::new("/"))?;
            let granule_bytes = machine.os.page.0;
            let options = Options { machine, rate, seed: 0, sites: None, granule_bytes };
            live.thread = Some(std::thread::spawn(move || sample(process, &options, &seen, &is_over)));
        }
        Ok(live)
    }

    /// What was sampled so far.
    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that failed has told so in its last words.
            let _ = thread.join();
        }
    }
}

fn sample(process: Pid, options: &Options, seen: &Mutex<Seen>, is_over: &AtomicBool) {
    let tell = |now| *seen.lock().unwrap_or_else(PoisonError::into_inner) = now;
    let mut told = Instant::now();
    let mut is_enough = |profile: &dyn Fn() -> Profile| {
        if told.elapsed() >= FRESH {
            tell(Seen::Profile(Arc::new(profile())));
            told = Instant::now();
        }
        is_over.load(Ordering::Relaxed)
    };
    match record_process(process, options, &mut is_enough) {
        Ok(outcome) => tell(Seen::Profile(Arc::new(outcome.profile))),
        Err(error) => tell(Seen::Refused(error.to_string())),
    }
}

//! A guest that waits for its command: continued from a saved state where there is one, else booted and saved.

use crate::protocol::{AGENT_PORT, FILES_PORT, ToHost, receive};
use crate::qemu::{Plan, Qemu, STATE};
use crate::signals::Watch;
use crate::states::SavedGuest;
use crate::{Accelerator, Computer, LabError, initramfs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long an emulated guest may take to come up: 16 processors take about 5 s and 64 about 20 s on an idle host.
const BOOT_EMULATED: Duration = Duration::from_secs(180);
/// How long one on KVM may. Where KVM is a torso, the guest stands still.
const BOOT_KVM: Duration = Duration::from_secs(30);

/// A guest whose agent waits for a command.
pub struct Guest {
    /// The process.
    pub qemu: Qemu,
    /// The agent.
    pub agent: UnixStream,
    /// What asks for files.
    pub files: UnixStream,
}

/// What a guest is started from.
pub struct Starter<'a> {
    /// The computer that it is.
    pub computer: &'a Computer,
    /// What carries out its instructions.
    pub accelerator: Accelerator,
    /// Its kernel.
    pub kernel: &'a Path,
    /// The executable that has the agent.
    pub olifant: &'a Path,
    /// Whether states are used and kept.
    pub use_saved: bool,
    /// Who hears of signals.
    pub watch: &'a Watch,
    /// Who hears remarks.
    pub talk: &'a dyn Fn(&str),
}

impl Starter<'_> {
    /// Continues or boots a guest.
    /// # Errors  See [`LabError`].
    pub fn start(&self) -> Result<Guest, LabError> {
        if !self.use_saved {
            let own = tempfile::tempdir();
            let own = own.map_err(LabError::file("cannot make a folder in", std::env::temp_dir()))?;
            let archive = own.path().join("cpio");
            initramfs::write(&archive, self.olifant)?;
            // QEMU has read the archive when the agent speaks.
            return self.boot(&self.plan(&archive)?);
        }
        // The archive's path is among the arguments but has the key in it: the key is made without it.
        let inputs = [self.kernel, self.olifant, &initramfs::busybox()?];
        let saved = SavedGuest::new(self.plan(Path::new(""))?.key(&inputs)?)?;
        let plan = self.plan(&saved.initramfs())?;
        if let Some(state) = saved.find() {
            match self.go_on(&plan, &state) {
                Ok(guest) => return Ok(guest),
                Err(error) if self.watch.ended_by().is_some() => return Err(error),
                Err(error) => {
                    (self.talk)(&format!("the saved guest could not be continued ({error}); booting"));
                    saved.remove();
                }
            }
        }
        write_initramfs(&saved.initramfs(), self.olifant)?;
        let mut guest = self.boot(&plan)?;
        let mut monitor = guest.qemu.monitor()?;
        monitor.save(STATE)?;
        keep(&guest.qemu.file(STATE), &saved)?;
        saved.remove_old();
        // The stopped guest itself goes on: what is saved is a copy.
        monitor.go_on()?;
        Ok(guest)
    }

    fn plan(&self, archive: &Path) -> Result<Plan, LabError> {
        Plan::new(self.computer, self.accelerator, self.kernel, archive)
    }

    fn boot(&self, plan: &Plan) -> Result<Guest, LabError> {
        let mut guest = self.connected(plan.start(None)?)?;
        let limit = if self.accelerator == Accelerator::Kvm { BOOT_KVM } else { BOOT_EMULATED };
        let begun = Instant::now();
        let failed = |error: std::io::Error| LabError::Guest(error.to_string());
        guest.agent.set_read_timeout(Some(limit)).map_err(failed)?;
        let ready = receive(&mut guest.agent);
        guest.agent.set_read_timeout(None).map_err(failed)?;
        match ready {
            Ok(Some(ToHost::Ready)) => Ok(guest),
            _ => {
                Err(LabError::NotUp { seconds: begun.elapsed().as_secs(), console: guest.qemu.last_words() })
            }
        }
    }

    fn go_on(&self, plan: &Plan, state: &Path) -> Result<Guest, LabError> {
        let mut guest = self.connected(plan.start(Some(state))?)?;
        guest.qemu.monitor()?.go_on()?;
        Ok(guest)
    }

    fn connected(&self, mut qemu: Qemu) -> Result<Guest, LabError> {
        self.watch.guard(qemu.id());
        let agent = qemu.connect(AGENT_PORT)?;
        let files = qemu.connect(FILES_PORT)?;
        Ok(Guest { qemu, agent, files })
    }
}

/// Writes the archive by another name first: another run may be reading it.
fn write_initramfs(archive: &Path, olifant: &Path) -> Result<(), LabError> {
    let other = archive.with_extension(format!("{}.new", std::process::id()));
    initramfs::write(&other, olifant)?;
    std::fs::rename(&other, archive).map_err(LabError::file("cannot write", archive))
}

/// Moves a written state into the cache, which may be on another file system.
fn keep(state: &Path, saved: &SavedGuest) -> Result<(), LabError> {
    let target = saved.state();
    let other = target.with_extension(format!("{}.new", std::process::id()));
    let moved = std::fs::rename(state, &other).or_else(|_| std::fs::copy(state, &other).map(drop));
    moved.and_then(|()| std::fs::rename(&other, &target)).map_err(LabError::file("cannot write", target))
}

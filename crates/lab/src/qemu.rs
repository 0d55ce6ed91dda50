//! One QEMU process: its command line, its sockets in a private folder, its end.
//!
//! Emulation runs all processors on one thread: with a thread each, one to two boots of a hundred hang (QEMU 7.2). The
//! processor is an Intel model, because for others the kernel distrusts the time-stamp counter and runs several times
//! slower. The process is in a group of its own, so that a terminal's Ctrl-C reaches only the program in the guest.
//! Source: qemu(1); measured: boots of QEMU 7.2 with Debian's kernels.

use crate::monitor::Monitor;
use crate::protocol::{AGENT_PORT, FILES_PORT};
use crate::{Computer, LabError};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const EMULATOR: &str = "qemu-system-x86_64";
const CONSOLE: &str = "console";
/// The name of the state's file in QEMU's folder.
pub const STATE: &str = "state";
/// How long QEMU may take to open its sockets.
const SOCKETS: Duration = Duration::from_secs(20);
/// How much of the console an error shows.
const LAST_WORDS_BYTES: usize = 1500;

/// What carries out the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Accelerator {
    /// The host's processor.
    Kvm,
    /// Emulation.
    Emulated,
}

impl Accelerator {
    /// KVM where this user may use it on a processor that has it, else emulation. That KVM then works is not certain: in
    /// a virtual machine it may be a torso.
    pub fn best() -> Accelerator {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let has = cpuinfo.split_ascii_whitespace().any(|flag| flag == "vmx" || flag == "svm");
        let may = || std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok();
        if has && may() { Accelerator::Kvm } else { Accelerator::Emulated }
    }

    fn arguments(self) -> [&'static str; 2] {
        match self {
            Accelerator::Kvm => ["-accel", "kvm"],
            Accelerator::Emulated => ["-accel", "tcg,thread=single"],
        }
    }

    fn model(self) -> &'static str {
        match self {
            Accelerator::Kvm => "host",
            Accelerator::Emulated => "Haswell-noTSX",
        }
    }
}

/// What QEMU is started with.
#[derive(Debug, Clone)]
pub struct Plan {
    emulator: PathBuf,
    arguments: Vec<String>,
}

impl Plan {
    /// The plan for a computer; `initramfs` may not exist yet.
    /// # Errors  `NoQemu`.
    pub fn new(
        computer: &Computer,
        accelerator: Accelerator,
        kernel: &Path,
        initramfs: &Path,
    ) -> Result<Plan, LabError> {
        let mut words: Vec<String> = Vec::new();
        let mut add = |list: &[&str]| words.extend(list.iter().map(ToString::to_string));
        add(&["-machine", "q35", "-cpu", accelerator.model()]);
        add(&accelerator.arguments());
        add(&["-nodefaults", "-display", "none", "-no-reboot", "-no-user-config"]);
        add(&["-serial", &format!("file:{CONSOLE}"), "-qmp", "unix:qmp,server=on,wait=off"]);
        add(&["-device", "virtio-serial-pci"]);
        for port in [AGENT_PORT, FILES_PORT] {
            add(&["-chardev", &format!("socket,id={port},path={port},server=on,wait=off")]);
            add(&["-device", &format!("virtserialport,chardev={port},name={port}")]);
        }
        add(&["-kernel", &kernel.to_string_lossy(), "-initrd", &initramfs.to_string_lossy()]);
        // Page balancing off: a test of placement must not see pages wander. Panics end QEMU. A busy host lets the emulated
        // timer fall behind, which the kernel's own check takes for a broken one.
        let mut line =
            "console=ttyS0 panic=-1 quiet tsc=reliable no_timer_check mitigations=off nokaslr cryptomgr.notests \
             numa_balancing=disable"
                .to_owned();
        if !computer.offline().is_empty() {
            line += &format!(" olifant.offline={}", computer.offline());
        }
        add(&["-append", &line]);
        words.extend(computer.arguments(accelerator.model()));
        Ok(Plan { emulator: emulator()?, arguments: words })
    }

    /// A name for everything that a saved state depends on: QEMU, its arguments, and the files `inputs` as they are now.
    pub fn key(&self, inputs: &[&Path]) -> Result<String, LabError> {
        // Two hashes of 64 bits each: these names never leave the cache of one user.
        let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
        for (salt, hasher) in hashers.iter_mut().enumerate() {
            salt.hash(hasher);
            self.arguments.hash(hasher);
            for input in inputs.iter().copied().chain([self.emulator.as_path()]) {
                let about = std::fs::metadata(input).map_err(LabError::file("cannot read", input))?;
                (input, about.len(), about.mtime(), about.mtime_nsec()).hash(hasher);
            }
        }
        Ok(hashers.iter().map(|hasher| format!("{:016x}", hasher.finish())).collect())
    }

    /// Starts QEMU; with `state`, it continues a saved guest.
    /// # Errors  `NoQemu`, `File`, `Tool`.
    pub fn start(&self, state: Option<&Path>) -> Result<Qemu, LabError> {
        let folder = tempfile::Builder::new().prefix("olifant-lab-").tempdir();
        let folder = folder.map_err(LabError::file("cannot make a folder in", std::env::temp_dir()))?;
        let mut command = Command::new(&self.emulator);
        command.args(&self.arguments).current_dir(folder.path());
        if let Some(state) = state {
            // A link, so that no character of the path means anything to the shell that reads it.
            let link = folder.path().join(STATE);
            std::os::unix::fs::symlink(state, &link).map_err(LabError::file("cannot make link", &link))?;
            command.args(["-incoming", &format!("exec:cat {STATE}")]);
        }
        let said = folder.path().join("stderr");
        let stderr = std::fs::File::create(&said).map_err(LabError::file("cannot write", &said))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).process_group(0);
        let child = command
            .spawn()
            .map_err(|error| LabError::Tool { tool: EMULATOR.to_owned(), problem: error.to_string() })?;
        Ok(Qemu { child, folder })
    }
}

/// The emulator in PATH.
fn emulator() -> Result<PathBuf, LabError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join(EMULATOR));
    candidates.find(|candidate| candidate.is_file()).ok_or(LabError::NoQemu(EMULATOR))
}

/// A running QEMU; dropping it ends it and removes its folder.
#[derive(Debug)]
pub struct Qemu {
    child: Child,
    folder: tempfile::TempDir,
}

impl Qemu {
    /// A connection to the socket of this name, as soon as there is one.
    /// # Errors  `Tool` with what QEMU said, if it ended or opens none.
    pub fn connect(&mut self, socket: &str) -> Result<UnixStream, LabError> {
        let path = self.folder.path().join(socket);
        let until = Instant::now() + SOCKETS;
        loop {
            match UnixStream::connect(&path) {
                Ok(stream) => return Ok(stream),
                Err(error) if self.has_ended() || Instant::now() > until => {
                    let said = self.said();
                    let problem = if said.is_empty() { error.to_string() } else { said };
                    return Err(LabError::Tool { tool: EMULATOR.to_owned(), problem });
                }
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// The monitor.
    /// # Errors  As [`Qemu::connect`].
    pub fn monitor(&mut self) -> Result<Monitor, LabError> {
        Monitor::new(self.connect("qmp")?)
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A file in QEMU's folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whether the process is gone.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits a moment for the process to end by itself.
    pub fn wait_briefly(&mut self) {
        let until = Instant::now() + Duration::from_secs(2);
        while !self.has_ended() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The end of what the guest's console and QEMU said.
    pub fn last_words(&self) -> String {
        let console = std::fs::read(self.folder.path().join(CONSOLE)).unwrap_or_default();
        let end = console.len().saturating_sub(LAST_WORDS_BYTES);
        let console = String::from_utf8_lossy(&console[end..]).trim().to_owned();
        format!("{console}\n{}", self.said()).trim().to_owned()
    }

    /// What QEMU itself said, without the warnings that emulated processors always give.
    fn said(&self) -> String {
        let said = std::fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default();
        let lines: Vec<&str> = said.lines().filter(|line| !line.contains("warning: ")).collect();
        lines.join("\n").trim().to_owned()
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        // Both fail only where the process is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

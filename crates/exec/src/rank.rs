//! Which of the MPI processes on this computer this one is, from the variables that launchers set.
//!
//! Sources: the manuals of Open MPI (OMPI_COMM_WORLD_LOCAL_*), MVAPICH (MV2_COMM_WORLD_LOCAL_*), Intel MPI and MPICH's
//! Hydra (MPI_LOCALRANKID, MPI_LOCALNRANKS), PALS (PALS_LOCAL_RANKID, PALS_LOCAL_SIZE), Slurm (SLURM_LOCALID,
//! SLURM_NTASKS_PER_NODE, SLURM_TASKS_PER_NODE).

use crate::{ExecError, World};

/// A process among those on its computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalRank {
    /// Its number, from 0.
    pub rank: usize,
    /// How many there are.
    pub size: usize,
}

/// The variables of rank and size by launcher, those that set both first.
const VARIABLES: [(&str, &str); 6] = [
    ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"),
    ("SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
    ("SLURM_LOCALID", "SLURM_TASKS_PER_NODE"),
];

/// The rank of this process.
/// # Errors  `Usage` where no launcher told one, or told nonsense.
pub fn local_rank(world: &dyn World) -> Result<LocalRank, ExecError> {
    for (rank, size) in VARIABLES {
        let (Some(rank_text), Some(size_text)) = (world.variable(rank), world.variable(size)) else {
            continue;
        };
        // Slurm writes `4` or `4(x2),3`: tasks of each computer of the job, in order; this one's place is not told.
        let first = size_text.split(['(', ',']).next().unwrap_or_default();
        let parsed = rank_text.parse::<usize>().ok().zip(first.parse::<usize>().ok());
        return match parsed {
            Some((rank, size)) if rank < size => Ok(LocalRank { rank, size }),
            _ => Err(ExecError::Usage(format!(
                "{rank}={rank_text} with {size}={size_text}: not a rank among ranks"
            ))),
        };
    }
    Err(ExecError::Usage(
        "--ranks: no MPI launcher has set a local rank and size (Open MPI, MPICH, Intel MPI, MVAPICH, PALS, Slurm are \
         known)"
            .to_owned(),
    ))
}

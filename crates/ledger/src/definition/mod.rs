//! The definitions of an evaluation, as `experiments/README.md` describes them: what is run, under which policies, which
//! metrics come out, which shapes must hold. Unknown keys and names are refused when the library is read.

mod application;
mod experiment;
mod library;
mod policies;

pub use application::{Application, Parts, Steps};
pub use experiment::{
    Choose, Derived, Experiment, Group, Label, Operand, PlacementKind, ProfileCell, ProfileShape, Shape, Use,
};
pub use library::Library;
pub use policies::Policies;

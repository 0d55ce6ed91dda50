//! The parts of `olifant top`: what is seen of the process (`live.rs`), its picture as lines of text (`picture.rs`), and the
//! terminal (`screen.rs`).

mod live;
mod picture;
mod screen;

pub use live::{Live, Seen};
pub use picture::lines;
pub use screen::Screen;

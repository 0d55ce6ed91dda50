//! The terminal: taken when a picture begins, given back as it was, whatever ends it.

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{execute, queue};
use olifant_sys::Interrupts;
use std::io::{Write, stdout};
use std::time::{Duration, Instant};

/// How soon a signal is noticed.
const GLANCE: Duration = Duration::from_millis(100);

/// The terminal as long as pictures are drawn on it.
pub struct Screen(());

/// Why waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The time has come, or the terminal has another size.
    Draw,
    /// Somebody wants to stop.
    Quit,
}

impl Woken {
    /// Whether to stop.
    pub fn is_quit(self) -> bool {
        self == Woken::Quit
    }
}

impl Screen {
    /// Takes the terminal: keys come at once, and what was on it stays for later.
    /// # Errors  if stdin is no terminal.
    pub fn begin() -> std::io::Result<Screen> {
        terminal::enable_raw_mode()?;
        let screen = Screen(());
        // A panic ends the process without asking anybody; the terminal must be sane by then.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        execute!(stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Draws the lines that `picture` makes for a width and a height.
    /// # Errors  if the terminal is gone.
    pub fn draw(&mut self, picture: impl Fn(usize, usize) -> Vec<String>) -> std::io::Result<()> {
        let (width, height) = terminal::size()?;
        let mut out = stdout().lock();
        for (row, line) in (0..height).zip(picture(width.into(), height.into())) {
            queue!(out, MoveTo(0, row))?;
            write!(out, "{line}")?;
            queue!(out, Clear(ClearType::UntilNewLine))?;
        }
        queue!(out, Clear(ClearType::FromCursorDown))?;
        out.flush()
    }

    /// Waits until `until`, for a key that ends it, or for a new size.
    /// # Errors  if the terminal is gone.
    pub fn wait(&mut self, until: Instant, interrupts: &Interrupts) -> std::io::Result<Woken> {
        loop {
            if interrupts.is_asked() {
                return Ok(Woken::Quit);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Woken::Draw);
            }
            if !event::poll(left.min(GLANCE))? {
                continue;
            }
            match event::read()? {
                Event::Resize(..) => return Ok(Woken::Draw),
                Event::Key(key) if key.kind != KeyEventKind::Release => match key.code {
                    KeyCode::Char('q' | 'Q') | KeyCode::Esc => return Ok(Woken::Quit),
                    KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                        return Ok(Woken::Quit);
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back. Nothing can be done about a failure, and a second call does no harm.
fn restore() {
    let _ = execute!(stdout(), Show, LeaveAlternateScreen);
    let _ = terminal::disable_raw_mode();
}

//! What the host and the agent in the guest say to each other over a port: messages in postcard, each
//! behind its length in four bytes, least significant first.
//!
//! The order: the agent says [`ToHost::Ready`]; the host sends one [`ToGuest::Start`], then input and signals as they come;
//! the agent sends output and at last [`ToHost::Ended`]. Both ends come from one build, so there is no version.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// The port of messages.
pub const AGENT_PORT: &str = "olifant-agent";
/// The port that carries FUSE requests out of the guest and replies into it, as the kernel frames them.
pub const FILES_PORT: &str = "olifant-files";

/// No message is longer; a length above it means that the two ends lost step.
const LONGEST_MESSAGE_BYTES: u32 = 64 << 20;
/// How much input or output one message carries.
pub const CHUNK_BYTES: usize = 32 << 10;

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The program and its arguments.
    pub command: Vec<Vec<u8>>,
    /// Its environment.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// The folder that it starts in.
    pub folder: Vec<u8>,
    /// The executable of olifant. Its folder, and that of the command, are to be seen even where the guest has a
    /// temporary file system of its own above them.
    pub olifant: Vec<u8>,
    /// Run it on a terminal of this size.
    pub terminal: Option<TerminalSize>,
    /// The time on the host since 1970: a continued guest has slept.
    pub seconds: i64,
    /// Random bytes of the host: two guests continued from one state must not draw the same numbers.
    pub entropy: Vec<u8>,
}

/// A message into the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToGuest {
    /// Run a command.
    Start(Start),
    /// Bytes for its standard input.
    Input(Vec<u8>),
    /// Its standard input ends.
    EndOfInput,
    /// A signal for it, by number.
    Signal(i32),
    /// The terminal has a new size.
    Resize(TerminalSize),
}

/// A message out of the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToHost {
    /// The agent waits for a command.
    Ready,
    /// Bytes of the command's standard output.
    Output(Vec<u8>),
    /// Bytes of its standard error.
    Error(Vec<u8>),
    /// The command ended with this code; 128 + n for a signal n.
    Ended(i32),
    /// The guest could not be made ready for the command.
    Failed(String),
}

/// Sends one message.
/// # Errors  Those of the port.
pub fn send(port: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let mut framed = length.to_le_bytes().to_vec();
    framed.extend_from_slice(&bytes);
    port.write_all(&framed)?;
    port.flush()
}

/// Receives one message; `None` where the other end is gone.
/// # Errors  Those of the port, and `InvalidData` for what is no message.
pub fn receive<M: DeserializeOwned>(port: &mut impl Read) -> io::Result<Option<M>> {
    let mut length = [0; 4];
    let got = loop {
        match port.read(&mut length) {
            // A signal ends a read of a socket that has a time limit.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            got => break got?,
        }
    };
    if got == 0 {
        return Ok(None);
    }
    port.read_exact(&mut length[got..])?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST_MESSAGE_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of {length} bytes")));
    }
    let mut bytes = Vec::new();
    port.by_ref().take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() != length as usize {
        return Ok(None);
    }
    postcard::from_bytes(&bytes).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_in_order_and_whole() {
        let sent = [ToHost::Ready, ToHost::Output(vec![0; 70_000]), ToHost::Ended(3)];
        let mut wire = Vec::new();
        for message in &sent {
            send(&mut wire, message).unwrap();
        }
        let mut port = wire.as_slice();
        for message in sent {
            assert_eq!(receive(&mut port).unwrap(), Some(message));
        }
        assert_eq!(receive::<ToHost>(&mut port).unwrap(), None);
    }

    #[test]
    fn a_signal_does_not_end_the_reading() {
        /// Interrupted before every byte.
        struct Interrupted<'b>(&'b [u8], bool);
        impl Read for Interrupted<'_> {
            fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
                self.1 = !self.1;
                if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(&mut bytes[..1]) }
            }
        }
        let mut wire = Vec::new();
        send(&mut wire, &ToHost::Ended(3)).unwrap();
        assert_eq!(receive(&mut Interrupted(&wire, false)).unwrap(), Some(ToHost::Ended(3)));
    }

    #[test]
    fn a_torn_message_is_the_end_and_an_absurd_length_an_error() {
        let mut wire = Vec::new();
        send(&mut wire, &ToHost::Output(vec![1; 100])).unwrap();
        wire.truncate(50);
        assert_eq!(receive::<ToHost>(&mut wire.as_slice()).unwrap(), None);
        assert!(receive::<ToHost>(&mut [0xff_u8; 8].as_slice()).is_err());
    }
}

//! Sockets at which clients connect.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::process::umask;
use ssdlab::error::{Error, Result};

use crate::connection::Stream;

/// Maximum length of a Unix socket's path, bytes.
const LONGEST_PATH: usize = 107;

/// Address of the socket at which the drive is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket, which its owner alone may use.
    Unix(PathBuf),
    /// Host and port.
    Tcp(String),
}

/// A socket that listens. A Unix socket is removed when it is dropped.
pub enum Listener {
    /// A Unix socket, with its path.
    Unix(UnixListener, PathBuf),
    /// A TCP socket.
    Tcp(TcpListener),
}

impl Listener {
    /// Opens a socket and listens. `remote`: also at addresses that other machines reach.
    ///
    /// # Errors
    /// [`Error::Usage`] for an address that is in use, or that other machines reach without `remote`; [`Error::Io`].
    pub fn open(address: &Address, remote: bool) -> Result<Self> {
        let listener = match address {
            Address::Unix(path) => Listener::Unix(bind_unix(path)?, path.clone()),
            Address::Tcp(address) => Listener::Tcp(bind_tcp(address, remote)?),
        };
        let set = match &listener {
            Listener::Unix(listener, _) => listener.set_nonblocking(true),
            Listener::Tcp(listener) => listener.set_nonblocking(true),
        };
        set.map_err(|source| Error::io("listen at", Path::new(&listener.place()), source))?;
        Ok(listener)
    }

    /// URI by which clients connect.
    pub fn uri(&self) -> String {
        match self {
            Listener::Unix(_, path) => format!("nbd+unix:///?socket={}", path.display()),
            Listener::Tcp(_) => format!("nbd://{}", self.place()),
        }
    }

    fn place(&self) -> String {
        match self {
            Listener::Unix(_, path) => path.display().to_string(),
            Listener::Tcp(listener) => listener.local_addr().map_or_else(|_| "?".to_string(), |address| address.to_string()),
        }
    }

    /// File descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix(listener, _) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }

    /// Accepts a client that waits, if any.
    ///
    /// # Errors
    /// Errors of the system, such as too many open files.
    pub fn accept(&self) -> io::Result<Option<Stream>> {
        let accepted = match self {
            Listener::Unix(listener, _) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(true)?;
                Ok(Stream::Unix(stream))
            }),
            Listener::Tcp(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }),
        };
        match accepted {
            Ok(stream) => Ok(Some(stream)),
            Err(reason) if matches!(reason.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {
                Ok(None)
            }
            Err(reason) => Err(reason),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            let _ = fs::remove_file(path); // it may be gone
        }
    }
}

/// Binds a Unix socket. Replaces a socket file that a killed server left, but not one at which a server listens.
fn bind_unix(path: &Path) -> Result<UnixListener> {
    let failed = |source| Error::io("listen at", path, source);
    let length = path.as_os_str().len();
    if length > LONGEST_PATH {
        return Err(Error::Usage(format!(
            "a socket's path may have {LONGEST_PATH} bytes, and this has {length}: take a shorter one, as unix:/tmp/drive.sock"
        )));
    }
    if let Ok(about) = fs::symlink_metadata(path) {
        if !about.file_type().is_socket() {
            return Err(Error::Usage(format!("{}: there is a file that is no socket; take another path", path.display())));
        }
        match UnixStream::connect(path) {
            Ok(_) => return Err(Error::Usage(format!("{}: another server listens there; take another path", path.display()))),
            Err(reason) if reason.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path).map_err(failed)?,
            Err(reason) => return Err(failed(reason)),
        }
    }
    // Only its owner may use the socket, from its first moment on.
    let before = umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
    let bound = UnixListener::bind(path);
    umask(before);
    bound.map_err(failed)
}

fn bind_tcp(address: &str, remote: bool) -> Result<TcpListener> {
    let expected = "expected a host and a port, as localhost:10809, or unix: and a path";
    let found: Vec<_> = address.to_socket_addrs().map_err(|reason| Error::Usage(format!("{address}: {reason}; {expected}")))?.collect();
    if let Some(reachable) = found.iter().find(|place| !place.ip().is_loopback())
        && !remote
    {
        return Err(Error::Usage(format!(
            "{address}: anybody who reaches {} could read and write the drive, since NBD asks for no password; take localhost, or say that \
             this is meant (--allow-remote)",
            reachable.ip()
        )));
    }
    TcpListener::bind(&found[..]).map_err(|reason| match reason.kind() {
        ErrorKind::AddrInUse => Error::Usage(format!("{address}: another server listens there; take another port")),
        _ => Error::io("listen at", Path::new(address), reason),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn said(address: &Address, remote: bool) -> String {
        Listener::open(address, remote).err().expect("refused").to_string()
    }

    #[test]
    fn a_socket_is_its_owners_and_goes_with_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let address = Address::Unix(path.clone());
        let listener = Listener::open(&address, false).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(listener.uri().ends_with("/socket"));
        assert!(said(&address, false).contains("another server"));
        assert!(listener.accept().unwrap().is_some(), "who looked whether somebody listens");
        assert!(listener.accept().unwrap().is_none());
        drop(listener);
        assert!(!path.exists());
        // A socket file as a killed server leaves it.
        drop(UnixListener::bind(&path).unwrap());
        drop(Listener::open(&address, false).unwrap());
        fs::write(&path, "data").unwrap();
        assert!(said(&address, false).contains("no socket"));
        assert_eq!(fs::read(&path).unwrap(), b"data");
    }

    #[test]
    fn others_reach_the_drive_only_if_that_is_meant() {
        let tcp = |address: &str| Address::Tcp(address.to_string());
        assert!(said(&tcp("0.0.0.0:0"), false).contains("--allow-remote"));
        assert!(said(&tcp("localhost"), false).contains("expected a host and a port"));
        let listener = Listener::open(&tcp("127.0.0.1:0"), false).unwrap();
        let place = listener.uri().strip_prefix("nbd://").unwrap().to_string();
        assert!(said(&tcp(&place), false).contains("another port"));
        drop(Listener::open(&tcp("0.0.0.0:0"), true).unwrap());
    }
}

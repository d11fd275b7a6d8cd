//! What the supervisor and its parent say to each other, byte for byte.

/// What the supervisor says to its parent: a kind and a number.
pub(super) struct Message;

impl Message {
    pub(super) const LEN: usize = 8;
    /// The process id of the command.
    pub(super) const STARTED: i32 = 1;
    /// The error number of `chdir`.
    pub(super) const NOT_ENTERED: i32 = 2;
    /// The error number of `execve`, or of what comes before it.
    pub(super) const NOT_STARTED: i32 = 3;
    /// The exit status of the command, when it left something behind. When it did not, the supervisor
    /// has nothing to stay for and exits with that status itself.
    pub(super) const EXITED: i32 = 4;

    pub(super) fn from_bytes([a, b, c, d, e, f, g, h]: [u8; Self::LEN]) -> (i32, i32) {
        (i32::from_ne_bytes([a, b, c, d]), i32::from_ne_bytes([e, f, g, h]))
    }

    pub(super) fn to_bytes(kind: i32, value: i32) -> [u8; Self::LEN] {
        let ([a, b, c, d], [e, f, g, h]) = (kind.to_ne_bytes(), value.to_ne_bytes());
        [a, b, c, d, e, f, g, h]
    }
}

/// What the parent tells the supervisor; the end of the link means [`Order::KILL`].
pub(super) struct Order;

impl Order {
    /// End everything.
    pub(super) const KILL: u8 = b'k';
    /// Leave everything as it is.
    pub(super) const DETACH: u8 = b'd';
}

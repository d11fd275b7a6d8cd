//! Finding and killing the children of this process, whoever started them. Runs after a fork: no
//! allocation, no panic, system calls only.

use libc::pid_t;

/// Sends SIGKILL to every child, and to the whole group of one that leads its group or is in
/// `group`. Children that come later are not seen. Does nothing without a /proc that is ours.
///
/// # Safety
/// For the supervisor alone: all children of the process must be its to kill.
#[cfg(target_os = "linux")]
pub(super) unsafe fn kill_children(group: pid_t) {
    /// `struct linux_dirent64`: inode, offset, record length, type, name.
    const LEN_AT: usize = 16;
    const NAME_AT: usize = 19;
    #[repr(align(8))]
    struct Records([u8; 4096]);
    // SAFETY: system calls on buffers of the length said.
    unsafe {
        let own = libc::getpid();
        let proc = libc::open(c"/proc".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC);
        if proc == -1 {
            return;
        }
        if own_number(proc) == Some(own) {
            let mut records = Records([0; 4096]);
            loop {
                let room = records.0.len();
                let got = libc::syscall(libc::SYS_getdents64, proc, records.0.as_mut_ptr(), room);
                let Some(mut rest) = usize::try_from(got).ok().and_then(|got| records.0.get(..got)) else {
                    break;
                };
                if rest.is_empty() {
                    break;
                }
                while let Some(&[low, high]) = rest.get(LEN_AT..LEN_AT + 2) {
                    if let Some(pid) = rest.get(NAME_AT..).and_then(number) {
                        kill_if_child(proc, pid, own, group);
                    }
                    rest = rest.get(usize::from(u16::from_ne_bytes([low, high])).max(1)..).unwrap_or(&[]);
                }
            }
        }
        libc::close(proc);
    }
}

/// Elsewhere nothing is adopted.
#[cfg(not(target_os = "linux"))]
pub(super) unsafe fn kill_children(_group: pid_t) {}

/// What /proc calls this process: another number, and its numbers are not those `kill` takes.
unsafe fn own_number(proc: libc::c_int) -> Option<pid_t> {
    let mut name = [0; 16];
    // SAFETY: the buffer is as long as said.
    let len = unsafe { libc::readlinkat(proc, c"self".as_ptr(), name.as_mut_ptr().cast(), name.len() - 1) };
    if len > 0 { number(&name) } else { None }
}

unsafe fn kill_if_child(proc: libc::c_int, pid: pid_t, own: pid_t, group: pid_t) {
    let mut stat = [0; 512];
    // SAFETY: the path ends in NUL, the buffer is as long as said.
    let len = unsafe {
        let file = libc::openat(proc, stat_path(pid).as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file == -1 {
            return;
        }
        let len = libc::read(file, stat.as_mut_ptr().cast(), stat.len());
        libc::close(file);
        len
    };
    let Some((parent, its_group)) =
        usize::try_from(len).ok().and_then(|len| stat.get(..len)).and_then(parent_and_group)
    else {
        return;
    };
    if parent == own {
        let is_ours = its_group == pid || its_group == group;
        // SAFETY: `pid` is a child that is not reaped, so no other process has its number, and its
        // group, which has it as a member, was made by it or by the command.
        unsafe { libc::kill(if is_ours { -its_group } else { pid }, libc::SIGKILL) };
    }
}

/// `PID/stat`, NUL at the end.
fn stat_path(pid: pid_t) -> [u8; 24] {
    const SUFFIX: &[u8] = b"/stat";
    let mut path = [0; 24];
    let digits = {
        let mut count = 1;
        let mut rest = pid / 10;
        while rest > 0 {
            count += 1;
            rest /= 10;
        }
        count
    };
    let mut rest = pid;
    for place in path.iter_mut().take(digits).rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    for (place, byte) in path.iter_mut().skip(digits).zip(SUFFIX) {
        *place = *byte;
    }
    path
}

/// The fields behind the command name, which may hold anything, parentheses and blanks too.
fn parent_and_group(stat: &[u8]) -> Option<(pid_t, pid_t)> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = stat.get(end + 1..)?.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let _state = fields.next()?;
    Some((number(fields.next()?)?, number(fields.next()?)?))
}

/// The decimal number that ends at the end of the text or at its first NUL.
fn number(text: &[u8]) -> Option<pid_t> {
    let mut value: pid_t = 0;
    let mut has_digits = false;
    for byte in text.iter().take_while(|byte| **byte != 0) {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(pid_t::from(*byte - b'0'))?;
        has_digits = true;
    }
    has_digits.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_cannot_pose_as_the_fields_behind_it() {
        let stat = b"12 (a) S 1 1 (b)) R 345 678 678 0 -1";
        assert_eq!(parent_and_group(stat), Some((345, 678)));
        assert_eq!(parent_and_group(b"12 (a) S"), None);
        assert_eq!(parent_and_group(b""), None);
    }

    #[test]
    fn paths_and_numbers() {
        assert_eq!(&stat_path(7)[..7], b"7/stat\0");
        assert_eq!(&stat_path(4_194_304)[..13], b"4194304/stat\0");
        assert_eq!(&stat_path(pid_t::MAX)[..16], b"2147483647/stat\0");
        assert_eq!(number(b"4194304\0rest"), Some(4_194_304));
        for no_number in [&b""[..], b"\0", b"self", b"12a", b"99999999999"] {
            assert_eq!(number(no_number), None);
        }
    }
}

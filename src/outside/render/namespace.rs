//! A worker in namespaces of its own, for a service that runs without systemd: a child process that the kernel gives a
//! network with nothing but a loopback.

use std::io;
use std::path::Path;
use std::process::Stdio;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};
use tokio::process::{Child, Command};

/// A worker for one job, which it reads from its standard input. It makes a process group of its own.
pub(super) fn spawn_worker(program: &Path, egress: &Path, scratch: &Path) -> io::Result<Child> {
    Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--"])
        .arg(program)
        .args(["browser", "--once", "--egress"])
        .arg(egress)
        .arg("--scratch")
        .arg(scratch)
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// RTM_NEWLINK for interface 1, the loopback, with the flag "up" set (rtnetlink(7)).
fn loopback_up() -> Vec<u8> {
    const LENGTH: u32 = 32;
    const RTM_NEWLINK: u16 = 16;
    // A request that is to be acknowledged.
    const FLAGS: u16 = 0x1 | 0x4;
    const SEQUENCE: u32 = 1;
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;
    let mut message = Vec::new();
    message.extend(LENGTH.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    message.extend(SEQUENCE.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    // Family, padding and type are left open.
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message
}

/// Switches the loopback of a new network namespace on.
pub fn raise_loopback() -> io::Result<()> {
    // NETLINK_ROUTE is protocol 0.
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let kernel = SocketAddrNetlink::new(0, 0);
    sendto(&socket, &loopback_up(), SendFlags::empty(), &kernel)?;
    let mut answer = [0; 256];
    recv(&socket, &mut answer, RecvFlags::empty())?;
    // An acknowledgement is an error message whose number, behind the header of 16 bytes, is 0.
    let number = answer[16..20].try_into().map_or(0, i32::from_ne_bytes);
    match number {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

/// Network interfaces through which anything but this namespace can be reached: those with a route, or with an address of
/// IPv6. A new namespace may have others, such as tunnels of a loaded module, which lead nowhere.
pub fn ways_out() -> io::Result<Vec<String>> {
    let routes = read_if_there("/proc/net/route")?;
    let addresses = read_if_there("/proc/net/if_inet6")?;
    let routed = routes
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    let addressed = addresses
        .lines()
        .filter_map(|line| line.split_whitespace().last());
    let mut names: Vec<String> = routed.chain(addressed).map(str::to_owned).collect();
    names.retain(|name| name != "lo");
    names.sort();
    names.dedup();
    Ok(names)
}

/// A file of /proc; one that is not there is empty, as for a protocol that the kernel lacks.
fn read_if_there(path: &str) -> io::Result<String> {
    match std::fs::read_to_string(path) {
        Err(error)
            if error.kind() == io::ErrorKind::NotFound && Path::new("/proc/net").exists() =>
        {
            Ok(String::new())
        }
        read => read,
    }
}

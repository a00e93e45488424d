//! Names to addresses, and a checked address to the socket that is really dialled. Nobody else looks a name up for a
//! target.
//!
//! The lookup of the operating system (getaddrinfo) cannot be interrupted, so it runs on a few threads of its own
//! behind a bounded queue: a name whose server never answers holds one thread, however often it is asked for, and
//! never the caller.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::net::{AddrParseError, IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::domain::target::{TargetError, TargetUrl, check_answers};

/// Callers that may wait for one and the same name.
const WAITERS_MAX: usize = 64;

/// Bounds of name resolution.
#[derive(Clone, Copy, Debug)]
pub struct NetworkSettings {
    /// Lookups that run at once.
    pub threads: usize,
    /// Lookups that may wait for a thread; one more is [`ResolveError::Busy`].
    pub queue_max: usize,
    /// How long a caller waits for an answer.
    pub lookup_max: Duration,
    /// How long an answer with addresses is used again.
    pub positive_max: Duration,
    /// How long a failure is used again.
    pub negative_max: Duration,
    /// Names that are remembered.
    pub names_max: usize,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        NetworkSettings {
            threads: 8,
            queue_max: 64,
            lookup_max: Duration::from_secs(5),
            positive_max: Duration::from_secs(30),
            negative_max: Duration::from_secs(5),
            names_max: 1_024,
        }
    }
}

/// One entry of `[lab] hosts`: the name stands for `address`, through which every check runs unchanged, and what is
/// dialled for it is `dial`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabHost {
    pub address: IpAddr,
    /// Always on loopback, so that an entry cannot open a way anywhere else.
    pub dial: SocketAddr,
}

impl LabHost {
    /// Reads `93.184.216.34@127.0.0.1:8081`.
    pub fn parse(text: &str) -> Result<Self, LabHostError> {
        let (address, dial) = text.split_once('@').ok_or(LabHostError::NoAt)?;
        let address = address.parse().map_err(LabHostError::Address)?;
        let dial: SocketAddr = dial.parse().map_err(LabHostError::Address)?;
        if dial.ip().is_loopback() {
            Ok(LabHost { address, dial })
        } else {
            Err(LabHostError::NotLoopback(dial.ip()))
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabHostError {
    NoAt,
    Address(AddrParseError),
    NotLoopback(IpAddr),
}

impl fmt::Display for LabHostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabHostError::NoAt => {
                f.write_str("A lab host must be written ADDRESS@LOOPBACK:PORT, like 93.184.216.34@127.0.0.1:8081")
            }
            LabHostError::Address(error) => write!(f, "A lab host must be written ADDRESS@LOOPBACK:PORT: {error}"),
            LabHostError::NotLoopback(address) => {
                write!(f, "A lab host may dial loopback addresses only, and {address} is not one")
            }
        }
    }
}

impl std::error::Error for LabHostError {}

/// Hosts that are refused as targets although they may be public: our own, so that the service never fetches itself
/// in circles, the facilitator's, and whatever the operator lists.
#[derive(Clone, Debug, Default)]
pub struct ForbiddenHosts {
    names: HashSet<String>,
    addresses: HashSet<IpAddr>,
}

impl ForbiddenHosts {
    /// Each text is a host name, or an address with or without brackets. A name forbids itself and its subdomains, with
    /// or without `*.` before it and in any spelling that a URL may have; an address forbids every name that resolves
    /// to it as well.
    pub fn new<'a>(hosts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut forbidden = ForbiddenHosts::default();
        for host in hosts {
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            match bare.parse() {
                Ok(address) => {
                    forbidden.addresses.insert(address);
                }
                Err(_) => {
                    let name = host.strip_prefix("*.").unwrap_or(host);
                    let name = name.strip_suffix('.').unwrap_or(name);
                    let canonical = url::Host::parse(name).map(|host| host.to_string());
                    forbidden
                        .names
                        .insert(canonical.unwrap_or_else(|_| name.to_ascii_lowercase()));
                }
            }
        }
        forbidden
    }

    fn holds(&self, host: &str, addresses: &[IpAddr]) -> bool {
        let mut names = std::iter::successors(Some(host), |name| {
            name.split_once('.').map(|(_, parent)| parent)
        });
        names.any(|name| self.names.contains(name))
            || addresses
                .iter()
                .any(|address| self.addresses.contains(address))
    }
}

type Lookup = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Where names lead. Cheap to clone; its threads end with the last clone.
#[derive(Clone)]
pub struct Network {
    shared: Arc<Shared>,
}

struct Shared {
    settings: NetworkSettings,
    lab: HashMap<String, LabHost>,
    forbidden: ForbiddenHosts,
    /// Also held by the threads, which must not hold the queue's sending end.
    names: Arc<Mutex<Names>>,
    queue: SyncSender<String>,
}

impl Network {
    /// Starts the threads. `lab` maps host names as they stand in URLs.
    pub fn new(
        settings: NetworkSettings,
        lab: HashMap<String, LabHost>,
        forbidden: ForbiddenHosts,
    ) -> io::Result<Self> {
        let entries = lab.clone();
        Network::with_lookup(settings, lab, forbidden, move |name| {
            match entries.get(name) {
                Some(host) => Ok(vec![host.address]),
                None => system_lookup(name),
            }
        })
    }

    /// The seam of tests: answers come from `lookup`, everything else is as in [`Network::new`].
    pub(crate) fn with_lookup(
        settings: NetworkSettings,
        lab: HashMap<String, LabHost>,
        forbidden: ForbiddenHosts,
        lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let lookup: Arc<Lookup> = Arc::new(lookup);
        let names = Arc::new(Mutex::new(Names::default()));
        let (queue, waiting) = sync_channel(settings.queue_max);
        let waiting = Arc::new(Mutex::new(waiting));
        for index in 0..settings.threads {
            let (waiting, names, lookup) = (waiting.clone(), names.clone(), lookup.clone());
            std::thread::Builder::new()
                .name(format!("resolver-{index}"))
                .spawn(move || work(&waiting, &names, &settings, &*lookup))?;
        }
        let shared = Shared {
            settings,
            lab,
            forbidden,
            names,
            queue,
        };
        Ok(Network {
            shared: Arc::new(shared),
        })
    }

    /// The addresses of a target's host, every one of them checked. Blocks until `deadline` at the latest.
    pub fn checked_addresses(
        &self,
        target: &TargetUrl,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, ResolveError> {
        if self.shared.forbidden.holds(target.host(), &[]) {
            return Err(ResolveError::OwnHost);
        }
        let addresses = match target.literal_address() {
            Some(address) => vec![address],
            None => self.addresses(target.host(), deadline)?,
        };
        check_answers(&addresses).map_err(ResolveError::Refused)?;
        if self.shared.forbidden.holds(target.host(), &addresses) {
            return Err(ResolveError::OwnHost);
        }
        Ok(addresses)
    }

    /// Whether a target's host is refused by its name, or as an address, before any lookup.
    pub fn is_forbidden(&self, target: &TargetUrl) -> bool {
        let literal: Vec<IpAddr> = target.literal_address().into_iter().collect();
        self.shared.forbidden.holds(target.host(), &literal)
    }

    /// What is really dialled for a checked address of `host`: itself, unless `[lab] hosts` says otherwise.
    pub fn dialled(&self, host: &str, address: IpAddr, port: u16) -> SocketAddr {
        match self.shared.lab.get(host) {
            Some(lab) if lab.address == address => lab.dial,
            _ => SocketAddr::new(address, port),
        }
    }

    /// Whether the name is one of `[lab] hosts`.
    pub fn is_lab_host(&self, host: &str) -> bool {
        self.shared.lab.contains_key(host)
    }

    fn addresses(&self, name: &str, deadline: Instant) -> Result<Vec<IpAddr>, ResolveError> {
        let now = Instant::now();
        let wait = deadline
            .saturating_duration_since(now)
            .min(self.shared.settings.lookup_max);
        let answer = {
            let mut names = lock(&self.shared.names);
            if let Some(known) = names.known.get(name).filter(|known| known.until > now) {
                return known.answer.clone();
            }
            names.ask(name, &self.shared.queue)?
        };
        answer
            .recv_timeout(wait)
            .unwrap_or(Err(ResolveError::TimedOut))
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("settings", &self.shared.settings)
            .field("lab", &self.shared.lab)
            .finish_non_exhaustive()
    }
}

type Answer = Result<Vec<IpAddr>, ResolveError>;

/// What is known, and who waits for what is being asked.
#[derive(Default)]
struct Names {
    known: HashMap<String, Known>,
    waiting: HashMap<String, Vec<Sender<Answer>>>,
}

struct Known {
    answer: Answer,
    until: Instant,
}

impl Names {
    /// Joins the lookup of this name that is under way, or queues one.
    fn ask(
        &mut self,
        name: &str,
        queue: &SyncSender<String>,
    ) -> Result<Receiver<Answer>, ResolveError> {
        let (answer, receiver) = channel();
        if let Some(waiters) = self.waiting.get_mut(name) {
            if waiters.len() >= WAITERS_MAX {
                return Err(ResolveError::Busy);
            }
            waiters.push(answer);
            return Ok(receiver);
        }
        match queue.try_send(name.to_owned()) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                return Err(ResolveError::Busy);
            }
        }
        self.waiting.insert(name.to_owned(), vec![answer]);
        Ok(receiver)
    }

    fn learn(&mut self, name: String, answer: Answer, settings: &NetworkSettings, now: Instant) {
        for waiter in self.waiting.remove(&name).into_iter().flatten() {
            // A caller that has given up is no longer listening.
            let _ = waiter.send(answer.clone());
        }
        if self.known.len() >= settings.names_max {
            self.known.retain(|_, known| known.until > now);
        }
        if self.known.len() >= settings.names_max {
            self.known.clear();
        }
        let lifetime = match &answer {
            Ok(_) => settings.positive_max,
            Err(_) => settings.negative_max,
        };
        let until = now + lifetime;
        self.known.insert(name, Known { answer, until });
    }
}

/// The life of one resolver thread: until the queue's sending end is gone.
fn work(
    queue: &Mutex<Receiver<String>>,
    names: &Mutex<Names>,
    settings: &NetworkSettings,
    lookup: &Lookup,
) {
    loop {
        let next = lock(queue).recv();
        let Ok(name) = next else {
            return;
        };
        let answer = match lookup(&name) {
            Ok(addresses) if !addresses.is_empty() => Ok(addresses),
            Ok(_) | Err(_) => Err(ResolveError::Failed),
        };
        lock(names).learn(name, answer, settings, Instant::now());
    }
}

/// Nothing here panics while it holds a lock, and a half-made change could not be told from a whole one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// getaddrinfo, each address once and in its order of preference.
fn system_lookup(name: &str) -> io::Result<Vec<IpAddr>> {
    // The final dot makes the name absolute. Without it a search list in resolv.conf could lead a public name that
    // does not exist to a private one that does.
    let sockets = (format!("{name}.").as_str(), 0).to_socket_addrs()?;
    let mut addresses = Vec::new();
    for socket in sockets {
        if !addresses.contains(&socket.ip()) {
            addresses.push(socket.ip());
        }
    }
    Ok(addresses)
}

/// Why a host gave no addresses to dial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveError {
    /// Our own host or one that the operator forbids.
    OwnHost,
    /// The name does not exist, has no address, or its servers failed.
    Failed,
    /// No answer in time.
    TimedOut,
    /// Too many lookups are waiting already: this service's own shortage.
    Busy,
    Refused(TargetError),
}

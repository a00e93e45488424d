//! DNS lookups for targets, and the connection to a checked address. Only this module resolves target names.
//!
//! Lookups run on their own thread, each with a deadline. Paid and free lookups have separate limits, so that quotes for
//! names with dead servers never block sales.

pub(super) mod dns;
#[cfg(test)]
#[path = "../../tests/it/harness/name_server.rs"]
mod name_server;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::net::{AddrParseError, IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::time::timeout;

use crate::domain::limit_reached::LimitReached;
use crate::domain::target::{TargetError, TargetUrl, check_answers};
use crate::outside::call::KeyedLimit;
use crate::outside::network::dns::{Failure, Resolver};
use crate::sync::{lock, read_lock, write_lock};

pub use crate::outside::network::dns::NameServers;

/// Lookups that nobody pays for (quotes, previews) that may be under way at once, where as many pages may be fetched.
const FREE_PLACES: usize = 16;
/// Of those, how many one client may have, and how many may be for names under one registrable domain.
const FREE_PLACES_OF_EACH: usize = 2;
/// Callers that may wait for each place; one more is [`ResolveError::Busy`] at once.
const WAITERS_OF_PLACE_MAX: usize = 8;
/// Who has joined a lookup that then timed out begins another one, if there is so much time left.
const JOINED_AGAIN_MIN: Duration = Duration::from_secs(1);

/// Bounds of name resolution.
#[derive(Clone, Copy, Debug)]
pub struct NetworkSettings {
    /// Lookups for buyers at once; one more waits for a place, and eight times as many may wait.
    pub paid_places: usize,
    /// Lookups at once that nobody pays for; one more waits for a place, and eight times as many may wait.
    pub free_places: usize,
    /// Lookups at once that nobody pays for, for one client, and for names under one registrable domain.
    pub free_places_of_each: usize,
    /// How long a lookup for a buyer waits for a place; after it [`ResolveError::Busy`].
    pub paid_wait_max: Duration,
    /// How long a lookup that nobody pays for waits for its places together; after it [`ResolveError::Busy`].
    pub free_wait_max: Duration,
    /// How long the name servers have for a name; after it [`ResolveError::TimedOut`].
    pub lookup_max: Duration,
    /// How long an answer with addresses is used again.
    pub positive_max: Duration,
    /// How long a failure is used again. One that may pass is not used for a buyer.
    pub negative_max: Duration,
    /// Names that are remembered.
    pub names_max: usize,
}

impl NetworkSettings {
    /// For a service that fetches `fetches_max` pages and `robots_max` robots.txt at once. Each of these may look a name
    /// up behind a redirect, while as many sales as there are fetches look theirs up before they take a place.
    pub fn for_fetches(fetches_max: usize, robots_max: usize) -> Self {
        NetworkSettings {
            paid_places: 2 * fetches_max + robots_max,
            free_places: FREE_PLACES.min(fetches_max),
            free_places_of_each: FREE_PLACES_OF_EACH,
            paid_wait_max: Duration::from_secs(5),
            free_wait_max: Duration::from_secs(2),
            lookup_max: Duration::from_secs(5),
            positive_max: Duration::from_secs(30),
            negative_max: Duration::from_secs(5),
            names_max: 1_024,
        }
    }

    /// Sockets that lookups have open at most: each asks for both kinds of addresses.
    pub fn descriptors_max(&self) -> usize {
        2 * (self.paid_places + self.free_places)
    }
}

impl Default for NetworkSettings {
    fn default() -> Self {
        NetworkSettings::for_fetches(FREE_PLACES, 0)
    }
}

/// On whose behalf a name is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requester {
    /// A verified payment or a paid order, or the operator's own command.
    Buyer,
    /// Somebody who pays nothing for it, by the client's address; `None` is the operator.
    Client(Option<IpAddr>),
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

/// Where names lead. Cheap to clone; its thread ends with the last clone.
#[derive(Clone)]
pub struct Network {
    inner: Arc<Inner>,
}

struct Inner {
    settings: NetworkSettings,
    lab: HashMap<String, LabHost>,
    /// Our own hosts, which stay the same.
    forbidden: ForbiddenHosts,
    /// What the operator blocks, which may change while the service runs.
    blocked: RwLock<ForbiddenHosts>,
    source: Arc<Source>,
    names: Arc<Mutex<Names>>,
    paid: Arc<Semaphore>,
    free: Arc<Semaphore>,
    free_of_client: KeyedLimit,
    free_of_domain: KeyedLimit,
    /// Callers that may be waiting for a place, of each kind.
    paid_waiters: Semaphore,
    free_waiters: Semaphore,
    /// Runs the lookups.
    thread: Handle,
    /// Dropped with this, which ends the thread.
    _stop: oneshot::Sender<()>,
}

/// Who answers.
enum Source {
    Dns(Resolver),
    /// Answers at once, or fails as a name server does that cannot tell.
    #[cfg(test)]
    Fake(Fake),
}

/// In unit tests: answers in the place of name servers.
#[cfg(test)]
type Fake = Box<dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync>;

impl Network {
    /// Starts the thread. `lab` maps host names as they stand in URLs. A name of `lab` has the address that stands
    /// there; with name servers of the lab's own these are asked for it like for any other.
    pub fn new(
        settings: NetworkSettings,
        name_servers: NameServers,
        lab: HashMap<String, LabHost>,
        forbidden: ForbiddenHosts,
    ) -> io::Result<Self> {
        let mut names = Names::default();
        if name_servers == NameServers::System {
            let fixed = lab.iter().map(|(name, host)| (name.clone(), host.address));
            names.fixed = fixed.collect();
        }
        let source = Source::Dns(Resolver::new(name_servers));
        Network::of(settings, source, names, lab, forbidden)
    }

    /// The seam of tests: answers come from `lookup`, which must not block; everything else is as in
    /// [`Network::new`].
    #[cfg(test)]
    pub(crate) fn with_lookup(
        settings: NetworkSettings,
        lab: HashMap<String, LabHost>,
        forbidden: ForbiddenHosts,
        lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let source = Source::Fake(Box::new(lookup));
        Network::of(settings, source, Names::default(), lab, forbidden)
    }

    fn of(
        settings: NetworkSettings,
        source: Source,
        names: Names,
        lab: HashMap<String, LabHost>,
        forbidden: ForbiddenHosts,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let thread = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::Builder::new()
            .name("resolver".to_owned())
            .spawn(move || {
                // An error: the sending end is gone, which is the sign to stop.
                let _ = runtime.block_on(stopped);
            })?;
        let of_each = || KeyedLimit::new(settings.free_places_of_each, settings.free_wait_max);
        Ok(Network {
            inner: Arc::new(Inner {
                settings,
                lab,
                forbidden,
                blocked: RwLock::new(ForbiddenHosts::new([])),
                source: Arc::new(source),
                names: Arc::new(Mutex::new(names)),
                paid: Arc::new(Semaphore::new(settings.paid_places)),
                free: Arc::new(Semaphore::new(settings.free_places)),
                free_of_client: of_each(),
                free_of_domain: of_each(),
                paid_waiters: Semaphore::new(settings.paid_places * WAITERS_OF_PLACE_MAX),
                free_waiters: Semaphore::new(settings.free_places * WAITERS_OF_PLACE_MAX),
                thread,
                _stop: stop,
            }),
        })
    }

    /// [`Network::checked`] for a buyer, from a thread that may block.
    ///
    /// # Panics
    /// On an async thread.
    pub fn checked_addresses(
        &self,
        target: &TargetUrl,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, ResolveError> {
        let checked = self.checked(target, Requester::Buyer, deadline);
        self.inner.thread.block_on(checked)
    }

    /// The addresses of a target's host, every one of them checked. Ends by `deadline`.
    pub async fn checked(
        &self,
        target: &TargetUrl,
        requester: Requester,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, ResolveError> {
        if self.refuses(target.host(), &[]) {
            return Err(ResolveError::OwnHost);
        }
        let addresses = match target.literal_address() {
            Some(address) => vec![address],
            None => self.addresses(target, requester, deadline).await?,
        };
        check_answers(&addresses).map_err(ResolveError::Refused)?;
        if self.refuses(target.host(), &addresses) {
            return Err(ResolveError::OwnHost);
        }
        Ok(addresses)
    }

    /// Whether a target's host is refused by its name, or as an address, before any lookup.
    pub fn is_forbidden(&self, target: &TargetUrl) -> bool {
        let literal: Vec<IpAddr> = target.literal_address().into_iter().collect();
        self.refuses(target.host(), &literal)
    }

    /// Puts other hosts in place of those that the operator blocks.
    pub fn block(&self, hosts: ForbiddenHosts) {
        *write_lock(&self.inner.blocked) = hosts;
    }

    fn refuses(&self, host: &str, addresses: &[IpAddr]) -> bool {
        let blocked = read_lock(&self.inner.blocked);
        self.inner.forbidden.holds(host, addresses) || blocked.holds(host, addresses)
    }

    /// What is really dialled for a checked address of `host`: itself, unless `[lab] hosts` says otherwise.
    pub fn dialled(&self, host: &str, address: IpAddr, port: u16) -> SocketAddr {
        match self.inner.lab.get(host) {
            Some(lab) if lab.address == address => lab.dial,
            _ => SocketAddr::new(address, port),
        }
    }

    /// Whether the name is one of `[lab] hosts`.
    pub fn is_lab_host(&self, host: &str) -> bool {
        self.inner.lab.contains_key(host)
    }

    async fn addresses(
        &self,
        target: &TargetUrl,
        requester: Requester,
        deadline: Instant,
    ) -> Answer {
        let name = target.host();
        if let Some(answer) = lock(&self.inner.names).known(name, requester) {
            return answer;
        }
        let places = Arc::new(self.places(target, requester, deadline).await?);
        let until = deadline.min(Instant::now() + self.inner.settings.lookup_max);
        let left = || until.saturating_duration_since(Instant::now());
        let (waited, began) = self.answer(name, requester, &places, left()).await;
        // Somebody else's lookup had begun long before, and had its own deadline.
        if waited == Err(ResolveError::TimedOut) && !began && left() >= JOINED_AGAIN_MIN {
            return self.answer(name, requester, &places, left()).await.0;
        }
        waited
    }

    /// A client's own share first, then the domain's, then a place: who waits for a share keeps nobody else from a
    /// place. The wait is our own shortage and says nothing of the name.
    async fn places(
        &self,
        target: &TargetUrl,
        requester: Requester,
        deadline: Instant,
    ) -> Result<Places, ResolveError> {
        let inner = &self.inner;
        let left = deadline.saturating_duration_since(Instant::now());
        let settings = &inner.settings;
        let (wait_max, places, waiters) = match requester {
            Requester::Buyer => (settings.paid_wait_max, &inner.paid, &inner.paid_waiters),
            Requester::Client(_) => (settings.free_wait_max, &inner.free, &inner.free_waiters),
        };
        let taken = async {
            let mut of_asker = Vec::new();
            if let Requester::Client(client) = requester {
                // All of the operator's questions together are one client's.
                let client = client.map_or_else(String::new, |client| client.to_string());
                of_asker.push(inner.free_of_client.place(&client).await?);
                of_asker.push(inner.free_of_domain.place(target.domain()).await?);
            }
            // After those places, so that one client cannot be all those that wait.
            let _waiter = waiters.try_acquire().map_err(|_| LimitReached)?;
            let place = places.clone().acquire_owned().await;
            Ok(Places {
                _of_asker: of_asker,
                _place: place.map_err(|_| LimitReached)?,
            })
        };
        match timeout(wait_max.min(left), taken).await {
            Ok(Ok(places)) => Ok(places),
            Ok(Err(LimitReached)) | Err(_) => Err(ResolveError::Busy),
        }
    }

    /// Joins the lookup of this name that is in progress, or begins one; the flag says which. The lookup runs until `wait`
    /// is over even if no caller waits any more, and holds its places as long.
    async fn answer(
        &self,
        name: &str,
        requester: Requester,
        places: &Arc<Places>,
        wait: Duration,
    ) -> (Answer, bool) {
        let mut beginning = None;
        let mut coming = {
            let mut names = lock(&self.inner.names);
            // It may have come while a place was waited for.
            match (names.known(name, requester), names.under_way.get(name)) {
                (Some(answer), _) => watch::channel(Some(answer)).1,
                (None, Some(coming)) => coming.clone(),
                (None, None) => {
                    let (sender, coming) = watch::channel(None);
                    names.under_way.insert(name.to_owned(), coming.clone());
                    beginning = Some(sender);
                    coming
                }
            }
        };
        let begins = beginning.is_some();
        if let Some(sender) = beginning {
            self.begin(name, sender, places.clone(), wait);
        }
        let answer = match timeout(wait, coming.wait_for(Option::is_some)).await {
            Ok(Ok(answer)) => answer.clone().unwrap_or(Err(ResolveError::Failed)),
            // The lookup has panicked.
            Ok(Err(_)) => Err(ResolveError::Failed),
            Err(_) => Err(ResolveError::TimedOut),
        };
        (answer, begins)
    }

    fn begin(
        &self,
        name: &str,
        sender: watch::Sender<Option<Answer>>,
        places: Arc<Places>,
        time_max: Duration,
    ) {
        let (settings, source) = (self.inner.settings, self.inner.source.clone());
        let under_way = UnderWay {
            name: name.to_owned(),
            names: self.inner.names.clone(),
        };
        self.inner.thread.spawn(async move {
            let answer = source.answer(&under_way.name, time_max).await;
            under_way.ended(&answer, &settings);
            // An error: nobody waits for it any more.
            let _ = sender.send(Some(answer));
            drop(places);
        });
    }
}

/// What a lookup occupies.
struct Places {
    _of_asker: Vec<OwnedSemaphorePermit>,
    _place: OwnedSemaphorePermit,
}

impl Source {
    async fn answer(&self, name: &str, time_max: Duration) -> Answer {
        let found = match self {
            Source::Dns(resolver) => {
                let deadline = tokio::time::Instant::now() + time_max;
                resolver.addresses(name, deadline).await
            }
            #[cfg(test)]
            Source::Fake(lookup) => match lookup(name) {
                Ok(addresses) if addresses.is_empty() => Err(Failure::NotFound),
                found => found.map_err(|_| Failure::Failed),
            },
        };
        found.map_err(|failure| match failure {
            Failure::NotFound => ResolveError::NotFound,
            Failure::Failed => ResolveError::Failed,
            Failure::TimedOut => ResolveError::TimedOut,
        })
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("settings", &self.inner.settings)
            .field("lab", &self.inner.lab)
            .finish_non_exhaustive()
    }
}

type Answer = Result<Vec<IpAddr>, ResolveError>;

/// What is known, and what is being asked.
#[derive(Default)]
struct Names {
    /// The lab's.
    fixed: HashMap<String, IpAddr>,
    known: HashMap<String, Known>,
    under_way: HashMap<String, watch::Receiver<Option<Answer>>>,
}

struct Known {
    answer: Answer,
    until: Instant,
}

impl Names {
    fn known(&self, name: &str, requester: Requester) -> Option<Answer> {
        if let Some(address) = self.fixed.get(name) {
            return Some(Ok(vec![*address]));
        }
        let known = self.known.get(name)?;
        let is_usable = match known.answer {
            // Whether it still fails is worth a question to anyone who pays for it.
            Err(ResolveError::Failed | ResolveError::TimedOut) => requester != Requester::Buyer,
            _ => true,
        };
        (is_usable && known.until > Instant::now()).then(|| known.answer.clone())
    }

    fn learn(&mut self, name: &str, answer: Answer, settings: &NetworkSettings) {
        let now = Instant::now();
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
        self.known.insert(name.to_owned(), Known { answer, until });
    }
}

/// A lookup in the list of those that can be joined. It leaves the list however it ends.
struct UnderWay {
    name: String,
    names: Arc<Mutex<Names>>,
}

impl UnderWay {
    fn ended(self, answer: &Answer, settings: &NetworkSettings) {
        lock(&self.names).learn(&self.name, answer.clone(), settings);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        lock(&self.names).under_way.remove(&self.name);
    }
}

/// Why a host gave no addresses to dial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveError {
    /// Our own host or one that the operator forbids.
    OwnHost,
    /// A name server answered that the name does not exist or has no address.
    NotFound,
    /// The name servers could not tell, or could not be reached.
    Failed,
    /// The name servers did not answer in time.
    TimedOut,
    /// No place for a lookup became free: this service's own shortage.
    Busy,
    Refused(TargetError),
}

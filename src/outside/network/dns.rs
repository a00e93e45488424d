//! A stub resolver for the configured name servers. Unlike getaddrinfo, every query has a deadline and can be cancelled.
//!
//! The crate `domain` handles the wire format. This file chooses servers and timeouts and interprets responses. It has no
//! address policy and no cache.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::str::FromStr as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use domain::base::iana::{Rcode, Rtype};
use domain::base::rdata::ParseRecordData;
use domain::base::{Message, MessageBuilder, Name};
use domain::rdata::{A, Aaaa, Caa};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, timeout_at};

use crate::domain::caa::CaaRecord;
use crate::outside::chance;
use crate::sync::lock;

const RESOLV_CONF: &str = "/etc/resolv.conf";
const HOSTS: &str = "/etc/hosts";
/// How much of either file is read, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const DNS_PORT: u16 = 53;
/// Name servers that are asked; resolv.conf(5) has the same limit.
const SERVERS_MAX: usize = 3;
/// How often each name server is asked (`options attempts:n`), and the most that the file may ask for.
const ATTEMPTS: usize = 2;
const ATTEMPTS_MAX: usize = 5;
/// How long one name server is waited for before the next is asked (`options timeout:n`). The last try has all the time
/// that is left, because a name server that knows nothing yet of a name needs seconds to find out.
const TRY_MAX: Duration = Duration::from_secs(1);
/// Once there are IPv4 addresses, IPv6 addresses are waited for so much longer: some name servers never answer for them.
const OTHER_FAMILY_MAX: Duration = Duration::from_secs(1);
/// No UDP answer is longer where the question does not offer it (RFC 1035 section 4.2.1); some servers send more.
const UDP_BYTES_MAX: usize = 4096;
/// The longest answer over TCP that is read, in bytes: about a thousand addresses.
const TCP_BYTES_MAX: usize = 16 * 1024;
/// Addresses of one name that count. Those beyond are never dialled, so they need no check either.
const ADDRESSES_MAX: usize = 64;
/// Records of an answer that are read: more than a TCP answer of that length holds.
const RECORDS_MAX: usize = 1024;

/// The name servers to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameServers {
    /// /etc/hosts first, then the name servers of /etc/resolv.conf. Both files are read again when they have changed.
    System,
    /// These and no file.
    Only(Vec<SocketAddr>),
}

/// Why a name gave no addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::outside) enum Failure {
    /// A name server answered that the name does not exist or has no address.
    NotFound,
    /// No name server could be reached, or none of them could answer.
    Failed,
    TimedOut,
}

#[derive(Debug)]
pub(in crate::outside) struct Resolver {
    servers: NameServers,
    /// [`RESOLV_CONF`] and [`HOSTS`].
    files: [PathBuf; 2],
    system: Mutex<System>,
}

/// What the system's files said when they were last read.
#[derive(Debug, Default)]
struct System {
    stamps: Option<[Option<Stamp>; 2]>,
    known: Arc<Known>,
}

/// Tells a file from its former self: time of change, length and inode.
type Stamp = (SystemTime, u64, u64);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    ways: Ways,
    hosts: HashMap<String, Vec<IpAddr>>,
}

/// How the name servers are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ways {
    /// At least one.
    servers: Vec<SocketAddr>,
    attempts: usize,
    try_max: Duration,
    tcp_only: bool,
}

impl Ways {
    /// Without a name server the C library asks the machine itself, and so do we.
    fn to(mut servers: Vec<SocketAddr>) -> Self {
        if servers.is_empty() {
            servers.push((Ipv4Addr::LOCALHOST, DNS_PORT).into());
        }
        Ways {
            servers,
            attempts: ATTEMPTS,
            try_max: TRY_MAX,
            tcp_only: false,
        }
    }
}

impl Default for Ways {
    fn default() -> Self {
        Ways::to(Vec::new())
    }
}

impl Resolver {
    pub(in crate::outside) fn new(servers: NameServers) -> Self {
        Resolver {
            servers,
            files: [RESOLV_CONF, HOSTS].map(PathBuf::from),
            system: Mutex::default(),
        }
    }

    /// The addresses of a name, each once, IPv4 first. Ends by `deadline`. The name is absolute: no search list of
    /// resolv.conf leads a public name that does not exist to a private one that does.
    pub(super) async fn addresses(
        &self,
        name: &str,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, Failure> {
        let known = self.known();
        if let Some(addresses) = known.hosts.get(name) {
            return Ok(addresses.clone());
        }
        let Ok(name) = Name::<Vec<u8>>::from_str(name) else {
            return Err(Failure::NotFound);
        };
        both_families(&known.ways, &name, deadline).await
    }

    /// The CAA records that hold for a name: its own, or else the nearest of those above it (RFC 8659 section 3).
    pub(in crate::outside) async fn caa(
        &self,
        name: &str,
        deadline: Instant,
    ) -> Result<Vec<CaaRecord>, Failure> {
        let known = self.known();
        let names = std::iter::successors(Some(name), |name| {
            name.split_once('.').map(|(_, parent)| parent)
        });
        for name in names {
            let Ok(name) = Name::<Vec<u8>>::from_str(name) else {
                return Err(Failure::NotFound);
            };
            match ask(&known.ways, &name, Rtype::CAA, caa, deadline).await {
                Ok(records) if records.is_empty() => {}
                Err(Failure::NotFound) => {}
                found => return found,
            }
        }
        Ok(Vec::new())
    }

    fn known(&self) -> Arc<Known> {
        match &self.servers {
            NameServers::System => self.system(),
            NameServers::Only(servers) => Arc::new(Known {
                ways: Ways::to(servers.clone()),
                hosts: HashMap::new(),
            }),
        }
    }

    fn system(&self) -> Arc<Known> {
        let [resolv_conf_file, hosts_file] = &self.files;
        let stamps = [stamp(resolv_conf_file), stamp(hosts_file)];
        // A panic while the lock is held leaves the former files' contents behind.
        let mut system = lock(&self.system);
        if system.stamps != Some(stamps) {
            // One that is not there says nothing.
            let read = |path| read(path).unwrap_or_default();
            *system = System {
                stamps: Some(stamps),
                known: Arc::new(Known {
                    ways: resolv_conf(&read(resolv_conf_file)),
                    hosts: hosts(&read(hosts_file)),
                }),
            };
        }
        system.known.clone()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(FILE_BYTES_MAX)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// resolv.conf(5). Lines that are not understood are skipped, as the C library does. `search` and `ndots` do not matter:
/// every name that is asked for is absolute.
fn resolv_conf(text: &str) -> Ways {
    let (mut servers, mut options) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("nameserver") => servers.extend(words.next().and_then(server)),
            Some("options") => options.extend(words),
            _ => {}
        }
    }
    servers.truncate(SERVERS_MAX);
    let mut ways = Ways::to(servers);
    for option in options {
        let (name, value) = option.split_once(':').unwrap_or((option, ""));
        match (name, value.parse::<u8>()) {
            ("timeout", Ok(seconds)) => ways.try_max = Duration::from_secs(seconds.max(1).into()),
            ("attempts", Ok(attempts)) => {
                ways.attempts = usize::from(attempts).clamp(1, ATTEMPTS_MAX);
            }
            ("use-vc", _) => ways.tcp_only = true,
            _ => {}
        }
    }
    ways
}

/// The name servers that this machine asks.
pub(in crate::outside) fn name_servers() -> Vec<IpAddr> {
    let ways = resolv_conf(&read(Path::new(RESOLV_CONF)).unwrap_or_default());
    ways.servers.iter().map(SocketAddr::ip).collect()
}

/// `1.1.1.1`, `2606:4700::1111`, or `fe80::1%eth0`.
fn server(text: &str) -> Option<SocketAddr> {
    let Some((address, interface)) = text.split_once('%') else {
        let address: IpAddr = text.parse().ok()?;
        return Some((address, DNS_PORT).into());
    };
    let address: Ipv6Addr = address.parse().ok()?;
    let scope = match interface.parse() {
        Ok(index) => index,
        // Linux tells an interface's number here.
        Err(_) if !interface.contains('/') => {
            let path = Path::new("/sys/class/net").join(interface).join("ifindex");
            std::fs::read_to_string(path).ok()?.trim().parse().ok()?
        }
        Err(_) => return None,
    };
    Some(SocketAddrV6::new(address, DNS_PORT, 0, scope).into())
}

/// hosts(5): an address and its names in each line.
fn hosts(text: &str) -> HashMap<String, Vec<IpAddr>> {
    let mut hosts: HashMap<String, Vec<IpAddr>> = HashMap::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let Some(address) = words.next().and_then(|word| word.parse().ok()) else {
            continue;
        };
        for name in words {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            add(hosts.entry(name).or_default(), [address]);
        }
    }
    hosts
}

/// Each address once, as many as count.
fn add(addresses: &mut Vec<IpAddr>, more: impl IntoIterator<Item = IpAddr>) {
    for address in more {
        if addresses.len() < ADDRESSES_MAX && !addresses.contains(&address) {
            addresses.push(address);
        }
    }
}

/// The two kinds of addresses are asked for at the same time, in two questions: no server takes two in one.
async fn both_families(
    ways: &Ways,
    name: &Name<Vec<u8>>,
    deadline: Instant,
) -> Result<Vec<IpAddr>, Failure> {
    let mut v4 = pin!(ask(ways, name, Rtype::A, v4_addresses, deadline));
    let mut v6 = pin!(ask(ways, name, Rtype::AAAA, v6_addresses, deadline));
    let mut found_v6 = None;
    let found_v4 = loop {
        tokio::select! {
            found = &mut v4 => break found,
            found = &mut v6, if found_v6.is_none() => found_v6 = Some(found),
        }
    };
    let found_v6 = match found_v6 {
        Some(found) => found,
        None => {
            let until = match &found_v4 {
                Ok(addresses) if !addresses.is_empty() => Instant::now() + OTHER_FAMILY_MAX,
                _ => deadline,
            };
            let waited = timeout_at(until.min(deadline), v6).await;
            waited.unwrap_or(Err(Failure::TimedOut))
        }
    };
    let mut addresses = Vec::new();
    for found in [&found_v4, &found_v6].into_iter().flatten() {
        add(&mut addresses, found.iter().copied());
    }
    if !addresses.is_empty() {
        return Ok(addresses);
    }
    match (found_v4, found_v6) {
        // A name that does not exist has no address of any kind.
        (Err(Failure::NotFound), _) | (_, Err(Failure::NotFound)) | (Ok(_), Ok(_)) => {
            Err(Failure::NotFound)
        }
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
    }
}

/// Asks one name server after the other. One that does not answer in its time, or answers that it cannot tell, gives
/// way to the next.
async fn ask<T>(
    ways: &Ways,
    name: &Name<Vec<u8>>,
    kind: Rtype,
    read: Read<T>,
    deadline: Instant,
) -> Result<Vec<T>, Failure> {
    let tries = ways.servers.len() * ways.attempts;
    let mut failure = Failure::Failed;
    for number in 0..tries {
        let server = ways.servers[number % ways.servers.len()];
        let until = match number + 1 == tries {
            true => deadline,
            false => deadline.min(Instant::now() + ways.try_max),
        };
        let asked = exchange(server, ways.tcp_only, name, kind, read);
        match timeout_at(until, asked).await {
            Ok(Ok(reply)) => return reply,
            Ok(Err(error)) => {
                tracing::debug!(%server, %error, "a name server did not answer a question");
            }
            Err(_) => failure = Failure::TimedOut,
        }
    }
    Err(failure)
}

/// One question to one server. A socket of its own gives each question a port that cannot be guessed.
async fn exchange<T>(
    server: SocketAddr,
    tcp_only: bool,
    name: &Name<Vec<u8>>,
    kind: Rtype,
    read: Read<T>,
) -> io::Result<Result<Vec<T>, Failure>> {
    let query = query(name, kind);
    if !tcp_only {
        let answer = over_udp(server, &query).await?;
        if !answer.header().tc() {
            return reply(&answer, read);
        }
    }
    reply(&over_tcp(server, &query).await?, read)
}

fn query(name: &Name<Vec<u8>>, kind: Rtype) -> Message<Vec<u8>> {
    let mut builder = MessageBuilder::new_vec();
    builder
        .header_mut()
        .set_id(u16::from_be_bytes(chance::bytes()));
    builder.header_mut().set_rd(true);
    let mut builder = builder.question();
    builder
        .push((name, kind))
        .expect("a vector takes one question");
    builder.into_message()
}

async fn over_udp(server: SocketAddr, query: &Message<Vec<u8>>) -> io::Result<Message<Vec<u8>>> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    // Connected, so that only this server's answers are received.
    socket.connect(server).await?;
    socket.send(query.as_slice()).await?;
    loop {
        let mut bytes = vec![0; UDP_BYTES_MAX];
        let length = socket.recv(&mut bytes).await?;
        bytes.truncate(length);
        // Anything else is not for us: a late answer, or somebody who guesses.
        if let Ok(answer) = Message::from_octets(bytes)
            && answer.is_answer(query)
        {
            return Ok(answer);
        }
    }
}

/// RFC 1035 section 4.2.2: each message behind two bytes with its length.
async fn over_tcp(server: SocketAddr, query: &Message<Vec<u8>>) -> io::Result<Message<Vec<u8>>> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(query.as_slice().len()).map_err(io::Error::other)?;
    let mut framed = length.to_be_bytes().to_vec();
    framed.extend_from_slice(query.as_slice());
    stream.write_all(&framed).await?;
    let length = usize::from(stream.read_u16().await?);
    if length > TCP_BYTES_MAX {
        return Err(io::Error::other(format!("its answer has {length} bytes")));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await?;
    match Message::from_octets(bytes) {
        Ok(answer) if answer.is_answer(query) => Ok(answer),
        _ => Err(io::Error::other("its answer is to another question")),
    }
}

/// What an answer says: the records, that there are none, or (as an error) that this server cannot tell.
fn reply<T>(answer: &Message<Vec<u8>>, read: Read<T>) -> io::Result<Result<Vec<T>, Failure>> {
    match answer.header().rcode() {
        Rcode::NOERROR => read(answer).map(Ok),
        Rcode::NXDOMAIN => Ok(Err(Failure::NotFound)),
        code => Err(io::Error::other(format!("its answer is {code}"))),
    }
}

/// Reads the records of one kind in an answer.
type Read<T> = fn(&Message<Vec<u8>>) -> io::Result<Vec<T>>;

fn v4_addresses(answer: &Message<Vec<u8>>) -> io::Result<Vec<IpAddr>> {
    records(answer, |record: &A| record.addr().into())
}

fn v6_addresses(answer: &Message<Vec<u8>>) -> io::Result<Vec<IpAddr>> {
    records(answer, |record: &Aaaa| record.addr().into())
}

fn caa(answer: &Message<Vec<u8>>) -> io::Result<Vec<CaaRecord>> {
    records(answer, |record: &Caa<&[u8]>| CaaRecord {
        is_critical: record.flags().bits() & 0x80 != 0,
        tag: record.tag().to_string().to_ascii_lowercase(),
        value: String::from_utf8_lossy(record.value()).into_owned(),
    })
}

/// As many records of one kind as count.
fn records<'a, D, T>(answer: &'a Message<Vec<u8>>, read: impl Fn(&D) -> T) -> io::Result<Vec<T>>
where
    D: ParseRecordData<'a, Vec<u8>>,
{
    let damaged = |_| io::Error::other("its answer cannot be read");
    // At the end of the aliases (CNAME) that the answer holds.
    let owner = answer
        .canonical_name()
        .ok_or_else(|| io::Error::other("its answer leads in a circle"))?;
    let mut found = Vec::new();
    for record in answer.answer().map_err(damaged)?.limit_to_in::<D>() {
        let record = record.map_err(damaged)?;
        if *record.owner() == owner && found.len() < RECORDS_MAX {
            found.push(read(record.data()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolv_conf_is_read_as_the_c_library_reads_it() {
        let check = |text: &str, servers: &[&str], attempts, seconds| {
            let expected = Ways {
                servers: servers
                    .iter()
                    .map(|server| server.parse().expect(server))
                    .collect(),
                attempts,
                try_max: Duration::from_secs(seconds),
                tcp_only: text.contains("use-vc"),
            };
            assert_eq!(resolv_conf(text), expected, "{text}");
        };
        check("", &["127.0.0.1:53"], 2, 1);
        check("nameserver 127.0.0.53\n", &["127.0.0.53:53"], 2, 1);
        check(
            "# made by hand\n; or not\ndomain example.com\nsearch a.example b.example\nsortlist 10.0.0.0\n\
             lookup file bind\nnameserver 9.9.9.9 # quad\nnameserver\t2606:4700::1111\nnameserver nonsense\n\
             nameserver\nnameserver fe80::1%2\nnameserver 8.8.8.8\n",
            &["9.9.9.9:53", "[2606:4700::1111]:53", "[fe80::1%2]:53"],
            2,
            1,
        );
        let text = "options timeout:3 attempts:4 rotate use-vc ndots:5\nnameserver 1.1.1.1";
        check(text, &["1.1.1.1:53"], 4, 3);
        let text = "nameserver 1.1.1.1\noptions timeout:0 attempts:99 timeout:x attempts";
        check(text, &["1.1.1.1:53"], ATTEMPTS_MAX, 1);
        check("nameserver fe80::1%../../x\n", &["127.0.0.1:53"], 2, 1);
    }

    /// What an operator changes holds from the next lookup on.
    #[test]
    fn the_system_s_files_are_read_again_when_they_have_changed() {
        let folder = format!("context402-names-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        let files = ["resolv.conf", "hosts"].map(|name| folder.join(name));
        let resolver = Resolver {
            files: files.clone(),
            ..Resolver::new(NameServers::System)
        };
        let write = |file: usize, text: &str| {
            // In its place, as resolvconf and editors do.
            let fresh = folder.join("fresh");
            std::fs::write(&fresh, text).expect("it can be written");
            std::fs::rename(&fresh, &files[file]).expect("it can be put there");
        };
        let first_server = || resolver.system().ways.servers[0].to_string();
        let address = |name: &str| {
            let known = resolver.system();
            known.hosts.get(name).map(|found| found[0].to_string())
        };
        assert_eq!(
            (first_server().as_str(), address("a.example")),
            ("127.0.0.1:53", None)
        );
        write(0, "nameserver 9.9.9.9\n");
        write(1, "93.184.216.34 a.example\n");
        assert_eq!(first_server(), "9.9.9.9:53");
        assert_eq!(address("a.example").as_deref(), Some("93.184.216.34"));
        write(1, "93.184.216.35 a.example\n");
        assert_eq!(address("a.example").as_deref(), Some("93.184.216.35"));
        assert_eq!(first_server(), "9.9.9.9:53");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let deadline = Instant::now() + TRY_MAX;
        let found = runtime.block_on(resolver.addresses("a.example", deadline));
        assert_eq!(found, Ok(vec![Ipv4Addr::new(93, 184, 216, 35).into()]));
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
        assert_eq!(
            (first_server().as_str(), address("a.example")),
            ("127.0.0.1:53", None)
        );
    }

    #[test]
    fn an_interface_of_a_name_server_has_its_number() {
        let Some(SocketAddr::V6(server)) = server("fe80::1%lo") else {
            panic!("Linux has an interface lo")
        };
        assert_eq!((server.scope_id(), server.port()), (1, 53));
        assert_eq!(super::server("fe80::1%nowhere"), None);
    }

    #[test]
    fn hosts_are_read_with_all_their_addresses() {
        let text = "127.0.0.1 localhost # here\n93.184.216.34\tWWW.Example.com. www\n#1.2.3.4 x\n\
                    nonsense y\n2606:4700::1111 www.example.com\n93.184.216.34 www.example.com\n";
        let hosts = hosts(text);
        let found = |name: &str| {
            let addresses = hosts.get(name).map(Vec::as_slice).unwrap_or_default();
            let texts: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
            texts.join(" ")
        };
        assert_eq!(found("www.example.com"), "93.184.216.34 2606:4700::1111");
        assert_eq!(found("www"), "93.184.216.34");
        assert_eq!(found("localhost"), "127.0.0.1");
        assert_eq!((found("x"), found("y")), (String::new(), String::new()));
    }
}

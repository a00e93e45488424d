//! What operators do with a service: back it up, restore it, restart it, ask how it is.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use context402::flows::operations::health;
use redb::TableDefinition;
use serde_json::Value;

use crate::harness::name_server::{NameServer, Told};
use crate::harness::process::{Finished, program_with, run};
use crate::harness::{
    ARTICLE, FERRY, FERRY_CLAIM, FRESH, Folder, PAY_TO, Rig, Says, Service, Wallet, ask, price,
    until,
};

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A command of the operator of this rig.
fn operate(rig: &Rig, arguments: &[&str]) -> Finished {
    Finished::of(program_with(rig.resolved(), &[]).args(arguments))
}

fn data_file(rig: &Rig) -> PathBuf {
    rig.folder.path("data.redb")
}

/// A report that was bought just now: its bytes, and where it is read.
fn bought(rig: &Rig) -> (Vec<u8>, String) {
    let sold = rig.buy_report(&Wallet::new(), FERRY, "standard", FERRY_CLAIM);
    let sold = sold.expect(200);
    let id = sold.json()["report_id"].as_str().expect("an id").to_owned();
    (sold.body, format!("/v1/proof-pack/reports/{id}"))
}

/// Backed up while it sells, destroyed, restored: the report is there, byte for byte, and no payment is forgotten.
#[test]
fn a_backup_made_between_sales_brings_everything_back() {
    let mut rig = Rig::today();
    let (sold, report) = bought(&rig);
    let wallet = Wallet::new();
    let payment = wallet.sign(&rig, "fresh");
    let paid = rig.order(ARTICLE, "fresh").paid(&payment.header);
    let page = paid.send().expect(200);
    let backup = rig.folder.path("backup.redb");
    let (done, sales) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
                sales.fetch_add(1, Ordering::Relaxed);
            }
        });
        until("sales are made", || sales.load(Ordering::Relaxed) > 2);
        let said = operate(&rig, &["backup", &text(&backup)]).expect(0).out;
        assert!(
            said.contains("is verified: taken at") && said.contains("1 report."),
            "{said}"
        );
        let at_backup = sales.load(Ordering::Relaxed);
        until("sales go on", || sales.load(Ordering::Relaxed) > at_backup);
        done.store(true, Ordering::Relaxed);
    });
    let figures = rig.operator("/metrics?format=prometheus").text();
    let line = figures
        .lines()
        .find(|line| line.starts_with("context402_backup_timestamp_seconds"));
    let at: u64 = line
        .and_then(|line| line.split(' ').nth(1)?.parse().ok())
        .expect("a time");
    assert!(at >= rig.now().0.saturating_sub(60), "{at}");
    let verified = run(&["verify-backup", &text(&backup)]).expect(0).out;
    assert!(
        verified.contains(" payments, ") && !verified.contains("payments-1"),
        "{verified}"
    );
    assert!(rig.stop());
    std::fs::write(data_file(&rig), b"a disk that has lost it").expect("written");
    let refused = Service::refused(rig.resolved(), &[]).failed(1);
    assert!(
        refused.contains("is not a data file of context402 and was not changed"),
        "{refused}"
    );
    let said = operate(&rig, &["restore", &text(&backup)]).expect(0).out;
    assert!(said.contains("was saved as"), "{said}");
    rig.run();
    assert_eq!(rig.get(&report).expect(200).body, sold);
    let paid = rig.order(ARTICLE, "fresh").paid(&payment.header);
    assert_eq!(
        paid.send().expect(200).body,
        page.body,
        "paid once, given again"
    );
    assert_eq!(rig.facilitator.spent(wallet.address()), price(FRESH));
}

/// Nothing of a backup stays where the service made it, and a folder keeps as many as it should.
#[test]
fn a_folder_of_backups_keeps_the_newest() {
    let rig = Rig::today();
    let backups = rig.folder.path("backups");
    std::fs::create_dir(&backups).expect("made");
    for name in [
        "context402-20200101T000000Z.redb",
        "context402-20200102T000000Z.redb",
        "notes.txt",
    ] {
        std::fs::write(backups.join(name), b"old").expect("written");
    }
    let (left, recent) = (
        "context402-20200103T000000Z.redb.partial",
        "context402-20200104T000000Z.redb.partial",
    );
    for name in [left, recent] {
        std::fs::write(backups.join(name), b"half").expect("written");
    }
    let half = std::fs::File::options()
        .write(true)
        .open(backups.join(left));
    half.expect("opened")
        .set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_923_200))
        .expect("set");
    let said = operate(&rig, &["backup", &text(&backups), "--keep", "2"])
        .expect(0)
        .out;
    assert!(
        said.contains(&format!("{left} removed")) && !backups.join(left).exists(),
        "{said}"
    );
    std::fs::remove_file(backups.join(recent)).expect("still there");
    assert!(said.contains("20200101T000000Z.redb removed"), "{said}");
    let names = |folder: &Path| -> Vec<String> {
        let files = std::fs::read_dir(folder).expect("read");
        let mut names: Vec<String> = files
            .map(|file| {
                file.expect("a file")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .collect();
        names.sort();
        names
    };
    let kept = names(&backups);
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert_eq!(
        (kept[0].as_str(), kept[2].as_str()),
        ("context402-20200102T000000Z.redb", "notes.txt")
    );
    run(&["verify-backup", &text(&backups.join(&kept[1]))]).expect(0);
    let left: Vec<String> = names(rig.folder.as_ref());
    assert!(
        left.iter()
            .all(|name| !name.contains("snapshot") && !name.contains("partial")),
        "{left:?}"
    );
    operate(&rig, &["backup", "new.redb", "--keep", "2"]).failed(2);
    let taken = text(&backups.join(&kept[1]));
    let refused = operate(&rig, &["backup", &taken]).failed(1);
    assert!(refused.contains("was not changed"), "{refused}");
}

#[test]
fn a_stopped_service_is_backed_up_from_its_file() {
    let mut rig = Rig::today();
    let (sold, report) = bought(&rig);
    assert!(rig.stop());
    let backup = rig.folder.path("backup.redb");
    operate(&rig, &["backup", &text(&backup)]).expect(0);
    std::fs::remove_file(data_file(&rig)).expect("gone");
    operate(&rig, &["restore", &text(&backup)]).expect(0);
    rig.run();
    assert_eq!(rig.get(&report).expect(200).body, sold);
}

/// On a machine that is new, nothing is there yet but the backup.
#[test]
fn a_backup_is_restored_where_no_folder_is() {
    let rig = Rig::today();
    bought(&rig);
    let backup = rig.folder.path("backup.redb");
    let nowhere = text(&rig.folder.path("nowhere/backup.redb"));
    let refused = operate(&rig, &["backup", &nowhere]).failed(1);
    assert!(refused.contains("mkdir -m 700"), "{refused}");
    operate(&rig, &["backup", &text(&backup)]).expect(0);
    let folder = rig.folder.path("new/context402");
    let (file, socket) = (text(&folder.join("data.redb")), text(&folder.join("s")));
    let new = [("data_file", &*file), ("socket", &*socket)];
    let mut restore = program_with(rig.resolved(), &new);
    let said = Finished::of(restore.args(["restore", &text(&backup)])).expect(0);
    assert!(said.out.contains("1 report."), "{said:#?}");
    let mode = std::fs::metadata(&folder)
        .expect("made")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    let mut list = program_with(rig.resolved(), &new);
    let said = Finished::of(list.args(["reports", "list"])).expect(0);
    assert!(said.out.contains("ppr_"), "{said:#?}");
}

/// A full disk stops all sales, so a backup is not what fills it.
#[test]
fn a_backup_leaves_room_for_sales() {
    let rig = Rig::with(|resolved| resolved.set("limits.free_disk_mib_min", "1000000000"));
    let backup = rig.folder.path("backup.redb");
    let refused = operate(&rig, &["backup", &text(&backup)]).failed(1);
    assert!(refused.contains("limits.free_disk_mib_min"), "{refused}");
    assert!(!backup.exists() && !backup.with_added_extension("partial").exists());
}

/// Each in one line that says what to do, by the service and by the commands alike.
#[test]
fn files_that_are_not_sound_are_refused_and_left_alone() {
    const META: TableDefinition<'static, &str, u64> = TableDefinition::new("meta-1");
    let mut rig = Rig::today();
    bought(&rig);
    let backup = rig.folder.path("backup.redb");
    operate(&rig, &["backup", &text(&backup)]).expect(0);
    let live = operate(&rig, &["restore", &text(&backup)]).failed(1);
    assert!(live.contains("stop it first"), "{live}");
    assert!(rig.stop());
    let older = operate(&rig, &["restore", &text(&backup)]).failed(1);
    assert!(older.contains("--discard-newer"), "{older}");
    let missing = text(&rig.folder.path("missing.redb"));
    for refused in [
        run(&["verify-backup", &missing]).failed(1),
        operate(&rig, &["restore", &missing]).failed(1),
    ] {
        assert!(refused.contains("give a file made by"), "{refused}");
    }
    let (folder, other) = (
        text(&rig.folder.path("")),
        text(&rig.folder.path("op.toml")),
    );
    std::fs::write(&other, "base_url = \"\"\n").expect("written");
    for (path, why) in [(&folder, "is a folder"), (&other, "is not a backup")] {
        for refused in [
            run(&["verify-backup", path]).failed(1),
            operate(&rig, &["restore", path]).failed(1),
        ] {
            assert!(
                refused.contains(why) && refused.contains("give a file made by"),
                "{refused}"
            );
        }
    }
    let sound = std::fs::read(&backup).expect("read");
    let newer = rig.folder.path("newer.redb");
    std::fs::write(&newer, &sound).expect("written");
    let database = redb::Database::open(&newer).expect("opens");
    let transaction = database.begin_write().expect("begins");
    let mut meta = transaction.open_table(META).expect("opens");
    meta.insert("schema", 99).expect("inserts");
    drop(meta);
    transaction.commit().expect("commits");
    drop(database);
    let mut flipped = sound.clone();
    // In the middle of what is stored, wherever that lies.
    let ferry = flipped
        .windows(12)
        .position(|bytes| bytes == b"North quay a" || bytes == b"harbour ferr");
    flipped[ferry.expect("the report's text")] ^= 1;
    let cases = [
        ("newer", std::fs::read(&newer).expect("read"), "schema 99"),
        (
            "foreign",
            b"%PDF-1.7 or anything else".repeat(400),
            "of context402 and",
        ),
        (
            "truncated",
            sound[..sound.len() / 2].to_vec(),
            "cannot be used",
        ),
        ("flipped", flipped, "cannot be used"),
        ("empty", Vec::new(), "it is empty"),
    ];
    let original = std::fs::read(data_file(&rig)).expect("read");
    for (name, bytes, why) in cases {
        let path = rig.folder.path(name);
        std::fs::write(&path, &bytes).expect("written");
        let refused = run(&["verify-backup", &text(&path)]).failed(1);
        assert!(refused.contains(why), "{name}: {refused}");
        let refused = operate(&rig, &["restore", &text(&path), "--discard-newer"]).failed(1);
        assert!(refused.contains(why), "{name}: {refused}");
        assert_eq!(
            std::fs::read(data_file(&rig)).expect("read"),
            original,
            "{name}"
        );
        if name != "flipped" {
            std::fs::write(data_file(&rig), &bytes).expect("written");
            let refused = Service::refused(rig.resolved(), &[]).failed(1);
            assert!(refused.contains(why), "{name}: {refused}");
        }
        std::fs::write(data_file(&rig), &original).expect("written");
    }
    rig.run();
}

/// systemd keeps the listener while one process follows another: everybody who connects is answered.
#[test]
fn a_restart_on_a_handed_over_listener_refuses_nobody() {
    let mut rig = Rig::today();
    assert!(rig.stop());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let (done, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut service = Service::start_on(&listener, rig.resolved());
    assert_eq!(service.address, address);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let bytes = ask::raw_bytes(
                        address,
                        b"GET /v1/x402/quote HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                    );
                    assert!(
                        bytes.starts_with(b"HTTP/1.1 200 "),
                        "{}",
                        String::from_utf8_lossy(&bytes)
                    );
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for _ in 0..3 {
            let before = asked.load(Ordering::Relaxed);
            until("requests are answered", || {
                asked.load(Ordering::Relaxed) > before + 20
            });
            service.terminate();
            assert!(service.end().success());
            // Nobody is there now, and whoever comes waits.
            thread::sleep(Duration::from_millis(100));
            service = Service::start_on(&listener, rig.resolved());
        }
        let before = asked.load(Ordering::Relaxed);
        until("requests are answered", || {
            asked.load(Ordering::Relaxed) > before + 20
        });
        done.store(true, Ordering::Relaxed);
    });
    service.terminate();
    assert!(service.end().success());
    rig.run();
}

/// A socket for a supervisor: its path, and what arrives at it next.
fn supervisor(rig: &Rig) -> (String, impl Fn() -> String + use<>) {
    let path = rig.folder.path("notify.sock");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("set");
    let next = move || {
        let mut bytes = [0; 512];
        let length = socket.recv(&mut bytes).expect("a message");
        String::from_utf8(bytes[..length].to_vec()).expect("UTF-8")
    };
    (text(&path).to_string(), next)
}

/// What a supervisor hears, in its order: readiness, how the service is, signs of life, the stop.
#[test]
fn the_supervisor_is_told_how_the_service_is() {
    let mut rig = Rig::today();
    assert!(rig.stop());
    let (path, next) = supervisor(&rig);
    let told = [("NOTIFY_SOCKET", &*path), ("WATCHDOG_USEC", "300000")];
    let mut service = Service::start_told(rig.resolved(), &told);
    assert_eq!(next(), "READY=1");
    for _ in 0..3 {
        assert_eq!(next(), "STATUS=All tiers and packs are available.");
        assert_eq!(next(), "WATCHDOG=1");
    }
    service.terminate();
    let stopping = std::iter::repeat_with(&next).find(|told| told.starts_with("STOPPING=1"));
    assert!(stopping.is_some());
    assert!(service.end().success());
    // Without a watchdog nobody waits for signs of life.
    let mut service = Service::start_told(rig.resolved(), &told[..1]);
    let readiness = std::iter::repeat_with(&next).find(|told| told == "READY=1");
    assert!(readiness.is_some());
    assert_eq!(next(), "STATUS=All tiers and packs are available.");
    service.terminate();
    assert!(next().starts_with("STOPPING=1"));
    assert!(service.end().success());
    rig.run();
}

/// While the operator has paused sales, the service runs: the supervisor must not read that it is stopping.
#[test]
fn the_supervisor_is_told_of_a_pause() {
    let mut rig = Rig::today();
    assert_eq!(rig.operate("POST", "/operator/pause").status, 200);
    assert!(rig.stop());
    let (path, next) = supervisor(&rig);
    let told = [("NOTIFY_SOCKET", &*path), ("WATCHDOG_USEC", "300000")];
    let mut service = Service::start_told(rig.resolved(), &told);
    assert_eq!(next(), "READY=1");
    for _ in 0..2 {
        let told = next();
        assert!(
            told.starts_with("STATUS=Not accepting payments since ")
                && told.ends_with(": the operator has paused sales."),
            "{told}"
        );
        assert_eq!(next(), "WATCHDOG=1");
    }
    service.terminate();
    let stopping = std::iter::repeat_with(&next).find(|told| told.starts_with("STOPPING=1"));
    assert!(stopping.is_some());
    assert!(service.end().success());
    rig.run();
}

#[test]
fn a_health_check_has_an_exit_code() {
    let mut rig = Rig::today();
    let said = operate(&rig, &["healthcheck", "--strict"]).expect(0).out;
    assert_eq!(
        said,
        "running, accepting payments. All tiers and packs are available.\n"
    );
    let health = rig.operator("/health").json();
    assert_eq!(health["checks"]["backup"]["taken_at"], Value::Null);
    rig.reconfigure(|resolved| resolved.set("limits.free_disk_mib_min", "1000000000"));
    let low = "degraded. Not accepting payments since ";
    let refused = operate(&rig, &["healthcheck"]).failed(1);
    for part in [
        low,
        "the disk is nearly full. Checks: disk low. To sell again: free space on",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    operate(&rig, &["healthcheck", "--strict"]).failed(1);
    let said = operate(&rig, &["healthcheck", "--running"]).expect(0).out;
    assert!(said.starts_with(low), "{said}");
    assert!(rig.stop());
    let refused = operate(&rig, &["healthcheck"]).failed(1);
    assert!(refused.contains("no service responds"), "{refused}");
    rig.run();
}

/// The facilitator lists what it supports to everybody, but refuses our credentials when a payment is to be verified:
/// every sale failed while the service said that it sold.
#[test]
fn a_facilitator_that_refuses_our_credentials_stops_sales() {
    let rig = Rig::today();
    operate(&rig, &["healthcheck"]).expect(0);
    rig.facilitator.verifies(Says::Status(401));
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(503);
    let refused = operate(&rig, &["healthcheck"]).failed(1);
    for part in [
        "Not accepting payments since ",
        "facilitator down: The facilitator refused our credentials with 401",
        "To sell again: run `context402 doctor`; check payment.facilitator_url",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    let gauges = rig.get("/metrics?format=prometheus").text();
    for gauge in ["paid_enabled", "facilitator_up"] {
        assert!(
            gauges.contains(&format!("context402_{gauge} 0\n")),
            "{gauges}"
        );
    }
    // What a strange payment can provoke says nothing about the facilitator.
    rig.facilitator.verifies(Says::Honest);
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    rig.facilitator.verifies(Says::Status(400));
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(503);
    operate(&rig, &["healthcheck"]).expect(0);
}

/// Until the facilitator has answered once, nobody knows whether a buyer could buy.
#[test]
fn a_facilitator_that_hangs_at_the_start_is_not_taken_for_a_good_one() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let mut rig = Rig::today();
    rig.reconfigure(|resolved| {
        resolved.set("payment.facilitator_url", format!("http://{address}"));
        resolved.set("payment.verify_seconds_max", "20");
    });
    let health = rig.get("/health").expect(200).json();
    assert_eq!(health["paid_enabled"], false);
    assert_eq!(
        health["sales"]["obstacles"][0]["code"],
        "facilitator_unchecked"
    );
    operate(&rig, &["healthcheck", "--running"]).expect(0);
    let refused = operate(&rig, &["healthcheck", "--wait", "1"]).failed(1);
    assert!(refused.contains("has not responded yet"), "{refused}");
}

/// A socket unit listens although its service is gone.
#[test]
fn a_listener_without_a_service_is_told_apart() {
    let rig = Rig::today();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let hangs_up = thread::spawn(move || drop(listener.accept().expect("a connection")));
    let mut ask = program_with(rig.resolved(), &[("listen", &address)]);
    let refused = Finished::of(ask.arg("healthcheck")).failed(1);
    assert!(
        refused.contains("does not respond") && refused.contains("journalctl"),
        "{refused}"
    );
    hangs_up.join().expect("no panic");
}

/// Before an authority refuses to issue, because the name's CAA records name others.
#[test]
fn the_doctor_looks_up_caa_records() {
    let folder = Folder::new();
    let server = NameServer::start();
    let config = format!(
        "base_url = \"https://localhost\"\nlisten = \"127.0.0.1:0\"\ndata_file = \"{}\"\n\
         [payment]\npay_to = \"{PAY_TO}\"\n[tls]\nacme = true\nhttp_listen = \"off\"\n\
         [lab]\nname_server = \"{}\"\nacme_directory = \"https://127.0.0.1:9/directory\"\n",
        text(&folder.path("data.redb")),
        server.address,
    );
    let file = folder.path("config.toml");
    std::fs::write(&file, config).expect("written");
    let caa = || {
        let out = run(&["doctor", "--config", &text(&file)]).out;
        let line = out.lines().find(|line| line.contains("CAA records"));
        line.unwrap_or_else(|| panic!("{out}")).to_owned()
    };
    let none = caa();
    assert!(
        none.starts_with("ok ") && none.contains("localhost has none"),
        "{none}"
    );
    server.put("localhost", Told::Caa(vec![(0, "issue", "ca.example")]));
    let unknown = caa();
    assert!(
        unknown.starts_with("note ") && unknown.contains("does not respond"),
        "{unknown}"
    );
    server.put("localhost", Told::Failure);
    let failed = caa();
    assert!(
        failed.starts_with("note ") && failed.contains("could not tell"),
        "{failed}"
    );
}

/// Everything right, then one thing after the other wrong.
#[test]
fn the_doctor_finds_what_is_wrong() {
    let mut rig = Rig::today();
    assert!(rig.stop());
    let port = TcpListener::bind("127.0.0.1:0")
        .expect("a free port")
        .local_addr()
        .expect("bound")
        .port();
    let (listen, base_url) = (
        format!("127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}"),
    );
    let at = [("listen", &*listen), ("base_url", &*base_url)];
    let rpc = ("chain.rpc_url", rig.chain.url.clone());
    let with_chain: Vec<(&str, &str)> = at
        .iter()
        .copied()
        .chain([(rpc.0, rpc.1.as_str())])
        .collect();
    let doctor =
        |more: &[(&str, &str)]| Finished::of(program_with(rig.resolved(), more).arg("doctor"));
    let word = |finished: &Finished, what: &str| -> String {
        let line = finished
            .out
            .lines()
            .find(|line| line.get(6..).is_some_and(|rest| rest.starts_with(what)));
        let line = line.unwrap_or_else(|| panic!("{what} in {finished:#?}"));
        line[..5].trim().to_owned()
    };
    // What is not checked without a chain is said at the start as well.
    let warned = |service: &Service| {
        let mut lines = service.start_log.iter();
        lines.any(|line| line.contains("chain.rpc_url is not set"))
    };
    let without = Service::start(rig.resolved(), &at);
    assert!(warned(&without), "{:#?}", without.start_log);
    without.kill();
    let service = Service::start(rig.resolved(), &with_chain);
    assert!(!warned(&service), "{:#?}", service.start_log);
    let found = doctor(&with_chain).expect(0);
    for what in [
        "data file",
        "disk",
        "service",
        "base_url",
        "facilitator",
        "chain",
    ] {
        assert_eq!(word(&found, what), "ok", "{found:#?}");
    }
    assert_eq!(word(&found, "signing"), "note");
    // All of them have this machine's clock.
    assert_eq!(word(&found, "clock"), "note", "{found:#?}");
    service.kill();
    let found = doctor(&with_chain).expect(0);
    assert_eq!(
        (word(&found, "service"), word(&found, "base_url")),
        ("note".to_owned(), "note".to_owned())
    );
    let elsewhere = [at[0], at[1], ("payment.network", "eip155:1")];
    let found = doctor(&elsewhere).expect(1);
    assert_eq!(word(&found, "facilitator"), "BAD");
    assert_eq!(word(&found, "chain"), "note");
    for part in [
        "chain.rpc_url",
        "gas prices are not checked",
        "stay unknown",
        "undetected",
        "/v1/access",
    ] {
        assert!(found.out.contains(part), "{part}: {found:#?}");
    }
    assert!(found.err.contains("1 of these must be fixed"), "{found:#?}");
    // Bundles that are paid for and not noticed, and a mail server that is not there.
    let sells = [
        at[0],
        at[1],
        ("bundles.scout_link", "https://pay.example.com/pro"),
        ("mail.smtp_host", "127.0.0.1"),
        ("mail.smtp_port", "9"),
        ("mail.tls", "none"),
        ("mail.from", "reports@example.com"),
    ];
    let found = doctor(&sells).expect(1);
    assert_eq!(
        (word(&found, "bundles"), word(&found, "mail")),
        ("BAD".to_owned(), "BAD".to_owned())
    );
    let place = rig.folder.path("mails").display().to_string();
    std::fs::create_dir(&place).expect("a folder");
    let files = [
        at[0],
        at[1],
        ("mail.folder", &*place),
        ("mail.from", "reports@example.com"),
    ];
    let found = doctor(&files).expect(0);
    assert_eq!(word(&found, "mail"), "note");
    let told = format!("nothing is sent: e-mails are written to the folder {place}");
    assert!(found.out.contains(&told), "{found:#?}");
    std::fs::remove_file(data_file(&rig)).expect("gone");
    let found = doctor(&with_chain).expect(1);
    assert_eq!(word(&found, "data file"), "BAD");
}

#[test]
fn the_program_describes_itself() {
    let version: Value =
        serde_json::from_str(&run(&["version", "--json"]).expect(0).out).expect("JSON");
    assert_eq!(
        (&version["name"], &version["schema"]),
        (&"context402".into(), &2.into())
    );
    let plain = run(&["version"]).expect(0).out;
    assert_eq!(plain, run(&["--version"]).expect(0).out);
    assert_eq!(version["api_version"], "1.2.0");
    let shown = version["version"].as_str().expect("a version");
    assert_eq!(
        plain,
        format!("context402 {shown} (API 1.2.0, x402 version 2)\n")
    );
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]).expect(0).out;
        assert!(script.contains("verify-backup"), "{shell}");
    }
    let folder = Folder::new();
    run(&["man", "--folder", &text(folder.as_ref())]).expect(0);
    let page = std::fs::read_to_string(folder.path("context402-restore.1")).expect("a page");
    assert!(page.contains(".TH"), "{page}");
    assert!(run(&["man"]).expect(0).out.contains("verify\\-backup"));
}

/// Every series that an alert or the dashboard asks for is there, and every alert says what it means and what to do.
#[test]
fn alerts_and_dashboard_ask_for_what_there_is() {
    let rig = Rig::on_chain_today();
    rig.buy(&Wallet::new(), ARTICLE, "fresh").expect(200);
    until("the facilitator was looked at", || {
        rig.get("/metrics?format=prometheus")
            .text()
            .contains("context402_facilitator_up 1")
    });
    rig.probe_gas();
    // This rig has no browser: tests/it/render.rs.
    rig.app().metrics.renders.count(["unavailable"]);
    // As the operator: how much room there is, nobody else is told.
    let figures = rig.operator("/metrics?format=prometheus").text();
    let mut shown: BTreeSet<&str> = figures
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    // With HTTPS of its own: tests/it/tls.rs. With a browser: tests/it/render.rs.
    shown.insert("context402_tls_expires_in_seconds");
    shown.extend(["context402_renders_waiting", "context402_render_places"]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("UTF-8");
    let (alerts, dashboard) = (read("data/ops/alerts.yml"), read("data/ops/dashboard.json"));
    let mut asked = 0;
    for found in [&alerts, &dashboard]
        .into_iter()
        .flat_map(|text| text.split("context402_").skip(1))
    {
        let end = found.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        let name = format!("context402_{}", &found[..end.unwrap_or(found.len())]);
        let family = name.strip_suffix("_bucket").unwrap_or(&name);
        assert!(shown.contains(family), "{family} is not among {shown:?}");
        for label in labels(&found[name.len() - "context402_".len()..]) {
            let has = |line: &str| line.starts_with(&name) && line.contains(&format!("{label}=\""));
            assert!(figures.lines().any(has), "{name} has no label {label}");
        }
        asked += 1;
    }
    assert!(asked > 30, "only {asked} were looked at");
    let each: Vec<&str> = alerts.split("\n      - alert: ").skip(1).collect();
    assert!(each.len() > 10, "{} alerts", each.len());
    for alert in each {
        for annotation in ["summary", "description", "runbook"] {
            let named = format!("\n          {annotation}: ");
            let (_, text) = alert
                .split_once(&named)
                .unwrap_or_else(|| panic!("no {annotation}: {alert}"));
            let first = text.trim_start_matches(">-").trim_start().lines().next();
            assert!(
                first.is_some_and(|line| line.len() > 20),
                "{annotation}: {alert}"
            );
        }
    }
}

/// The alert of slow sales asked for a quantile beyond the largest bucket, which is never reported: it could not fire.
#[test]
fn the_alert_of_slow_sales_is_tested_with_our_buckets() {
    use context402::metrics::BUCKETS_US;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("UTF-8");
    let (alerts, test) = (read("data/ops/alerts.yml"), read("tests/data/alerts.yml"));
    let rule = alerts.split("Context402SlowSales").nth(1).expect("a rule");
    let limit = rule.lines().find(|line| line.contains("expr:"));
    let limit = limit.and_then(|line| line.rsplit("> ").next()?.parse::<u64>().ok());
    let limit_us = limit.expect("seconds") * 1_000_000;
    assert!(BUCKETS_US.last().is_some_and(|last| *last > limit_us));
    let test = test.split("name: Context402SlowSales").nth(1);
    let test = test.and_then(|rest| rest.split("  - name: ").next());
    let bounds = test.expect("a test").split("le=\"").skip(1);
    let bounds: Vec<&str> = bounds.filter_map(|rest| rest.split('"').next()).collect();
    let near = BUCKETS_US.iter().filter(|bound| **bound >= limit_us);
    let mut expected: Vec<String> = near.map(|bound| (bound / 1_000_000).to_string()).collect();
    expected.push("+Inf".to_owned());
    assert_eq!(bounds, expected);
}

/// The labels that a selector names, where one follows: `{code=~"5.."}` names `code`.
fn labels(after: &str) -> Vec<&str> {
    let selector = after
        .strip_prefix('{')
        .and_then(|text| text.split('}').next());
    let terms = selector.into_iter().flat_map(|text| text.split(','));
    terms
        .map(|term| term.split(['=', '!']).next().unwrap_or(term).trim())
        .collect()
}

/// The listener's queue is the kernel's: who is in it when the service stops is answered by the next one, and who was
/// just accepted is heard.
#[test]
fn a_connection_made_just_before_a_stop_is_heard() {
    let mut rig = Rig::today();
    assert!(rig.stop());
    let mut service = Service::start(rig.resolved(), &[]);
    let mut early = ask::connect(service.address);
    // Whoever is answered was accepted after it.
    service.get("/health?live=1").send().expect(200);
    service.terminate();
    thread::sleep(Duration::from_millis(200));
    early
        .write_all(b"GET /health?live=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .expect("still open");
    let answer = ask::read_all(&mut early);
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{answer:?}");
    assert!(service.end().success());
    rig.run();
}

/// A data file that hangs, as a dying disk makes it: health says so without waiting for it, and says when it is over.
#[test]
fn a_data_file_that_does_not_answer_is_seen_in_health() {
    let rig = Rig::start();
    let (release, released) = (Arc::new(AtomicBool::new(false)), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            let release = release.clone();
            let (rig, released) = (&rig, &released);
            scope.spawn(move || {
                let hangs = rig.app().store.read(move |_| {
                    while !release.load(Ordering::Relaxed) {
                        thread::sleep(Duration::from_millis(5));
                    }
                    Ok(())
                });
                rig.wait(hangs).expect("reads in the end");
                released.fetch_add(1, Ordering::Relaxed);
            });
        }
        let answers = || rig.wait(health::probe_store(rig.app()));
        until("both readers hang", || !answers());
        let found = rig.get("/health").expect(503).json();
        assert_eq!(found["status"], "down");
        assert_eq!(found["checks"]["database"]["status"], "down");
        assert_eq!(found["paid_enabled"], false);
        rig.get("/health?live=1").expect(200);
        release.store(true, Ordering::Relaxed);
        until("it answers again", answers);
    });
    assert_eq!(released.load(Ordering::Relaxed), 2);
    assert_eq!(rig.get("/health").expect(200).json()["status"], "ok");
}

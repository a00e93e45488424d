"""A service of one's own to wear down: the program on loopback with test funds, a small web that it buys from, and what
the system says about the process. Everything ends and is removed with the `with` block."""

import contextlib, http.client, http.server, json, os, random, re, secrets, signal, socket, subprocess, tempfile, threading, time

WORDS = "harbour ferry boat quay fare child adult winter summer morning evening bicycle ticket island crossing".split()


def page(seed, words=600):
    chance = random.Random(seed)
    text = " ".join(chance.choice(WORDS) for _ in range(words))
    return f"<!doctype html><title>Page {seed}</title><main><h1>Page {seed}</h1><p>Children travel free. {text}.</p></main>"


def surroundings():
    """This process's, with what the unit sets for the service."""
    unit = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../systemd/context402.service")
    with open(unit) as file:
        return os.environ | dict(re.findall(r"^Environment=(\w+)=(.*)$", file.read(), re.MULTILINE))


class Web(http.server.BaseHTTPRequestHandler):
    """Pages by path; some of them fail, in turn, as the web does."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        kind = self.path.strip("/").split("/")[0]
        if kind == "flaky" and random.random() < 0.4:
            return self.send_error(503)
        if kind == "slow":
            time.sleep(random.uniform(0, 3))
        if kind == "reset":
            return self.connection.close()
        if kind == "robots.txt":
            return self.send_error(404)
        body = {
            "large": lambda: page(self.path, 300_000),
            "huge": lambda: page(self.path, 780_000)[:5_242_000],
            "deep": lambda: "<div><ul><li>a" * 60_000,
            "wide": lambda: "<table>" + "<tr><td colspan=1000 rowspan=9999>x" * 100_000,
            "json": lambda: '[{"a":1},' * 60_000,
        }.get(kind, lambda: page(self.path))().encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if kind == "json" else "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if kind == "half":
            body = body[: len(body) // 2]
            self.close_connection = True
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Readers that go away in the middle are what the lab is for."""


class Lab:
    def __init__(self, program, data=None, **settings):
        """`data`: a folder for the data file, if it is to lie elsewhere than the rest."""
        self.program, self.data, self.settings = os.path.abspath(program), data, settings
        # What stands before the program in the command that starts the service, and what its environment has more.
        self.prefix, self.environment = [], {}

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="context402-load-")
        self.data = self.data or self.folder.name
        self.web = Server(("127.0.0.1", 0), Web)
        threading.Thread(target=self.web.serve_forever, daemon=True).start()
        self.hosts = [f"www.site{n}.org" for n in range(8)]
        self.config = f"{self.folder.name}/context402.toml"
        with open(self.config, "w") as file:
            file.write("\n".join(self.configuration()) + "\n")
        self.key = f"{self.folder.name}/buyer.key"
        self.start(create=True)
        return self

    def configuration(self):
        """The lines of the configuration."""
        port = self.web.server_address[1]
        hosts = {name: f"93.184.216.{34 + n}@127.0.0.1:{port}" for n, name in enumerate(self.hosts)}
        return [
            'base_url = "http://127.0.0.1:4020"', 'listen = "127.0.0.1:0"', f'data_file = "{self.data}/data.redb"',
            "[payment]", 'pay_to = "0x4020402040204020402040204020402040204020"',
            "[fetch]", "seconds_max = 5", "idle_seconds_max = 3",
            "[limits]", *(f"{key} = {value}" for key, value in self.settings.items()),
            "[lab]", "hosts = { " + ", ".join(f'"{name}" = "{to}"' for name, to in hosts.items()) + " }",
        ]

    def start(self, create=False):
        self.log = open(f"{self.folder.name}/log", "a+")
        seen = self.log.seek(0, os.SEEK_END)
        more = ["--create"] if create else []
        self.process = subprocess.Popen([*self.prefix, self.program, "serve", "--config", self.config, *more],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log,
                                        env=surroundings() | self.environment)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with open(self.log.name) as file:
                file.seek(seen)
                for line in file:
                    with contextlib.suppress(ValueError):
                        said = json.loads(line)
                        if said.get("message") == "ready":
                            self.address, self.port = said["address"], int(said["address"].rsplit(":", 1)[1])
                            return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise SystemExit("the service does not start; see " + open(self.log.name).read()[-2000:])

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(60)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.web.shutdown()
        self.folder.cleanup()

    def ask(self, method, path, body=None, headers={}, timeout=20):
        """Status and body, over a connection of its own."""
        return self.exchange(method, path, body, headers, timeout)[:2]

    def exchange(self, method, path, body=None, headers={}, timeout=20):
        """The same with the answer's headers, by their names in small letters."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()

    def buy(self, url, *more, seller=None):
        """Buys with a wallet of its own; whether the goods came, and what was said."""
        with tempfile.NamedTemporaryFile("w", dir=self.folder.name) as key:
            key.write(secrets.token_hex(32))
            key.flush()
            os.chmod(key.name, 0o600)
            command = [self.program, "buy", url, "--seller", f"http://127.0.0.1:{seller or self.port}", "--key-file", key.name, *more]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
            return done.returncode == 0, done.stderr.decode(errors="replace")[-300:]

    def bought(self, url, *more):
        """Buys through a relay; the paid request as it went over the wire, to be sent again."""
        taken, port = [], self.port

        class Relay(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers["PAYMENT-SIGNATURE"]:
                    taken.append(f"{self.requestline}\r\n{str(self.headers).strip()}\r\n\r\n".encode() + body)
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("POST", self.path, body, dict(self.headers))
                answer = connection.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.read())
                connection.close()

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay) as relay:
            threading.Thread(target=relay.serve_forever, daemon=True).start()
            good, said = self.buy(url, *more, seller=relay.server_address[1])
            relay.shutdown()
        if not good:
            raise SystemExit(f"{url} cannot be bought: {said}")
        return taken[-1]

    def in_state(self, state):
        """How many payments are in a state, as far as the operator's list goes."""
        with socket.socket(socket.AF_UNIX) as stream:
            stream.settimeout(20)
            stream.connect(f"{self.data}/data.sock")
            stream.sendall(f"GET /operator/payments?state={state}&limit=1000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: stream.recv(65536), b""))
        return len(json.loads(answer.split(b"\r\n\r\n", 1)[1])["payments"])

    def errors(self):
        """Lines of the log that are errors, without what the lab itself has caused."""
        with open(self.log.name) as log:
            return sum('"level":"ERROR"' in line for line in log)

    def memory_mib(self, name="VmRSS"):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(name + r":\s+(\d+)", file.read())[1]) / 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def shares(times):
    """p50, p99 and the most of it, in milliseconds."""
    ordered = sorted(times)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000
    return f"p50 {at(0.5):.1f}, p99 {at(0.99):.1f}, most {ordered[-1] * 1000:.1f} ms of {len(ordered)}"

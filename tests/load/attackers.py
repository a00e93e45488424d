"""Attackers from eight addresses, each doing all of ATTACKS at once. What they do in a second is bounded, so that
the service gets most of the CPU; what they hold is bounded by what the service lets them hold.

The names A1 to A12 are those of the table in tests/it/attacks.rs."""

import asyncio, base64, collections, contextlib, json, random, resource, secrets, signal, socket, struct, sys, time

from world import DOWN_HOST, LARGE_HOST, NO_FUNDS

ADDRESSES = [f"127.0.0.{n}" for n in range(2, 10)]

ATTACKS = ["A1", "A2", "A3", "A4", "A7", "A8", "A12"]

# Of each address: connections of one kind that it tries to hold, the most it opens of them in a second, and how often
# it opens all of them at once, in seconds.
HELD, OPENED_PER_SECOND, WAVE_SECONDS = 240, 12, 40
# Requests of each address in a second, and the connections that it keeps for them.
REQUESTS = {"A3": (1.2, 6), "A4": (3.5, 2), "A7": (0.6, 2), "A8": (4.0, 4)}
# An attack counts as made where so much of what was meant was tried: an attacker waits for what the service lets wait.
TRIED_SHARE = 0.2
# What one client may ask for at once where the service counts by the minute.
BURST_SECONDS = 60
# The longest that a connection is waited for, and an answer.
CONNECT_SECONDS, ANSWER_SECONDS = 10, 60
CUT_BODY_BYTES = 250 * 1024
# Where a page is made anew, with what asks for its markdown.
MARKDOWN = ["/docs.md", "/quickstart.md", "/docs", "/", "/llms-full.txt", "/proof-pack/bundle", "/pricing.md", "/docs?format=markdown"]


def tried_min(attacks, seconds):
    """How often each attack must have been tried in so many seconds."""
    per_second = lambda attack: REQUESTS[attack][0] if attack in REQUESTS else OPENED_PER_SECOND
    return {attack: int(TRIED_SHARE * len(ADDRESSES) * per_second(attack) * seconds) for attack in attacks}


class Rate:
    """So many in a second, and so many at once after a pause."""

    def __init__(self, per_second, burst):
        self.per_second, self.burst, self.left, self.at = per_second, burst, burst, time.monotonic()

    def refill(self):
        self.left = self.burst

    async def one(self):
        while True:
            now = time.monotonic()
            self.left = min(self.burst, self.left + (now - self.at) * self.per_second)
            self.at = now
            if self.left >= 1:
                self.left -= 1
                return
            await asyncio.sleep((1 - self.left) / self.per_second * random.uniform(1, 1.5))


class Attacker:
    def __init__(self, address, port, counts, offer):
        self.address, self.port, self.counts, self.offer = address, port, counts, offer
        # Connections that only hold a place; when one is refused, fewer are tried, so that the requests find room.
        self.holding, self.holding_max = 0, 3 * HELD

    def count(self, attack, what):
        self.counts[attack][what] += 1

    async def connect(self, receive_bytes=None):
        stream = socket.socket()
        try:
            stream.setblocking(False)
            # A close is a reset: no port stays taken.
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if receive_bytes:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            stream.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
            stream.bind((self.address, 0))
            async with asyncio.timeout(CONNECT_SECONDS):
                await asyncio.get_running_loop().sock_connect(stream, ("127.0.0.1", self.port))
            return stream
        except BaseException:
            stream.close()
            raise

    async def hold(self, attack, once, rate):
        """Holds a connection and does `once` on it, again and again."""
        while True:
            await rate.one()
            if self.holding >= self.holding_max:
                await asyncio.sleep(random.uniform(1, 3))
                continue
            self.holding += 1
            try:
                stream = await self.connect(16_384)
                try:
                    what = await once(stream)
                finally:
                    stream.close()
            except (OSError, TimeoutError) as error:
                what = type(error).__name__
            self.holding -= 1
            self.count(attack, what)
            if what == 429:
                self.holding_max = max(24, min(self.holding_max, self.holding) - 12)
                await asyncio.sleep(random.uniform(1, 3))

    async def relax(self):
        """Tries for more connections again, now and then."""
        while True:
            await asyncio.sleep(5)
            self.holding_max = min(3 * HELD, self.holding_max + 12)

    # What the attacks are.

    async def unread_pages(self, stream):
        """A1: asks for pages that are large to make, and reads late."""
        what = 0
        for _ in range(3):
            path = random.choice(MARKDOWN)
            await send(stream, f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: text/markdown\r\n\r\n".encode())
            await asyncio.sleep(random.uniform(2, 9))
            what, _ = await answer(stream)
            if what == 429:
                break
        return what

    async def cut_body(self, stream):
        """A2: the most of a body, and silence."""
        kind = random.randrange(4)
        signature = f"Stripe-Signature: t={int(time.time())},v1={secrets.token_hex(32)}\r\n" if kind != 1 else ""
        path, length = "/v1/webhooks/stripe", CUT_BODY_BYTES
        if kind == 0:
            path, length = random.choice(["/v1/quotes", "/v1/x402/access", "/mcp"]), 60_000
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{signature}Content-Length: {length + 4096}\r\n\r\n"
        with contextlib.suppress(ConnectionError):  # Refused at the head: the answer can be read.
            await send(stream, head.encode() + b"[" + b" " * length)
        return (await answer(stream))[0]

    async def cut_head(self, stream):
        """A12: a request head that never ends, one byte each 3 s."""
        loop = asyncio.get_running_loop()
        await send(stream, b"GET /docs HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        for _ in range(12):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(3):
                    return status_of(await loop.sock_recv(stream, 4096))
            await send(stream, b"a")
        return "held"

    def dead_name(self):
        """A3: a quote for a host whose name server is dead, each time another."""
        url = f"http://www.{secrets.token_hex(6)}.org/page"
        return random.choice([
            lambda: post("/v1/quotes", {"product": "context", "target_url": url, "tier": "fresh"}),
            lambda: post("/v1/quotes", {"product": "proof_pack", "target_url": url, "question": "Is it?"}),
            lambda: get(f"/v1/x402/quote?target_url={url}"),
            lambda: get(f"/v1/proof-pack/preview?target_url={url}&question=a"),
        ])()

    def long_quote(self):
        """A4: large records kept for unpaid clients: quotes for bundles of 25 long addresses, one in ten a lead."""
        urls = [f"http://www.{secrets.token_hex(6)}.org/{secrets.token_hex(990)}" for _ in range(25)]
        if random.random() < 0.1:
            return post("/v1/proof-pack/bundle/leads", {
                "contact": f"{secrets.token_hex(6)}@example.com", "target_urls": urls, "bundle": "audit",
                "question": secrets.token_hex(400), "use_case": secrets.token_hex(1500)})
        if random.random() < 0.1:
            return post("/v1/quotes", {"product": "proof_pack", "target_url": f"http://{DOWN_HOST}/{secrets.token_hex(990)}", "question": secrets.token_hex(500)})
        return post("/v1/quotes", {"product": "proof_bundle", "target_urls": urls, "question": secrets.token_hex(500)})

    def unsettled(self):
        """A7: a sale whose settlement fails with insufficient_funds; the page is large and its content new each time."""
        return self.paid(f"http://{LARGE_HOST}/{random.randrange(40)}", f"{NO_FUNDS}7{secrets.token_hex(18)}")

    def held_payment(self):
        """A8: a good payment for a target that is down, or whose name server is dead; mostly one payer, at times others."""
        host = DOWN_HOST if random.random() < 0.95 else f"www.{secrets.token_hex(6)}.org"
        payer = f"{NO_FUNDS}8" + (f"{ADDRESSES.index(self.address):036x}" if random.random() < 0.7 else secrets.token_hex(18))
        return self.paid(f"http://{host}/{secrets.token_hex(4)}", payer)

    def paid(self, url, payer):
        payment = {"x402Version": 2, "accepted": self.offer, "payload": {
            "signature": "0x" + secrets.token_hex(64) + "1b",
            "authorization": {
                "from": payer, "to": self.offer["payTo"], "value": self.offer["amount"], "validAfter": "0",
                "validBefore": str(int(time.time()) + self.offer["maxTimeoutSeconds"]),
                "nonce": "0x" + secrets.token_hex(32),
            }}}
        header = base64.b64encode(json.dumps(payment).encode()).decode()
        return post("/v1/x402/access", {"target_url": url, "tier": "fresh"}, f"PAYMENT-SIGNATURE: {header}\r\n")

    async def ask(self, attack, make, rate):
        """Sends requests over one connection, and opens it anew when it ends."""
        stream = None
        while True:
            await rate.one()
            try:
                stream = stream or await self.connect()
                async with asyncio.timeout(ANSWER_SECONDS):
                    await send(stream, make())
                    what, stays = await answer(stream)
            except (OSError, TimeoutError) as error:
                what, stays = type(error).__name__, False
            self.count(attack, what)
            if not stays and stream:
                stream.close()
                stream = None
            if not stays:
                await asyncio.sleep(random.uniform(0.2, 0.6))

    def start(self, attacks):
        """What there is to run, and the rates that waves refill."""
        tasks, waves = [self.relax()], []
        asks = {"A3": self.dead_name, "A4": self.long_quote, "A7": self.unsettled, "A8": self.held_payment}
        holds = {"A1": self.unread_pages, "A2": self.cut_body, "A12": self.cut_head}
        for attack in [attack for attack in attacks if attack in asks]:
            per_second, connections = REQUESTS[attack]
            rate = Rate(per_second, per_second * BURST_SECONDS)
            tasks += [self.ask(attack, asks[attack], rate) for _ in range(connections)]
        for attack in [attack for attack in attacks if attack in holds]:
            rate = Rate(OPENED_PER_SECOND, HELD)
            waves.append(rate)
            tasks += [self.hold(attack, holds[attack], rate) for _ in range(HELD)]
        return tasks, waves


def post(path, body, headers=""):
    body = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


async def send(stream, data):
    async with asyncio.timeout(30):
        await asyncio.get_running_loop().sock_sendall(stream, data)


def status_of(head):
    return int(head[9:12]) if head[9:12].isdigit() else "closed"


async def answer(stream):
    """The status of an answer, which is read to its end, and whether the connection can be used again."""
    loop, taken = asyncio.get_running_loop(), b""
    while b"\r\n\r\n" not in taken and len(taken) < 65_536:
        async with asyncio.timeout(ANSWER_SECONDS):
            more = await loop.sock_recv(stream, 65_536)
        if not more:
            return status_of(taken), False
        taken += more
    head, _, rest = taken.partition(b"\r\n\r\n")
    head = head.lower()
    if b"\r\ncontent-length: " not in head or b"\r\nconnection: close" in head:
        return status_of(taken), False
    left = int(head.split(b"\r\ncontent-length: ")[1].split(b"\r\n")[0]) - len(rest)
    while left > 0:
        async with asyncio.timeout(ANSWER_SECONDS):
            more = await loop.sock_recv(stream, 65_536)
        if not more:
            return "cut", False
        left -= len(more)
    return status_of(taken), left == 0


def run(port, offer, attacks, report):
    """Does the attacks until it is told to end by SIGTERM; then says in the file `report` what was answered and what it cost."""
    counts = collections.defaultdict(collections.Counter)

    async def waves(kinds):
        """Opens everything of a kind at once, one kind after the other."""
        while True:
            await asyncio.sleep(WAVE_SECONDS / max(1, len(kinds)))
            kinds = kinds[1:] + kinds[:1]
            for rate in kinds[-1] if kinds else []:
                rate.refill()

    async def main():
        over, rates, tasks = asyncio.Event(), [], []
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
        for address in ADDRESSES:
            its_tasks, its_rates = Attacker(address, port, counts, offer).start(attacks)
            tasks += its_tasks
            rates.append(its_rates)
        running = [asyncio.ensure_future(task) for task in [*tasks, waves(list(zip(*rates)))]]
        await over.wait()
        broken = [task for task in running if task.done()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for task in broken:
            print(f"an attacker has ended: {task.exception()!r}", file=sys.stderr)
        return not broken

    good = asyncio.run(main())
    spent = resource.getrusage(resource.RUSAGE_SELF)
    said = {"counts": {attack: {str(what): n for what, n in of.most_common()} for attack, of in counts.items()},
            "cpu_seconds": spent.ru_utime + spent.ru_stime, "good": good}
    with open(report, "w") as file:
        json.dump(said, file)

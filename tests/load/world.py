"""The network around the service under siege: a name server that answers for a few names and for no other, a web server,
and a facilitator stub that records what was moved. One process, in the network namespace of the siege."""

import asyncio, itertools, json, random, struct

from lab import WORDS, page

# A public address, given to the loopback of a network namespace: everything that the service checks runs unchanged.
WEB = "93.184.216.34"
NAME_SERVER = "127.0.0.53"
FACILITATOR_PORT = 4021
HONEST_HOSTS = [f"www.site{n}.org" for n in range(8)]
# Its pages are large and never the same twice.
LARGE_HOST = "www.large.org"
# Answers 503.
DOWN_HOST = "www.down.org"
KNOWN = {*HONEST_HOSTS, LARGE_HOST, DOWN_HOST}
# Payments of payers with this prefix verify; their settlement fails with insufficient_funds.
NO_FUNDS = "0xbad"
LARGE_PAGE_BYTES = 200_000
# A settlement takes a block or two.
SETTLE_SECONDS = 0.2

REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 503: "Service Unavailable"}


class NameServer(asyncio.DatagramProtocol):
    """A and AAAA for the known names; silence for every other, as a dead server gives."""

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, query, client):
        name, at = [], 12
        while (length := query[at]) != 0:
            name.append(query[at + 1 : at + 1 + length].decode("ascii", "replace").lower())
            at += 1 + length
        if ".".join(name) not in KNOWN:
            return
        question = query[12 : at + 5]
        answers = []
        if struct.unpack("!H", query[at + 1 : at + 3])[0] == 1:
            answers.append(b"\xc0\x0c" + struct.pack("!HHIH4B", 1, 1, 60, 4, *map(int, WEB.split("."))))
        head = query[:2] + struct.pack("!HHHHH", 0x8180, 1, len(answers), 0, 0)
        self.transport.sendto(head + question + b"".join(answers), client)


async def serve(reader, writer, answer):
    """HTTP/1.1 with Content-Length; `answer` takes method, path, host and body, and gives status, type and body."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, _ = head[0].split(" ", 2)
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            status, kind, text = await answer(method, path, headers.get("host", ""), body)
            writer.write(f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: {kind}\r\n"
                         f"Content-Length: {len(text)}\r\n\r\n".encode() + text)
            await writer.drain()
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        pass  # The service has gone away, or was killed.
    finally:
        writer.close()


class Pages:
    def __init__(self):
        chance, self.count = random.Random(1), itertools.count()
        paragraph = lambda: "<p>" + " ".join(chance.choice(WORDS) for _ in range(80)) + ".</p>"
        self.filling = "".join(paragraph() for _ in range(LARGE_PAGE_BYTES // 560))

    async def answer(self, method, path, host, body):
        if path == "/robots.txt":
            return 404, "text/plain", b"none"
        if host == DOWN_HOST:
            return 503, "text/plain", b"down"
        if host == LARGE_HOST:
            title = f"Page {next(self.count)}"
            text = f"<!doctype html><title>{title}</title><main><h1>{title}</h1>{self.filling}</main>"
        else:
            text = page(path)
        return 200, "text/html; charset=utf-8", text.encode()


class Facilitator:
    """Verifies every payment. Settles each authorization once, except those of payers without funds."""

    def __init__(self):
        self.moved = {}
        self.calls = {"verify": 0, "settle": 0, "refused": 0}

    async def answer(self, method, path, host, body):
        return 200, "application/json", json.dumps(await self.said(path.strip("/"), body)).encode()

    async def said(self, path, body):
        if path == "supported":
            kind = {"x402Version": 2, "scheme": "exact", "network": "eip155:8453"}
            return {"kinds": [kind], "extensions": [], "signers": {}}
        if path == "account":
            return {"moved": list(self.moved.values()), "calls": self.calls}
        asked = json.loads(body)
        authorization = asked["paymentPayload"]["payload"]["authorization"]
        payer, nonce = authorization["from"], authorization["nonce"]
        self.calls[path] += 1
        if path == "verify":
            return {"isValid": True, "payer": payer}
        await asyncio.sleep(SETTLE_SECONDS)
        network = asked["paymentRequirements"]["network"]
        if payer.lower().startswith(NO_FUNDS):
            self.calls["refused"] += 1
            return {"success": False, "errorReason": "insufficient_funds", "payer": payer, "transaction": "", "network": network}
        moved = self.moved.setdefault((payer, nonce), {
            "units": int(authorization["value"]), "transaction": f"0x{random.getrandbits(256):064x}",
        })
        return {"success": True, "transaction": moved["transaction"], "network": network, "payer": payer}


def run(ready):
    """Until it is terminated; `ready` is set once everything listens."""

    async def main():
        loop, pages, facilitator = asyncio.get_running_loop(), Pages(), Facilitator()
        await loop.create_datagram_endpoint(NameServer, (NAME_SERVER, 53))
        servers = [
            await asyncio.start_server(lambda *streams: serve(*streams, pages.answer), WEB, 80, backlog=1024),
            await asyncio.start_server(lambda *streams: serve(*streams, facilitator.answer), "127.0.0.1",
                                       FACILITATOR_PORT, backlog=1024),
        ]
        ready.set()
        await asyncio.gather(*(server.serve_forever() for server in servers))

    asyncio.run(main())

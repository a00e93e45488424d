"""Mail servers that ask for a name and a password, for as long as the standard input is open: `mail_servers.py FOLDER`,
with `CA-NAME.pem` and `CA-NAME.key` for each certificate in it. Prints their ports, then what comes to each, as JSON lines."""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

NAME, PASSWORD = b"reports", b"correct horse"


class Server:
    """One server. `seen` is what a reader on the way would have to be kept from: a password, or a mail."""

    def __init__(self, name):
        self.name = name

    def seen(self, what, session, **more):
        encrypted = session.ssl is not None or self.name.startswith("implicit")
        print(json.dumps({"server": self.name, "what": what, "encrypted": encrypted, **more}), flush=True)

    def authenticator(self, server, session, envelope, mechanism, data):
        self.seen("password", session, mechanism=mechanism)
        return AuthResult(success=(data.login, data.password) == (NAME, PASSWORD), handled=False)

    async def handle_DATA(self, server, session, envelope):
        self.seen("mail", session, to=envelope.rcpt_tos, authenticated=session.authenticated)
        return "250 taken"


def context(folder, certificate):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(f"{folder}/{certificate}.pem", f"{folder}/{certificate}.key")
    return made


async def serve(folder):
    good, another = context(folder, "good"), context(folder, "another")
    servers = {
        "starttls": {"starttls": good},
        "starttls-login": {"starttls": good, "auth_exclude_mechanism": ["PLAIN"]},
        "starttls-another": {"starttls": another},
        "implicit": {"implicit": good},
        "implicit-login": {"implicit": good, "auth_exclude_mechanism": ["PLAIN"]},
        "implicit-another": {"implicit": another},
        # It would take a password in clear, and says so.
        "clear": {},
    }
    ports, loop, kept = {}, asyncio.get_running_loop(), []
    for name, how in servers.items():
        implicit, starttls = how.pop("implicit", None), how.pop("starttls", None)
        server = Server(name)
        make = lambda server=server, starttls=starttls, how=how: SMTP(
            server, authenticator=server.authenticator, auth_required=True, tls_context=starttls,
            require_starttls=starttls is not None, auth_require_tls=starttls is not None, **how)
        kept.append(await loop.create_server(make, "127.0.0.1", 0, ssl=implicit))
        ports[name] = kept[-1].sockets[0].getsockname()[1]
    print(json.dumps(ports), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(serve(sys.argv[1]))

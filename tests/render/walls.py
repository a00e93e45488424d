"""Each wall removed in turn, with the browser alone: what it reaches then, and that the other walls hold without it. The
browser gets the very switches that the program gives it, read from /proc while a page is rendered."""

import os
import shutil
import socket
import subprocess
import threading
import time

from rig import FOLDER, MAPPED, browser, check, is_main_browser, named

HOSTILE = "http://plain.example.org/hostile"
# Positive control: fewer hits than this, and the canaries see too little to prove anything.
CONTROL_MIN = 50
# A port of the namespace at which nobody listens.
CLOSED = 4899
OPEN_PROXY = 4898


def switches_of(rig):
    """The switches of the browser while the program renders a page."""
    buying = threading.Thread(target=rig.buy, args=("/poll?switches",), kwargs={"render": "always"})
    buying.start()
    found = []

    def is_browser(words):
        if not is_main_browser(words):
            return False
        found[:] = [word for word in words if word.startswith("--")]
        return True

    while buying.is_alive() and not named(is_browser):
        time.sleep(0.05)
    buying.join()
    return found


def alone(rig, switches, namespace=False, seconds=6):
    """Hits while the browser shows the hostile page by itself."""
    before = rig.hits()
    profile = f"{rig.work}/alone"
    command = [browser(), *switches, f"--user-data-dir={profile}", f"--timeout={seconds}000", "--dump-dom", HOSTILE]
    if os.getuid() == 0:
        command = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", *command]
    if namespace:
        command = ["unshare", "--user", "--map-root-user", "--net", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    subprocess.run(["timeout", "-k", "1", str(seconds + 12), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    time.sleep(1)
    shutil.rmtree(profile, ignore_errors=True)
    return rig.hits() - before


class OpenProxy(threading.Thread):
    """What the guard would be without its clearing: dials whatever it is asked for."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", OPEN_PROXY))
        self.start()

    def run(self):
        while True:
            stream, _ = self.listener.accept()
            threading.Thread(target=self.pass_on, args=(stream,), daemon=True).start()

    def pass_on(self, stream):
        try:
            head = stream.recv(16384)
            method, target = head.split(b" ")[:2]
            is_tunnel = method == b"CONNECT"
            rest = target if is_tunnel else target.split(b"://", 1)[1].split(b"/", 1)[0]
            host, _, port = rest.rsplit(b"@", 1)[-1].rpartition(b":") if b":" in rest.rsplit(b"]", 1)[-1] else (rest, b"", b"80")
            name = host.strip(b"[]").decode()
            place = ("127.0.0.1", 4811) if name.endswith("example.org") and port == b"80" else (name, int(port))
            with socket.create_connection(place, timeout=3) as out:
                if is_tunnel:
                    stream.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                else:
                    path = target.split(b"://", 1)[1].partition(b"/")[2]
                    head = head.replace(target, b"/" + path, 1).replace(b"Proxy-Connection: keep-alive", b"Connection: close")
                    out.sendall(head)
                answer = threading.Thread(target=copy, args=(out, stream), daemon=True)
                answer.start()
                copy(stream, out)
                answer.join(5)
        except (OSError, ValueError, IndexError):
            pass
        finally:
            stream.close()


def copy(from_, to):
    try:
        from_.settimeout(5)
        while data := from_.recv(65536):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def guarded(rig):
    before = rig.hits()

    def buy(page, *more):
        return rig.buy(page, host="plain.example.org", render="always", more=more)

    # The page leads its own window away, by several ways at once. Mostly the browser takes one that is refused, and the answer
    # says render_failed, which is said of a browser that ran; now and then it stays, and is read. Both are held by the hits below.
    for number in range(3):
        answer = buy(f"/hostile?{number}")
        said = [warning["code"] for warning in answer.get("warnings", [])]
        was_there = "render_failed" in said or answer.get("rendered") is True and "Hostile" in answer.get("markdown", "")
        check("the hostile page was in the browser, and leads nowhere", was_there, f"{said} {answer.get('error', '')}")
    answer = buy("/hostile?stays")
    is_read = answer.get("rendered") is True and "Hostile" in answer.get("markdown", "")
    check("the same page, if it stays, is rendered", is_read, f"{answer.get('warnings')} {answer.get('error', '')}")
    # For a picture images and fonts are loaded, too.
    report = buy("/hostile?stays", "--pack", "deep", "--screenshot")
    screenshot = report.get("screenshot") or {}
    check("there is a picture of it", screenshot.get("image"), f"{screenshot.get('warning')} {report.get('error', '')}")
    time.sleep(1)
    hits = rig.hits() - before
    check("it reaches no canary, also for the picture", hits == 0, f"{hits} hits")


def removed(rig):
    """Prints how many hits there are with each wall removed, and checks what is known of each."""
    ours = [word for word in switches_of(rig) if not word.startswith(("--remote-debugging-pipe", "--no-startup-window", "--user-data-dir"))]
    check("the switches of the program's browser are known", any(word.startswith("--proxy-server=") for word in ours), f"{len(ours)} of them")

    def without(*names, more=()):
        return [word for word in ours if not word.startswith(names)] + list(more)

    def proxied(port, *names):
        return without("--proxy-server", *names, more=(f"--proxy-server=http://127.0.0.1:{port}",))

    bare = ["--headless=new", "--disable-gpu", MAPPED]
    loose = alone(rig, bare, seconds=12)
    check(f"without any wall the page reaches more than {CONTROL_MIN} canaries", loose > CONTROL_MIN, f"{loose} hits")
    hits = alone(rig, bare, namespace=True)
    check("the network namespace holds by itself: no switch, no guard", hits == 0, f"{hits} hits")
    # The page itself has to come through, from here on by a proxy that is open to everything.
    OpenProxy()
    hits = alone(rig, proxied(OPEN_PROXY))
    check("the guard's clearing is what holds behind the proxy: an open proxy lets more than 20 through", hits > 20, f"{hits} hits")
    hits = alone(rig, without("--proxy-server", "--host-resolver-rules", more=(MAPPED,)))
    check("without the proxy the switches do not hold", hits > 20, f"{hits} hits")
    # A page that is there without any network shows what goes round the proxy.
    hits = local(rig, bare)
    check("the same page from a file, without any wall, reaches more than 30", hits > 30, f"{hits} hits")
    hits = local(rig, proxied(CLOSED))
    check("the switches hold by themselves: no namespace, and a proxy that nobody answers", hits == 0, f"{hits} hits")
    hits = local(rig, proxied(CLOSED, "--proxy-bypass-list"))
    check("without --proxy-bypass-list a page reaches loopback", hits > 0, f"{hits} hits")
    hits = local(rig, proxied(CLOSED, "--webrtc-ip-handling-policy", "--force-webrtc-ip-handling-policy"))
    # Not every Chromium gathers candidates here; none has with the policy.
    print(f"figure without the policy for WebRTC: {hits} hits", flush=True)
    for name in ("--host-resolver-rules", "--disable-quic", "--dns-prefetch-disable", "--no-pings", "--disable-background-networking"):
        hits = local(rig, proxied(CLOSED, name))
        check(f"without {name} the others hold", hits == 0, f"{hits} hits")


def local(rig, switches):
    """The same where the page needs no network to be there: from a file, with what a page of the web may ask for."""
    before = rig.hits()
    profile = f"{rig.work}/local"
    command = [browser(), *switches, f"--user-data-dir={profile}", "--timeout=8000", "--dump-dom", f"file://{FOLDER}/hostile.html"]
    if os.getuid() == 0:
        command = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", *command]
    subprocess.run(["timeout", "-k", "1", "20", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    time.sleep(1)
    shutil.rmtree(profile, ignore_errors=True)
    return rig.hits() - before


def sandbox(rig):
    """Where user namespaces are not allowed there is no rendering: the sandbox is never left out."""
    limit = "/proc/sys/user/max_user_namespaces"
    with open(limit) as file:
        before = file.read()
    try:
        with open(limit, "w") as file:
            file.write("0")
    except OSError as error:
        return check("user namespaces can be forbidden here", False, str(error))
    try:
        answer = rig.buy("/app?forbidden")
        check("without user namespaces nothing is rendered, and nothing is charged", "render_unavailable" in answer.get("error", "") or "no browser" in answer.get("error", "").lower(), answer.get("error", str(answer)[:100]))
        line = rig.doctor()
        check("the doctor says what to allow", "user namespaces" in line, line)
        plain = rig.buy("/static?forbidden")
        check("pages with text are sold as ever", "plain" in plain.get("markdown", ""), plain.get("error", ""))
    finally:
        with open(limit, "w") as file:
            file.write(before)
    after = rig.buy("/app?allowed")
    check("once they are allowed again, pages are rendered", after.get("rendered") is True, after.get("error", ""))


def jit(rig):
    """Without the compiler the page has no WebAssembly; with it, it has."""
    page = "data:text/html,<p id=r></p><script>r.textContent=typeof WebAssembly</script>"
    ours = [word for word in switches_of(rig) if word.startswith("--js-flags=")]
    for flags, word in ((ours, "undefined"), ([], "object")):
        profile = f"{rig.work}/jit"
        command = [browser(), "--headless=new", "--disable-gpu", *flags, f"--user-data-dir={profile}", "--dump-dom", page]
        if os.getuid() == 0:
            command = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", *command]
        shown = subprocess.run(["timeout", "20", *command], capture_output=True, text=True, check=False).stdout
        shutil.rmtree(profile, ignore_errors=True)
        check(f"WebAssembly {'with our switches' if flags else 'without --jitless'}: {word}", word in shown, " ".join(flags))

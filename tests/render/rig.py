"""What the parts of tests/render/run share: the service with its sites and canaries, what browsers use, and what is left."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
SELLER = "http://127.0.0.1:4431"
SENTENCE = "The ferry to the island leaves at nine in the morning and returns at six in the evening."
# Hosts of different owners, so that four pages can be rendered at once; all of them are one site on loopback.
HOSTS = ("app.example.org", "plain.example.org", "app.example.com", "app.example.net", "app.example.edu")
# A switch of the browser: without the program, pages are found here.
MAPPED = "--host-resolver-rules=MAP *.example.org 127.0.0.1:4811"
counts = {"passed": 0, "failed": 0}


def check(what, holds, more=""):
    counts["passed" if holds else "failed"] += 1
    print(f"{'ok  ' if holds else 'FAIL'} {what} {more}".rstrip(), flush=True)


def browser():
    for name in ("chromium-headless-shell", "chromium"):
        if shutil.which(name):
            return shutil.which(name)
    sys.exit("no browser is installed: apt-get install chromium-headless-shell")


def texts():
    return [f"Paragraph number {n}: {SENTENCE} Ticket {n} costs {n * 3 + 1} coins." for n in range(20)]


# The service's process, and what the folder of its jobs begins with, once it runs.
service = {"pid": None, "scratch": None}


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(") ", 1)[1].split()[1]
    except (OSError, IndexError):
        return "0"


def is_ours(pid):
    """Whether a process is a worker or browser of the program: it stands below the service, or has the folder of its job in its
    command or environment. Others may run browsers on this machine."""
    if service["pid"] is None or pid == service["pid"]:
        return False
    above = pid
    for _ in range(16):
        above = parent(above)
        if above == service["pid"]:
            return True
        if above in ("0", "1"):
            break
    said = b""
    for name in ("cmdline", "environ"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                said += file.read()
        except OSError:
            pass
    return service["scratch"].encode() in said


def is_main_browser(words):
    """The browser itself, and none of its children; `unshare`, which becomes it, has switches of its own."""
    return "--remote-debugging-pipe" in words and os.path.basename(words[0]) != "unshare" and not any(word.startswith("--type=") for word in words)


def command(pid):
    """A process's words."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return []


def named(is_wanted):
    """Our processes whose command is the one wanted."""
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and is_ours(pid) and is_wanted(command(pid))]


class Usage(threading.Thread):
    """CPU seconds of browsers and workers, and their memory at the most: sampled, so a process's last 20 ms are lost."""

    def __init__(self):
        super().__init__(daemon=True)
        self.cpu, self.peak, self.now, self.known, self.is_over = {}, 0, 0, {}, False
        self.start()

    def run(self):
        ticks = os.sysconf("SC_CLK_TCK")
        while not self.is_over:
            resident = 0
            for pid in (name for name in os.listdir("/proc") if name.isdigit()):
                try:
                    if not self.known.get(pid):
                        self.known[pid] = is_ours(pid)
                    if not self.known[pid]:
                        continue
                    with open(f"/proc/{pid}/stat") as file:
                        fields = file.read().rsplit(") ", 1)[1].split()
                    with open(f"/proc/{pid}/smaps_rollup") as file:
                        resident += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
                except (OSError, StopIteration, IndexError):
                    continue
                self.cpu[(pid, fields[19])] = (int(fields[11]) + int(fields[12])) / ticks
            self.now = resident // 1024
            self.peak = max(self.peak, self.now)
            time.sleep(0.02)

    def seconds(self):
        return sum(self.cpu.values())


def leftovers():
    """Processes of browsers and workers, and folders of profiles."""
    return [f"{pid} {' '.join(command(pid))[:60]}" for pid in os.listdir("/proc") if pid.isdigit() and is_ours(pid)] + glob.glob(f"{service['scratch']}*/*/")


class Rig:
    """The program as a service, with a browser, in the network namespace that this process is in."""

    def __init__(self, program, work, at_once=4, jit=False):
        self.program, self.work = program, work
        self.canaries = f"{work}/canaries.log"
        open(self.canaries, "w").close()
        hosts = ", ".join(f'"{name}" = "93.184.216.34@127.0.0.1:4811"' for name in HOSTS)
        with open(f"{work}/config.toml", "w") as file:
            file.write(f'base_url = "{SELLER}"\nlisten = "127.0.0.1:4431"\ndata_file = "{work}/data.redb"\n'
                       'payment.pay_to = "0x4020402040204020402040204020402040204020"\n'
                       f'render.browser = "{browser()}"\nrender.at_once_max = {at_once}\nrender.jit = {str(jit).lower()}\n'
                       f'lab.hosts = {{ {hosts} }}\n')
        self.keys, self.making_keys = [], threading.Lock()
        self.site = subprocess.Popen([sys.executable, f"{FOLDER}/site.py", self.canaries, work])
        self.start()

    def start(self):
        config = f"{self.work}/config.toml"
        create = [] if os.path.exists(f"{self.work}/data.redb") else ["--create"]
        with open(f"{self.work}/service.log", "a") as log:
            self.service = subprocess.Popen([self.program, "serve", *create, "--config", config], stdout=log, stderr=log)
        service["pid"], service["scratch"] = str(self.service.pid), f"{tempfile.gettempdir()}/context402-render-{self.service.pid}-"
        for _ in range(100):
            if subprocess.run([self.program, "healthcheck", "--config", config], capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.2)
        self.site.kill()
        with open(f"{self.work}/service.log") as log:
            sys.exit("the service does not start: " + log.read()[-600:])

    def key(self, buyer):
        """The key of a buyer, made when it is first needed; buyers ask from several threads."""
        with self.making_keys:
            while len(self.keys) <= buyer:
                path = f"{self.work}/key-{len(self.keys)}"
                with open(path, "w") as file:
                    file.write("0x" + os.urandom(32).hex())
                os.chmod(path, 0o600)
                self.keys.append(path)
            return self.keys[buyer]

    def buy(self, path, host="app.example.org", render=None, buyer=0, more=()):
        command = [self.program, "buy", f"http://{host}{path}", "--seller", SELLER, "--key-file", self.key(buyer), "--json", *more]
        command += ["--render", render] if render else []
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
        at = done.stdout.find("{")
        answer = json.loads(done.stdout[at:]) if done.returncode == 0 and at >= 0 else {"error": done.stderr.strip()[-200:]}
        answer["seconds"] = time.monotonic() - began
        return answer

    def doctor(self):
        command = [self.program, "doctor", "--config", f"{self.work}/config.toml"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return next((line for line in done.stdout.splitlines() if " browser " in line), "no line " + done.stderr[-200:])

    def hits(self):
        with open(self.canaries) as file:
            return len(file.readlines())

    def stop(self):
        self.service.terminate()
        self.service.wait(60)
        self.site.kill()

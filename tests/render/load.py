"""Four pages at once, and many one after another: memory, processes, files and failures."""

import collections
import os
import statistics
import threading
import time

from rig import HOSTS, check, leftovers

MEMORY_MAX_MB = 600
ORDINARY = ("/app", "/canvas", "/consent", "/late")
# One in so many is a page that misbehaves.
HOSTILE_EVERY = 25
HOSTILE = ("/hostile", "/loop", "/dialogs", "/popups", "/deep", "/away", "/redirects", "/flood")


def four(rig, usage):
    """Pages of four owners for four buyers, three times."""
    time.sleep(2)
    usage.peak = 0
    hosts = [host for host in HOSTS if host != "plain.example.org"]
    answers = []

    def buy(number, round_number):
        answers.append(rig.buy(f"/app?four{round_number}", host=hosts[number], buyer=number))

    for round_number in range(3):
        threads = [threading.Thread(target=buy, args=(number, round_number)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    right = sum("Paragraph 11" in answer.get("markdown", "") for answer in answers)
    check("twelve pages, four at once, are right", right == 12, str([answer["error"] for answer in answers if "error" in answer][:2]))
    peak = usage.peak
    check(f"four at once take at most {MEMORY_MAX_MB} MB", 0 < peak <= MEMORY_MAX_MB, f"{peak} MB")
    time.sleep(2)
    check("2 s later they take nothing", usage.now == 0 and not leftovers(), f"{usage.now} MB {leftovers()[:2]}")


def state(rig):
    """Resident kilobytes, descriptors and threads of the service."""
    process = f"/proc/{rig.service.pid}"
    with open(f"{process}/status") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    return int(fields["VmRSS"].split()[0]), len(os.listdir(f"{process}/fd")), int(fields["Threads"])


def soak(rig, usage, count):
    """So many renders for two buyers side by side; what the service holds must not grow with them."""
    usage.is_over = True
    places = [("app.example.org", 0), ("app.example.com", 1)]
    times, failures, lock = [], collections.Counter(), threading.Lock()
    numbers = iter(range(count))
    warm = {}

    def buy_on(host, buyer):
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            if number == min(count // 5, 100):
                warm["state"] = state(rig)
            is_hostile = number % HOSTILE_EVERY == HOSTILE_EVERY - 1
            path = HOSTILE[number // HOSTILE_EVERY % len(HOSTILE)] if is_hostile else ORDINARY[number % len(ORDINARY)]
            # A buyer's test funds are enough for some 300 of them.
            answer = rig.buy(f"{path}?soak{number}", host=host, buyer=buyer + len(places) * (number // 400), render="always")
            with lock:
                if not is_hostile and answer.get("rendered") is True:
                    times.append(answer["render_ms"])
                elif not is_hostile:
                    failures[answer.get("error") or str([warning["code"] for warning in answer.get("warnings", [])])] += 1

    began = time.monotonic()
    threads = [threading.Thread(target=buy_on, args=place) for place in places]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - began
    time.sleep(2)
    times.sort()
    (kilobytes, descriptors, tasks), after = warm["state"], state(rig)
    print(f"figure {count} renders in {took:.0f} s, p50 {statistics.median(times):.0f} ms, p95 {times[int(len(times) * 0.95)]} ms, "
          f"longest {times[-1]} ms; service {kilobytes // 1024} -> {after[0] // 1024} MB, {descriptors} -> {after[1]} descriptors, "
          f"{tasks} -> {after[2]} threads", flush=True)
    check(f"{count} renders: every ordinary page is right", not failures, str(dict(failures))[:300])
    check("no process and no profile is left", not leftovers(), str(leftovers()[:3]))
    grown = after[0] - kilobytes
    check("the service's memory does not grow", grown < 24 * 1024 + 8 * count, f"{grown} kB")
    check("its descriptors do not grow", after[1] <= descriptors + 6, f"{descriptors} -> {after[1]}")

"""Captures: how long one takes, and how many of ten thousand that are dropped at once are done in a second, beside the
plainest things that do a part of the same."""
import json, os, pathlib, signal, statistics, subprocess, sys, time

import measure
from agent import TICK, Agent, folder, seconds

APPEND = """
- rule: Bench
  in: dropbox
  settle: 200ms
  do:
    - append-block: { heading: Captures, anchor: cap, text: "{{ file.text }}" }
"""

FULL = """
- rule: Bench
  in: dropbox
  settle: 200ms
  do:
    - index-capture
    - append-block: { heading: Captures, anchor: cap, text: "{{ capture.text }}" }
    - trash
"""

WATCHDOG = "watchdog==6.0.0"

SHELL = r"""
inotifywait -m -q -e close_write --format %f "$1/in" | while IFS= read -r name; do
    { printf '\n^cap-0000\n'; cat "$1/in/$name"; } >> "$1/note.md"
    sync "$1/note.md"
done
"""

OBSERVER = """
import os, sys, threading
from watchdog.events import FileSystemEventHandler
from watchdog.observers import Observer

class Append(FileSystemEventHandler):
    def on_closed(self, event):
        with open(event.src_path) as file, open(sys.argv[1] + "/note.md", "a") as note:
            note.write("\\n^cap-0000\\n" + file.read())
            note.flush()
            os.fsync(note.fileno())

observer = Observer()
observer.schedule(Append(), sys.argv[1] + "/in")
observer.start()
threading.Event().wait()
"""

KEEPER = """
import os, sqlite3, sys, threading
from watchdog.events import FileSystemEventHandler
from watchdog.observers import Observer

root = sys.argv[1]
files, info = root + "/trash/files", root + "/trash/info"
for folder in (files, info):
    os.makedirs(folder)
database = sqlite3.connect(root + "/captures.sqlite", isolation_level=None, check_same_thread=False)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = FULL")
database.execute("CREATE TABLE capture (name TEXT PRIMARY KEY, text TEXT NOT NULL)")
folders = [os.open(folder, os.O_RDONLY) for folder in (files, root + "/in")]

def write(path, mode, text):
    with open(path, mode) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())

class Keep(FileSystemEventHandler):
    def on_closed(self, event):
        name = os.path.basename(event.src_path)
        with open(event.src_path) as file:
            text = file.read()
        database.execute("INSERT INTO capture VALUES (?, ?)", (name, text))
        write(root + "/note.md", "a", "\\n^cap-0000\\n" + text)
        write(f"{info}/{name}.trashinfo", "x", f"[Trash Info]\\nPath={event.src_path}\\nDeletionDate=2026-11-26T10:00:00\\n")
        os.rename(event.src_path, f"{files}/{name}")
        for folder in folders:
            os.fsync(folder)

observer = Observer()
observer.schedule(Keep(), root + "/in")
observer.start()
threading.Event().wait()
"""

DATABASE = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1] + "/captures.sqlite", isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = FULL")
database.execute("CREATE TABLE capture (name TEXT PRIMARY KEY, text TEXT NOT NULL)")
for entry in os.scandir(sys.argv[1] + "/in"):
    with open(entry.path) as file:
        database.execute("INSERT INTO capture VALUES (?, ?)", (entry.name, file.read()))
"""


def receipts(agent):
    """The time of each file's first receipt."""
    found = {}
    for line in agent.command("log", "--json", "--lines", "1000000").splitlines():
        record = json.loads(line)
        if record["kind"] == "step":
            found.setdefault(record["path"], seconds(record["time"]))
    return found


def last_receipt(agent):
    """When the last step was done. The agent is quiet a second or two later only: it looks at what it has written itself, too,
    when that has settled."""
    lines = agent.command("log", "--json", "--lines", "1000000").splitlines()
    return max(seconds(record["time"]) for record in map(json.loads, lines) if record["kind"] == "step")


def latency(binary, quick):
    """From close(2) to the receipt in the ledger, less the settle time; beside it inotifywait's own line."""
    count = 20 if quick else 400
    with Agent(binary, APPEND) as agent:
        agent.start()
        (agent.dropbox / "first.txt").write_text("makes the note\n")
        agent.wait()
        peer = subprocess.Popen(
            ["inotifywait", "-m", "-q", "-e", "close_write", "--format", "%f", str(agent.dropbox)], stdout=subprocess.PIPE, text=True)
        time.sleep(0.5)
        closed, seen = {}, {}
        for number in range(count):
            name = f"c{number}.txt"
            (agent.dropbox / name).write_text(f"capture {number}\n")
            closed[name] = time.time()
            peer.stdout.readline()
            seen[name] = time.time()
            time.sleep(0.05)
        agent.wait()
        peer.kill()
        done = receipts(agent)
        ours = sorted(done[name] - closed[name] - 0.2 for name in closed)
        theirs = [seen[name] - closed[name] for name in closed]
        return {
            "median ms": round(statistics.median(ours) * 1e3, 1),
            "95 % ms": round(ours[int(count * 0.95) - 1] * 1e3, 1),
            "99 % ms": round(ours[int(count * 0.99) - 1] * 1e3, 1),
            "longest ms": round(ours[-1] * 1e3, 1),
            "inotifywait alone, median ms": round(statistics.median(theirs) * 1e3, 1),
        }


def drop(place, count):
    start = time.time()
    for number in range(count):
        (place / f"c{number}.txt").write_text(f"capture number {number}\n")
    return time.time() - start


def captured(text):
    return [line for line in text.splitlines() if line.startswith("capture number")]


def figures(count, took, cpu):
    return {"all done after s": round(took, 2), "a second": round(count / took), "CPU ms each": round(cpu / count * 1e3, 2)}


def burst(binary, count, rules):
    with Agent(binary, rules) as agent:
        agent.start()
        before = agent.cpu()
        start = time.time()
        dropped = drop(agent.dropbox, count)
        agent.wait()
        cpu, peak = agent.cpu() - before, agent.peak()
        took = last_receipt(agent) - start
        lines = captured("".join(p.read_text() for p in (agent.home / "Steward/notes").rglob("*.md")))
        assert len(lines) == count and len(set(lines)) == count, "blocks are missing or doubled"
    return {"dropped in s": round(dropped, 2), **figures(count, took, cpu), "peak MiB": round(peak)}


def used(session):
    """CPU seconds of a session's processes, and of those that they have waited for."""
    ticks = 0
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))
    return ticks / TICK


def watched(words, count):
    """What a program that watches a folder, and appends what comes there to a note, takes."""
    place = folder("steward-peer-")
    (place / "in").mkdir()
    process = subprocess.Popen([*words, place], start_new_session=True)
    time.sleep(1.5)
    before = used(process.pid)
    start = time.time()
    drop(place / "in", count)
    # One that loses some is not waited for.
    lines, still = 0, 0
    while lines < count and still < 100:
        time.sleep(0.05)
        now = len(captured((place / "note.md").read_text())) if (place / "note.md").exists() else 0
        lines, still = now, still + 1 if now == lines else 0
    took = time.time() - start - still * 0.05
    cpu = used(process.pid) - before
    os.killpg(process.pid, signal.SIGTERM)
    process.wait()
    return {**figures(lines, took, cpu), "captures": lines}


def stored(count):
    """What SQLite alone takes, which has neither to watch nor to write a note: a transaction for each capture."""
    place = folder("steward-peer-")
    (place / "in").mkdir()
    drop(place / "in", count)
    cost = measure.run([sys.executable, "-I", "-c", DATABASE, str(place)])
    return figures(count, cost.wall, cost.cpu)


def python_with_watchdog(binary):
    """A Python of its own with watchdog, made once beside the build."""
    place = pathlib.Path(binary).parent.parent / "bench-captures"
    made = place / WATCHDOG
    if not made.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        subprocess.run(
            [place / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", WATCHDOG], check=True)
        made.touch()
    return place / "bin/python"


def throughput(binary, quick):
    """Ten thousand files dropped at once."""
    count = 1_000 if quick else 10_000
    observer = python_with_watchdog(binary)
    found = {
        "append-block alone": burst(binary, count, APPEND),
        "stored, noted, trashed": burst(binary, count, FULL),
        "inotifywait, a shell loop and sync": watched(["sh", "-c", SHELL, "sh"], count),
        "watchdog and fsync": watched([observer, "-I", "-c", OBSERVER], count),
        "watchdog: stored, noted, trashed, each synced": watched([observer, "-I", "-c", KEEPER], count),
        "SQLite alone, a commit each": stored(count),
    }
    ours = found["append-block alone"]["a second"]
    for name, row in found.items():
        row["append-block is so many times as fast"] = round(ours / row["a second"], 2)
    steps, peer = found["stored, noted, trashed"], found["watchdog: stored, noted, trashed, each synced"]
    peer["three steps are so many times as fast"] = round(steps["a second"] / peer["a second"], 2)
    return {"files": count, "load": round(os.getloadavg()[0], 1), **found}


def memory(binary, quick):
    """Very many files dropped at once, one block each: what the agent has in memory at its most."""
    count = 10_000 if quick else 100_000
    return {"files": count, **burst(binary, count, APPEND)}


BENCHMARKS = {"latency": latency, "captures": throughput, "captures-memory": memory}

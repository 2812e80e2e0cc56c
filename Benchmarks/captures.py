"""Captures: how long one takes, and how many of ten thousand that are dropped at once are done in a second, beside the
plainest things that do a part of the same."""
import ctypes, os, pathlib, select, signal, statistics, subprocess, sys, time

import measure
from agent import TICK, Agent, folder

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


class Eye:
    """Looks at what is there from outside, as a user of the files would: woken by inotify, told by the disk."""
    CHANGES = 0x2 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200  # written, closed, moved away, moved in, made, removed

    def __init__(self, *folders):
        libc = ctypes.CDLL(None, use_errno=True)
        self.raw = libc.inotify_init1(0o4000)
        for path in folders:
            if libc.inotify_add_watch(self.raw, os.fsencode(path), self.CHANGES) < 0:
                raise OSError(ctypes.get_errno(), f"watch {path}")

    def until(self, condition, seconds=60):
        """When it came to hold, by time.time()."""
        end = time.time() + seconds
        while not condition():
            if time.time() > end:
                raise SystemExit("waited in vain")
            if select.select([self.raw], [], [], 0.05)[0]:
                os.read(self.raw, 65536)
        return time.time()

    def close(self):
        os.close(self.raw)


def tail(path, length=4096):
    """The end of a file that grows."""
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - length))
        return file.read()


def one_by_one(count, place, note, spent, leaves):
    """From close(2) until each capture is in the note, and, where it `leaves`, until it has left the folder.

    `spent` gives the CPU seconds of whoever does it."""
    eye, noted, gone = Eye(place, note.parent), [], []
    before = spent()
    for number in range(count):
        file, line = place / f"c{number}.txt", b"capture %d\n" % number
        file.write_bytes(line)
        closed = time.time()
        noted.append(eye.until(lambda: line in tail(note)) - closed)
        if leaves:
            gone.append(eye.until(lambda: not file.exists()) - closed)
        time.sleep(0.05)
    eye.close()
    return noted, gone, (spent() - before) / count


def spread(name, times, less=0.0):
    ours = sorted(t - less for t in times)
    return {
        f"{name}, median ms": round(statistics.median(ours) * 1e3, 1),
        f"{name}, 95 % ms": round(ours[int(len(ours) * 0.95) - 1] * 1e3, 1),
        f"{name}, 99 % ms": round(ours[int(len(ours) * 0.99) - 1] * 1e3, 1),
        f"{name}, longest ms": round(ours[-1] * 1e3, 1),
    }


def latency_of_agent(binary, count, rules, leaves):
    with Agent(binary, rules) as agent:
        agent.start()
        (agent.dropbox / "first.txt").write_text("makes the note\n")
        agent.wait()
        note = next((agent.home / "Steward/notes").rglob("*.md"))
        noted, gone, cpu = one_by_one(count, agent.dropbox, note, agent.cpu, leaves)
    # The settle time is part of what a user waits for, and is told apart: it is a setting.
    found = spread("beyond the settle time, in the note", noted, 0.2)
    if leaves:
        found |= spread("beyond the settle time, gone from the folder", gone, 0.2)
    return {**found, "CPU ms each": round(cpu * 1e3, 2)}


def latency_of_peer(words, count, leaves):
    place = folder("steward-peer-")
    (place / "in").mkdir()
    (place / "note.md").touch()
    process = subprocess.Popen([*words, place], start_new_session=True)
    time.sleep(1.5)
    noted, gone, cpu = one_by_one(count, place / "in", place / "note.md", lambda: used(process.pid), leaves)
    os.killpg(process.pid, signal.SIGTERM)
    process.wait()
    found = spread("in the note", noted)
    if leaves:
        found |= spread("gone from the folder", gone)
    return {**found, "CPU ms each": round(cpu * 1e3, 2)}


def latency(binary, quick):
    """Captures one by one, each from close(2) until a user sees it: in the note and, with three steps, gone from the folder.
    Then the capture, its block and their receipts are on the disk as well: the agent moves a file only after that. The
    peers are looked at in the same way; they have no settle time."""
    count = 20 if quick else 400
    observer = python_with_watchdog(binary)
    return {
        "append-block alone": latency_of_agent(binary, count, APPEND, False),
        "stored, noted, trashed": latency_of_agent(binary, count, FULL, True),
        "inotifywait, a shell loop and sync": latency_of_peer(["sh", "-c", SHELL, "sh"], count, False),
        "watchdog and fsync": latency_of_peer([observer, "-I", "-c", OBSERVER], count, False),
        "watchdog: stored, noted, trashed, each synced": latency_of_peer([observer, "-I", "-c", KEEPER], count, True),
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


def until_done(notes, place, count, leaves):
    """Waits until all lines are in the notes and, where the files leave their place, until it is empty: what a user sees, of
    the agent and of its peers alike. The sync of the last line, a few milliseconds, is in neither's time.

    Returns how many lines there are, and when the last came: one that loses some is not waited for."""
    lines, still, last = 0, 0, time.time()
    while still < 100:
        now = sum(len(captured(note.read_text())) for note in notes.rglob("*.md"))
        left = len(os.listdir(place)) if leaves else 0
        if (now, left) == lines:
            still += 1
        else:
            lines, still, last = (now, left), 0, time.time()
        if now >= count and left == 0:
            break
        time.sleep(0.05)
    return now, last


def burst(binary, count, rules):
    with Agent(binary, rules) as agent:
        agent.start()
        before = agent.cpu()
        start = time.time()
        dropped = drop(agent.dropbox, count)
        took = until_done(agent.home / "Steward/notes", agent.dropbox, count, rules == FULL)[1] - start
        # The CPU time is that of all of it, with what comes after: the agent looks at what it has written itself, too.
        agent.wait()
        cpu, peak = agent.cpu() - before, agent.peak()
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


def watched(words, count, leaves=False):
    """What a program that watches a folder, and appends what comes there to a note, takes."""
    place = folder("steward-peer-")
    (place / "in").mkdir()
    process = subprocess.Popen([*words, place], start_new_session=True)
    time.sleep(1.5)
    before = used(process.pid)
    start = time.time()
    drop(place / "in", count)
    lines, last = until_done(place, place / "in", count, leaves)
    took = last - start
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
        "watchdog: stored, noted, trashed, each synced": watched([observer, "-I", "-c", KEEPER], count, leaves=True),
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

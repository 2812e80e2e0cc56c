#!/usr/bin/env python3
"""Measures the built agent against the plainest thing that does a part of the same, in the same run.

Figures are printed as a table and, with --json FILE, written as JSON. Times vary with the machine; compare ratios.
"""
import argparse, json, os, pathlib, statistics, subprocess, tempfile, time
from datetime import datetime, timezone

import comics
import growth
import start
import tk
import vault
from agent import Agent


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


def receipts(agent):
    """The time of each file's first receipt."""
    found = {}
    for line in agent.command("log", "--json", "--lines", "1000000").splitlines():
        record = json.loads(line)
        if record["kind"] == "step":
            text = record["time"]
            seconds = datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
            found.setdefault(record["path"], seconds + int(text[20:29]) / 1e9)
    return found


def latency(binary, quick):
    """From close(2) to the receipt in the ledger, less the settle time; beside it inotifywait's own line."""
    count = 20 if quick else 100
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
        ours = [done[name] - closed[name] - 0.2 for name in closed]
        theirs = [seen[name] - closed[name] for name in closed]
        return {
            "median ms": round(statistics.median(ours) * 1e3, 1),
            "95 % ms": round(sorted(ours)[int(count * 0.95) - 1] * 1e3, 1),
            "inotifywait alone, median ms": round(statistics.median(theirs) * 1e3, 1),
        }


def burst(binary, quick, rules, name):
    count = 1_000 if quick else 10_000
    with Agent(binary, rules) as agent:
        agent.start()
        before = agent.cpu()
        start = time.time()
        for number in range(count):
            (agent.dropbox / f"c{number}.txt").write_text(f"capture number {number}\n")
        dropped = time.time() - start
        agent.wait()
        took = time.time() - start
        cpu, peak = agent.cpu() - before, agent.peak()
        text = "".join(p.read_text() for p in (agent.home / "Steward/notes").rglob("*.md"))
        lines = [line for line in text.splitlines() if line.startswith("capture number")]
        assert len(lines) == count and len(set(lines)) == count, "blocks are missing or doubled"
    with tempfile.TemporaryDirectory(prefix="steward-peer-") as folder:
        files = []
        for number in range(count):
            path = pathlib.Path(folder) / f"c{number}.txt"
            path.write_text(f"capture number {number}\n")
            files.append(path)
        start = time.time()
        for path in files:
            with open(pathlib.Path(folder) / "note.md", "a") as note:
                note.write(f"\n^cap-0000\n{path.read_text()}")
                note.flush()
                os.fsync(note.fileno())
        peer = time.time() - start
    return {
        "files": count, "dropped in s": round(dropped, 2), "all done after s": round(took, 2), "CPU s": round(cpu, 2),
        "peak MiB": round(peak), "a loop of append and fsync, s": round(peer, 2), "ratio": round(took / peer, 2),
    }


def idle(binary, quick):
    """Context switches of an agent with nothing to do."""
    seconds = 20 if quick else 60
    with Agent(binary, APPEND) as agent:
        agent.start()
        (agent.dropbox / "one.txt").write_text("one\n")
        agent.wait()
        time.sleep(8)
        before, cpu = agent.switches(), agent.cpu()
        time.sleep(seconds)
        after = agent.switches()
        woken = {key: after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)}
        return {
            "seconds": seconds, "wake-ups": sum(woken.values()), "by thread": {f"{n} {t}": c for (t, n), c in woken.items()},
            "CPU ms": round((agent.cpu() - cpu) * 1e3),
        }


def catch_up(binary, quick):
    """A start with many files of which one in a hundred changed while the agent was down."""
    count = 10_000 if quick else 100_000
    with Agent(binary, "- rule: Bench\n  in: drafts\n  on: [changed]\n  where: { name: \"*.md\" }\n  do: [{ tag: { add: [x] } }]\n") as agent:
        drafts = agent.home / "Steward/drafts"
        for number in range(count):
            folder = drafts / f"d{number // 1000}"
            folder.mkdir(exist_ok=True)
            (folder / f"f{number}.txt").write_text(f"{number}\n")
        agent.start()
        start = time.time()
        agent.wait()
        first = time.time() - start
        first_cpu = agent.cpu()
        agent.stop()
        for number in range(0, count, 100):
            (drafts / f"d{number // 1000}" / f"f{number}.txt").write_text(f"{number} again\n")
        start = time.time()
        agent.start()
        agent.wait()
        return {
            "files": count, "first start s": round(first, 2), "first start CPU s": round(first_cpu, 2),
            "catch-up s": round(time.time() - start, 2), "catch-up CPU s": round(agent.cpu(), 2), "peak MiB": round(agent.peak()),
        }


BENCHMARKS = {
    "latency": latency,
    "captures-into-one-note": lambda b, q: burst(b, q, APPEND, "append"),
    "captures-stored-noted-trashed": lambda b, q: burst(b, q, FULL, "full"),
    "idle": idle,
    "catch-up": catch_up,
    **growth.BENCHMARKS,
    **start.BENCHMARKS,
    **comics.BENCHMARKS,
    **vault.BENCHMARKS,
    **tk.BENCHMARKS,
}


def show(figures, indent):
    for key, value in figures.items():
        if isinstance(value, dict):
            print(f"{indent}{key}")
            show(value, indent + "    ")
        else:
            print(f"{indent}{key}: {value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--quick", action="store_true", help="smaller numbers, for a look")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(BENCHMARKS)}, or the first word of several; all where none is given")
    options = parser.parse_args()
    wanted = [full for name in options.names for full in BENCHMARKS if full == name or full.startswith(f"{name}-")]
    unknown = {name for name in options.names if not any(full == name or full.startswith(f"{name}-") for full in BENCHMARKS)}
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    report = {"time": datetime.now(timezone.utc).isoformat(timespec="seconds"), "cores": os.cpu_count()}
    for name in wanted or BENCHMARKS:
        report[name] = BENCHMARKS[name](os.path.abspath(options.binary), options.quick)
        print(f"{name}")
        show(report[name], "    ")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures the built agent against the plainest thing that does a part of the same, in the same run.

Figures are printed as a table and, with --json FILE, written as JSON. Times vary with the machine; compare ratios.
"""
import argparse, json, os, pathlib, time
from datetime import datetime, timezone

import captures
import comics
import dots
import due
import growth
import lsp
import measure
import ron
import start
import tk
import vault
from agent import Agent
from captures import APPEND


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
    **captures.BENCHMARKS,
    "idle": idle,
    "catch-up": catch_up,
    **growth.BENCHMARKS,
    **due.BENCHMARKS,
    **start.BENCHMARKS,
    **comics.BENCHMARKS,
    **vault.BENCHMARKS,
    **dots.BENCHMARKS,
    **ron.BENCHMARKS,
    **tk.BENCHMARKS,
    **lsp.BENCHMARKS,
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
    parser.add_argument("--million", action="store_true", help="a last round of 1,000,000 files where the cost's growth is measured")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(BENCHMARKS)}, or the first word of several; all where none is given")
    options = parser.parse_args()
    growth.million = options.million
    wanted = [full for name in options.names for full in BENCHMARKS if full == name or full.startswith(f"{name}-")]
    unknown = {name for name in options.names if not any(full == name or full.startswith(f"{name}-") for full in BENCHMARKS)}
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    report = {"time": datetime.now(timezone.utc).isoformat(timespec="seconds"), "cores": os.cpu_count(), "disk": measure.disk()}
    print("disk")
    show(report["disk"], "    ")
    for name in wanted or BENCHMARKS:
        report[name] = BENCHMARKS[name](os.path.abspath(options.binary), options.quick)
        print(f"{name}")
        show(report[name], "    ")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()

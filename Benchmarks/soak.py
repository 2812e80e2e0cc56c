#!/usr/bin/env python3
"""Hours of mixed load on one agent, watched from outside, and drawn.

    make release && Benchmarks/soak.py --hours 2

One file a second in each of the four places (a capture, a saved note, a saved draft, a comic), the rules read again each
minute, the agent killed every ten minutes and started again. Each ten seconds memory, descriptors, watches, CPU and the
sizes of its databases are noted. At the end everything that was put in must have come out once: each capture in the store
and in its day's note, each comic in the library, no draft touched, nothing refused, parked or in quarantine. And the agent
must not have grown: memory, descriptors, threads and watches of the last third of the time are held against the middle one.

Writes soak.json and soak.svg into Benchmarks/results. Ends with 1 where anything is missing, came out twice, or has grown.
"""
import argparse, io, json, os, pathlib, random, re, shutil, signal, sqlite3, statistics, sys, time, zipfile
from datetime import datetime, timezone

from agent import Agent, TICK

HERE = pathlib.Path(__file__).resolve().parent
#: Jobs that have ended are kept for an hour, the least that can be configured, so that the ledger stops growing.
CONFIGURATION = "history: 1h\n"
#: How much more there may be in the last third of the time than in the middle one, medians of both. Memory goes up and down
#: with what is at work; of the others there is a number for each kind of work, and no more of them after hours. Databases
#: hold more the more was put in.
BOUNDS = {"resident MiB": 1.15, "anonymous MiB": 1.25, "descriptors": 1.1, "threads": 1.1, "watches": 1.1}
#: Of a run with fewer samples, of ten seconds each, one cannot tell.
ENOUGH = 60


class Soak:
    def __init__(self, agent, seed):
        self.agent = agent
        self.random = random.Random(seed)
        self.base = agent.home / "Steward"
        self.captures, self.comics, self.drafts, self.todos = [], [], {}, []
        self.samples, self.kills, self.reloads = [], 0, 0
        self.begun = time.monotonic()

    def seconds(self):
        return time.monotonic() - self.begun

    # What is put in, one of each a second.

    def place(self, folder, name, data):
        """As most programs do: written beside, then given its name."""
        target = self.base / folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        hidden = target.with_name(f".{target.name}.part")
        hidden.write_bytes(data)
        hidden.rename(target)

    def capture(self, number):
        word = f"soak{number:06}"
        self.captures.append(word)
        self.place("dropbox", f"{word}.txt", f"{word} {self.words(8)}\n".encode())

    def note(self, number):
        name = f"garden/bed {number % 60:02}.md"
        text = f"# Bed {number % 60}\n\nSeen {number} times.\n"
        if number % 60 == number // 60 % 60:
            word = f"todo{number:06}"
            self.todos.append(word)
            text += f"\n## Later\n\n^todo-{number // 60 % 24:02}{number % 60:02}\n{word} {self.words(4)}\n"
        self.place("notes", name, text.encode())

    def draft(self, number):
        name = f"essay {number % 60:02}.md"
        text = f"# On {self.words(2)}\n\nIt stands there due to the fact that {self.words(12)}. Saved {number}.\n"
        self.drafts[name] = text
        target = self.base / "drafts" / name
        target.write_text(text)

    def comic(self, number):
        pages = io.BytesIO()
        with zipfile.ZipFile(pages, "w", zipfile.ZIP_STORED) as archive:
            for page in range(1, 6):
                archive.writestr(f"{page:02}.png", picture(self.random))
        name = f"Series {number % 40:02} #{number // 40:04} (2026).cbz"
        self.comics.append(name)
        self.place("comics", name, pages.getvalue())

    def words(self, count):
        return " ".join(self.random.choice(WORDS) for _ in range(count))

    # What is done to the agent.

    def reload(self):
        self.agent.command("reload")
        self.reloads += 1

    def kill(self):
        self.agent.process.send_signal(signal.SIGKILL)
        self.agent.process.wait()
        self.kills += 1
        self.agent.start()

    # What is seen.

    def sample(self):
        process = pathlib.Path(f"/proc/{self.agent.process.pid}")
        status = dict(
            line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
        state = self.agent.home / ".local/state/steward"
        data = self.agent.home / ".local/share/steward/captures"
        watches = 0
        for entry in (process / "fdinfo").iterdir():
            try:
                watches += entry.read_text().count("inotify wd:")
            except OSError:
                continue  # closed meanwhile
        report = self.agent.status()
        self.samples.append({
            "s": round(self.seconds(), 1),
            "resident MiB": int(status["VmRSS"].split()[0]) / 1024,
            "anonymous MiB": int(status["RssAnon"].split()[0]) / 1024,
            "descriptors": len(list((process / "fd").iterdir())),
            "threads": int(status["Threads"]),
            "watches": watches,
            "ledger MiB": size(state, "ledger.sqlite*"),
            "store MiB": size(data, "*.sqlite*"),
            "CPU s": self.agent.cpu(),
            "life": self.kills,
            "files put in": len(self.captures) + len(self.comics),
            "jobs at work or waiting": sum(
                report["jobs"].get(state, 0) for state in ("ready", "waiting")),
        })

    # What has come of it.

    def faults(self):
        self.agent.command("wait")
        found = []
        report = self.agent.status()
        for what in ("parked", "waiting", "asking"):
            if report[what]:
                found.append(f"{len(report[what])} jobs {what}: {report[what][0]['problem']}")
        if report["quarantined"]:
            found.append(f"{report['quarantined']} in quarantine")
        daily = "".join(
            path.read_text() for path in (self.base / "notes").rglob("*.md") if "garden" not in path.parts)
        found += miscounted("captures in notes", self.captures, re.findall(r"soak\d{6}", daily))
        listed = "".join(path.read_text() for path in (self.base / "notes").glob("todo.md"))
        found += miscounted("todos on the list", self.todos, re.findall(r"todo\d{6}", listed))
        with sqlite3.connect(self.agent.home / ".local/share/steward/captures/captures.sqlite") as store:
            held = " ".join(str(value) for row in rows(store) for value in row)
        found += miscounted("captures in the store", self.captures, set(re.findall(r"soak\d{6}", held)))
        library = [path.name for path in (self.base / "library").rglob("*.cbz")]
        if len(library) != len(self.comics):
            found.append(f"{len(library)} comics in the library of {len(self.comics)}")
        for name, text in self.drafts.items():
            if (self.base / "drafts" / name).read_text() != text:
                found.append(f"the draft {name} is not what was saved")
        for folder in ("dropbox", "comics"):
            left = [path.name for path in (self.base / folder).rglob("*") if path.is_file()]
            if left:
                found.append(f"{len(left)} files left in {folder}: {left[:3]}")
        return found


WORDS = "house roof garden stair window lamp table river heron bridge paper letter winter apple stone".split()


def picture(random):
    """Noise of a random size, so that few comics are as long as each other, as is so with real ones."""
    from PIL import Image

    out = io.BytesIO()
    width, height = random.randint(20, 60), random.randint(30, 90)
    Image.frombytes("RGB", (width, height), random.randbytes(width * height * 3)).save(out, "PNG")
    return out.getvalue()


def size(folder, pattern):
    return sum(path.stat().st_size for path in folder.glob(pattern)) / (1 << 20)


def rows(store):
    for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        try:
            yield from store.execute(f'SELECT * FROM "{table}"')
        except sqlite3.OperationalError:
            continue  # the shadow tables of an index


def miscounted(what, expected, found):
    counts = {}
    for word in found:
        counts[word] = counts.get(word, 0) + 1
    lost = [word for word in expected if word not in counts]
    twice = [word for word in expected if counts.get(word, 0) > 1]
    return ([f"{what}: {len(lost)} lost, the first {lost[0]}"] if lost else []) + (
        [f"{what}: {len(twice)} twice, the first {twice[0]}"] if twice else [])


def growth(later, key):
    """How much more of something there was in the last third of the time than in the middle one, as a ratio of medians."""
    third = max(1, len(later) // 3)
    middle, last = later[third:2 * third], later[2 * third:]
    if not middle or not last:
        return 1.0
    before = statistics.median(sample[key] for sample in middle)
    return statistics.median(sample[key] for sample in last) / before if before else 1.0


def grown(grows, count):
    """What has grown beyond its bound."""
    if count < ENOUGH:
        print(f"{count} samples are too few to tell whether anything grows", flush=True)
        return []
    return [f"{key}: {grows[key]} times as much in the last third of the time as in the middle one, and {bound} is the bound"
            for key, bound in BOUNDS.items() if grows[key] > bound]


def draw(result, target):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "soak", "font.size": 8})
    from matplotlib import pyplot

    samples = result["samples"]
    minutes = [sample["s"] / 60 for sample in samples]
    shown = [
        (["resident MiB", "anonymous MiB"], "memory, MiB"), (["descriptors", "threads"], "descriptors, threads"),
        (["watches"], "watches"), (["ledger MiB", "store MiB"], "databases with their logs, MiB"),
        (["jobs at work or waiting"], "jobs at work or waiting"),
    ]
    figure, axes = pyplot.subplots(len(shown), 1, figsize=(8, 10), sharex=True)
    kills = [samples[i]["s"] / 60 for i in range(1, len(samples)) if samples[i]["life"] != samples[i - 1]["life"]]
    for axis, (keys, title) in zip(axes, shown):
        for key in keys:
            axis.plot(minutes, [sample[key] for sample in samples], label=key, linewidth=0.8)
        for moment in kills:
            axis.axvline(moment, color="0.8", linewidth=0.6)
        axis.set_ylim(bottom=0)
        axis.set_ylabel(title)
        if len(keys) > 1:
            axis.legend(loc="lower right", frameon=False)
    axes[-1].set_xlabel("minutes; a grey line: killed and started again")
    figure.suptitle(f"{result['hours']} h: one file a second in each of four places ({result['when']})")
    figure.savefig(target, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(HERE.parent / ".build/shipped/release/steward"))
    parser.add_argument("--hours", type=float, default=2)
    parser.add_argument("--results", default=str(HERE / "results"), help="the folder for soak.json and soak.svg")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true", help="keep the agent's home")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)

    shipped = sorted(path for path in (HERE.parent / "rules.d").glob("*.yaml"))
    agent = Agent(options.binary, shipped[0].read_text(), CONFIGURATION)
    (agent.home / "rules/10-bench.yaml").unlink()
    for path in shipped:
        shutil.copy(path, agent.home / "rules" / path.name)
    agent.start()
    print(f"home {agent.home}", flush=True)
    soak = Soak(agent, options.seed)
    end, number = options.hours * 3600, 0
    failed = False
    try:
        while soak.seconds() < end:
            number += 1
            for put in (soak.capture, soak.note, soak.draft, soak.comic):
                put(number)
            if number % 10 == 0:
                soak.sample()
            if number % 60 == 30:
                soak.reload()
            if number % 600 == 0 and soak.seconds() < end - 60:
                soak.kill()
            if number % 300 == 0:
                print(f"{soak.seconds():.0f} s: {json.dumps(soak.samples[-1])}", flush=True)
            time.sleep(max(0, number - soak.seconds()))
        faults = soak.faults()
        # Without the first tenth, in which caches fill, and the hour after which the first jobs are forgotten.
        warm = min(end / 10, 600)
        later = [sample for sample in soak.samples if sample["s"] > warm]
        grows = {key: round(growth(later, key), 3) for key in [*BOUNDS, "ledger MiB", "store MiB"]}
        faults += grown(grows, len(later))
        result = {
            "when": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "hours": options.hours, "seed": options.seed,
            "captures": len(soak.captures), "comics": len(soak.comics), "saves of notes": number,
            "saves of drafts": number, "todos": len(soak.todos), "kills": soak.kills, "reloads": soak.reloads,
            "peak resident MiB": round(max(sample["resident MiB"] for sample in soak.samples)),
            "last third to middle third": grows, "faults": faults, "samples": soak.samples,
        }
        results = pathlib.Path(options.results)
        results.mkdir(parents=True, exist_ok=True)
        (results / "soak.json").write_text(json.dumps(result, indent=1) + "\n")
        draw(result, results / "soak.svg")
        print(json.dumps({key: value for key, value in result.items() if key != "samples"}, indent=1))
        failed = bool(faults)
    finally:
        agent.stop()
        if not options.keep and not failed:
            shutil.rmtree(agent.home, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

"""The dot store: a year's grid and a search over a million captures, inserts against SQLite alone, and memory."""
import bisect, itertools, json, os, pathlib, random, shutil, sqlite3, statistics, subprocess, time, uuid

import measure

MIB = 1 << 20
SEED = 12
YEAR = 2026
START = 1_767_225_600  # 2026-01-01T00:00:00Z


class Dots:
    """The program, and stores of captures from a fixed seed, kept beside the build between runs."""

    def __init__(self, binary):
        build = pathlib.Path(binary).resolve().parents[2]
        self.tool = os.environ.get("STEWARD_DOTS_BENCH") or build / "bench-dots/release/dots-bench"
        self.folder = build / "bench-dots-files"
        self.folder.mkdir(exist_ok=True)

    def run(self, *words):
        """What the program says, as lines."""
        return subprocess.run(
            [self.tool, *map(str, words)], check=True, capture_output=True, text=True).stdout.splitlines()

    def times(self, *words):
        lines = self.run(*words)
        assert all(line.replace(".", "").replace("e-", "").isdigit() for line in lines), lines[:5]
        return [float(line) for line in lines]

    def export(self, count):
        """An export of so many captures, all of one year: the most that a year's grid can have to count."""
        target = self.folder / f"export-{count}"
        if target.exists():
            return target
        shutil.rmtree(self.folder / "new", ignore_errors=True)
        (self.folder / "new").mkdir()
        with open(self.folder / "new/captures.jsonl", "w") as file:
            file.write(json.dumps({"captures": count, "format": "dotlife-captures", "version": 1}).ljust(127) + "\n")
            for line in captures(count):
                file.write(json.dumps(line) + "\n")
        (self.folder / "new").rename(target)
        return target

    def store(self, count):
        """The store that comes of it."""
        target = self.folder / f"store-{count}"
        if not target.exists():
            shutil.rmtree(self.folder / "new-store", ignore_errors=True)
            self.times("import", self.folder / "new-store", self.export(count))
            (self.folder / "new-store").rename(target)
        return target

    def fresh(self, name):
        target = self.folder / name
        shutil.rmtree(target, ignore_errors=True)
        self.run("open", target)
        return target


def vocabulary(chance, count=20_000):
    """Words, and how often each comes: as in a language short ones most, the second half as often as the first."""
    syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprst", "aeiou")]
    words = sorted({"".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(count * 2)})
    chance.shuffle(words)
    words.sort(key=len)
    weights = [1 / rank for rank in range(1, len(words[:count]) + 1)]
    return words[:count], list(itertools.accumulate(weights))


def captures(count):
    chance = random.Random(SEED)
    words, sums = vocabulary(chance)
    for number in range(count):
        at = START + chance.randrange(365 * 86_400)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{chance.randrange(10 ** 9):09}Z"
        line = {
            "id": str(uuid.UUID(int=chance.getrandbits(128), version=4)).upper(), "time": stamp, "created": stamp,
            "moment": chance.randrange(3), "kind": 3, "attachments": [],
        }
        kind = chance.random()
        if kind < 0.6:
            text = [words[bisect.bisect_left(sums, chance.random() * sums[-1])] for _ in range(chance.randint(4, 20))]
            line |= {"kind": 0, "note": " ".join(text)}
        elif kind < 0.75:
            line |= {"kind": 2, "link": f"https://{chance.choice(words)}.example.org/{chance.choice(words)}"}
        yield line


def middle(times):
    return f"{statistics.median(times):.2f} ms (worst {max(times):.2f})"


def grid(binary, quick):
    """The counts of a year's 365 days, of which each has thousands; the store is open."""
    dots = Dots(binary)
    report = {}
    for count in (10_000, 100_000) if quick else (10_000, 1_000_000):
        times = dots.times("grid", dots.store(count), YEAR, 200)
        # The first has the pages still to read.
        report[f"{count} captures (aim: at most 20 ms)"] = middle(times[1:])
        report[f"{count} captures, the first one of a process"] = f"{times[0]:.2f} ms"
    return report


def search(binary, quick):
    """Words from the rarest to the one that most notes have, the best fifty with snippets."""
    dots = Dots(binary)
    count = 100_000 if quick else 1_000_000
    words, _ = vocabulary(random.Random(SEED))
    wanted = {
        "a rare word": words[15_000], "a common word": words[100], "the commonest word": words[0],
        "two common words": f"{words[0]} {words[70]}", "a common and a rare one": f"{words[1]} {words[15_000]}",
        "the beginning of many": words[100][:3], "one letter": words[3][0],
    }
    store = dots.store(count)
    return {
        f"{count} captures, {name} (aim: at most 30 ms)": middle(dots.times("search", store, text, 30)[1:])
        for name, text in wanted.items()
    }


# As `SQLiteFile` opens it, and what a capture is made of.
PRAGMAS = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
INSERT = """INSERT INTO experience
    (id, timestamp, createdAt, momentTypeRaw, experienceTypeRaw, noteText, linkURL, capture_key, fileNames)
    VALUES (?, ?, ?, 0, 0, ?, NULL, ?, NULL)"""


def plain_inserts(path, count):
    """The same rows by SQLite alone, a transaction each; seconds."""
    database = sqlite3.connect(path / "captures.sqlite", isolation_level=None)
    database.executescript(PRAGMAS)
    start = time.perf_counter()
    for number in range(count):
        at = (START + number * 31) * 10 ** 9
        database.execute(
            INSERT, (str(uuid.uuid4()).upper(), at, at, f"a note of a few words, number {number}", f"bench {number}"))
    seconds = time.perf_counter() - start
    database.close()
    return seconds


def insert(binary, quick):
    """Captures one after the other, each on the disk before the next, against Python's sqlite3 on the same tables."""
    dots = Dots(binary)
    count = 500 if quick else 2_000
    jobs, tasks, theirs = [], [], []
    for _ in range(3 if quick else 5):
        theirs.append(plain_inserts(dots.fresh("plain"), count) / count * 1e3)
        jobs.append(dots.times("insert-job", dots.fresh("ours"), count)[0] / count)
        tasks.append(dots.times("insert", dots.fresh("ours"), count)[0] / count)
    return {
        "SQLite alone, ms a capture": round(min(theirs), 3), "a job of the agent, ms": round(min(jobs), 3),
        "another task, ms": round(min(tasks), 3),
        "job / SQLite alone (aim: at most 1.15)": round(min(jobs) / min(theirs), 2),
        "task / SQLite alone": round(min(tasks) / min(theirs), 2),
    }


def memory(binary, quick):
    """Seconds and peak resident memory of what goes through all captures; it must not grow with them."""
    dots = Dots(binary)
    report = {}
    for count in (10_000, 100_000) if quick else (100_000, 1_000_000):
        source, store = dots.export(count), dots.store(count)
        for name, words in {
            "import": ["import", dots.folder / "out", source], "import again": ["import", dots.folder / "out", source],
            "check": ["check", store], "export": ["export", store, dots.folder / "out-export"],
            "backup": ["backup", store, dots.folder / "out-backup"],
        }.items():
            start = time.perf_counter()
            peak = measure.peaks([dots.tool, *map(str, words)])[1]
            report[f"{name} of {count}"] = f"{time.perf_counter() - start:.1f} s, {peak:.1f} MiB"
        for name in ("out", "out-export", "out-backup"):
            shutil.rmtree(dots.folder / name)
    return report


def lying(binary, quick):
    """Peak memory of judging front matter bombs and pictures that lie, once and many times over."""
    dots = Dots(binary)
    folder = dots.folder / "lying"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    chance = random.Random(SEED)
    png = bytes.fromhex("89504e470d0a1a0a0000000d49484452") + bytes.fromhex("0000ffff0000ffff0806000000")
    for number, line in enumerate(["time: 1\n", "a: &a [*a,*a]\n", "[", "  - ", "x\n"]):
        (folder / f"bomb-{number}.md").write_text("---\n" + line * (MIB // len(line) - 10) + "\n---\nrain\n")
    (folder / "huge.png").write_bytes(png)
    for number in range(100):
        cut = bytes([0xFF, 0xD8, 0xFF, 0xE1]) + chance.randbytes(chance.randrange(4_000))
        (folder / f"{number}.jpg").write_bytes(cut)
    with open(folder / "large.tif", "wb") as file:
        file.write(bytes.fromhex("49492a00ffffff7f"))
        file.truncate(4 << 30)
    return {
        f"{times} times 107 files, MiB": round(measure.peaks([dots.tool, "read", str(folder), str(times)])[1], 1)
        for times in ((3, 10) if quick else (10, 40))
    }


BENCHMARKS = {
    "dots-grid": grid,
    "dots-search": search,
    "dots-insert": insert,
    "dots-memory": memory,
    "dots-lying": lying,
}

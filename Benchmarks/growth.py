"""What a file costs beside few others and beside many: the exponent of the cost, which has to be that of a line."""
import math, os, pathlib, re, resource, statistics, subprocess, sys, time

from agent import Agent, folder

# Wanted by name, so that it is read and hashed, and a job made of it; what lies there at the first start, too, which a place of
# this kind would pass over.
TAG = ('- rule: Bench\n  in: drafts\n  existing: process\n  settle: 200ms\n  where: { extension: txt }\n'
       '  do: [{ tag: { add: [x] } }]\n')
# Wanted by no rule: only its name and times are noted.
NONE = '- rule: Bench\n  in: drafts\n  settle: 200ms\n  where: { extension: md }\n  do: [{ tag: { add: [x] } }]\n'
# One after the other, each as slow as a program is: the others wait.
SLOW = '- rule: Bench\n  in: drafts\n  settle: 200ms\n  do: [{ run: { command: [/bin/sleep, "1"] } }]\n'

# The plainest thing that does the same to a folder's files, and knows nothing of it afterwards.
TAGGER = """
import hashlib, os, sys
for parent, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(parent, name), "rb") as file:
            hashlib.sha256(file.read()).digest()
            os.setxattr(file.fileno(), "user.xdg.tags", b"x")
            os.fsync(file.fileno())
"""

HIGHEST = 1.05
# CPU seconds below which the clock's ticks of 10 ms say more than the program.
LEAST = 0.2
# Files made beside those that are known.
BESIDE = 500

# Whether there is a last round of a million files; set by --million.
million = False


def fill(folder, count, folders, name="f"):
    for number in range(folders if folders > 1 else 0):
        (folder / f"d{number}").mkdir(exist_ok=True)
    for number in range(count):
        below = f"{folder}/d{number % folders}" if folders > 1 else folder
        descriptor = os.open(f"{below}/{name}{number}.txt", os.O_CREAT | os.O_WRONLY, 0o644)
        os.write(descriptor, b"%d\n" % number)
        os.close(descriptor)


def exponent(points):
    """The slope of the least-squares line through the logarithms: 1 where the cost of one more is always the same."""
    xs, ys = [math.log(n) for n, _ in points], [math.log(cost) for _, cost in points]
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def verdict(points):
    """The exponent, and whether it is too high; nothing where there is too little to tell by."""
    points = [(count, cost) for count, cost in points if cost >= LEAST]
    if len(points) < 2:
        return "too cheap to tell"
    slope = exponent(points)
    return f"{slope:.2f}" + (f": ABOVE {HIGHEST}" if slope > HIGHEST else "")


def empty_start(binary, rules):
    """CPU seconds of a start over nothing, which are no file's."""
    with Agent(binary, rules) as agent:
        agent.start()
        agent.wait()
        return agent.cpu()


def expect_jobs(agent, count):
    """That as many jobs were done as the figure's name says: a first start that makes none is three times as cheap."""
    done = agent.status()["jobs"].get("done", 0)
    assert done == count, f"{done} jobs were done, not {count}"


def tagger(count, folders):
    """CPU and wall-clock seconds of ``TAGGER`` over as many files."""
    place = folder("steward-peer-")
    fill(place, count, folders)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run([sys.executable, "-I", "-c", TAGGER, place], check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.time() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def measure(binary, rules, count, folders):
    """CPU seconds of a first start over `count` files, of a start over the same, of some made beside them, and of as
    many made while it runs."""
    costs, peaks, walls = {}, {}, {}
    jobs = count if rules == TAG else 0
    with Agent(binary, rules) as agent:
        drafts = agent.home / "Steward/drafts"
        fill(drafts, count, folders)
        start = time.time()
        agent.start()
        walls["first start"] = agent.wait() - start
        costs["first start"], peaks["first start"] = agent.cpu(), agent.peak()
        expect_jobs(agent, jobs)
        agent.stop()
        start = time.time()
        agent.start()
        wall = agent.wait() - start
        costs["start over known files"] = agent.cpu()
        peaks["start over known files"] = agent.peak()
        words = ["find", str(agent.home / "Steward"), "-printf", "%p %i %s %T@ %C@\n"]
        start = time.time()
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
        ratio = wall / (time.time() - start)
        before = agent.cpu()
        fill(drafts, BESIDE, folders, "beside")
        agent.wait()
        beside = (agent.cpu() - before) / BESIDE
    with Agent(binary, rules) as agent:
        agent.start()
        agent.wait()
        before, start = agent.cpu(), time.time()
        fill(agent.home / "Steward/drafts", count, folders)
        walls["made while it runs"] = agent.wait() - start
        costs["made while it runs"], peaks["made while it runs"] = agent.cpu() - before, agent.peak()
        expect_jobs(agent, jobs)
    return costs, peaks, walls, beside, f"{wall:.2f}, {ratio:.1f} x find -printf"


def growth(binary, quick, rules=TAG, folders=1):
    counts = [500, 1_000, 2_000, 4_000] if quick else [1_000, 3_000, 10_000, 30_000, 100_000, 200_000]
    if rules == TAG and not quick:
        counts = counts[:4]  # A job each costs ten times as much.
    counts += [1_000_000] if million else []
    found, figures, besides = {}, {}, []
    empty = empty_start(binary, rules)
    for count in counts:
        costs, peaks, walls, beside, wall = measure(binary, rules, count, folders)
        if rules == TAG:
            peer = tagger(count, folders)
            figures[f"plain tagger, {count} files, CPU ms and s"] = f"{peer[0] / count * 1e3:.4f}, {peer[1]:.2f}"
        for name, cpu in costs.items():
            cpu -= 0 if name == "made while it runs" else empty
            found.setdefault(name, []).append((count, cpu))
            figures[f"{name}, {count} files, CPU ms a file"] = round(cpu / count * 1e3, 4)
            figures[f"{name}, {count} files, peak MiB"] = round(peaks[name])
        for name, seconds in walls.items():
            figures[f"{name}, {count} files, s"] = round(seconds, 2)
        figures[f"start over {count} known files, s"] = wall
        figures[f"one made beside {count}, CPU ms"] = round(beside * 1e3, 2)
        besides.append((count, beside * count))
    for name, points in found.items():
        figures[f"{name}, exponent"] = verdict(points)
    # What all would cost if each had been made beside so many.
    figures["one made beside known files, exponent of as many"] = verdict(besides)
    return figures


def waiting(binary, quick):
    """An agent for which many files are slow work: the jobs that wait lie in the ledger."""
    count = 2_000 if quick else 100_000
    with Agent(binary, SLOW, "limits: { process: 1 }\nrun: { allow: true }\n") as agent:
        agent.start()
        fill(agent.home / "Steward/drafts", count, 1)
        while (queued := agent.status()["jobs"].get("ready", 0)) < count - 200:
            if agent.process.poll() is not None:
                raise SystemExit((agent.home / "log").read_text())
            time.sleep(1)
        return {"jobs that wait": queued, "peak MiB": round(agent.peak())}


def folders(binary, quick):
    """A start over known folders against `inotifywait -r`, each until all are watched."""
    count = 5_000 if quick else 50_000
    with Agent(binary, NONE) as agent:
        top = agent.home / "Steward/drafts"
        for number in range(count):
            (top / f"d{number % 100}/e{number // 100}").mkdir(parents=True)
        agent.start()
        agent.wait()
        agent.stop()
        start = time.time()
        agent.start()
        ours, cpu, peak = agent.wait() - start, agent.cpu(), agent.peak()
        agent.stop()
        start = time.time()
        peer = subprocess.Popen(
            ["inotifywait", "-m", "-r", str(agent.home / "Steward")], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        while "established" not in peer.stderr.readline():
            pass
        theirs = time.time() - start
        ticks = pathlib.Path(f"/proc/{peer.pid}/stat").read_text().rsplit(")", 1)[1].split()
        status = pathlib.Path(f"/proc/{peer.pid}/status").read_text()
        peer.kill()
    peer_cpu = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
    return {
        "folders": count, "ready after s": round(ours, 2), "CPU s": cpu, "peak MiB": round(peak),
        "inotifywait -r, ready after s": f"{theirs:.2f}: {ours / theirs:.1f} x", "inotifywait -r, CPU s": peer_cpu,
        "inotifywait -r, peak MiB": round(int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024),
    }


BENCHMARKS = {
    "growth-jobs": growth,
    "growth-seen": lambda b, q: growth(b, q, NONE),
    "growth-folders": lambda b, q: growth(b, q, TAG, 400),
    "growth-waiting": waiting,
    "growth-watches": folders,
}

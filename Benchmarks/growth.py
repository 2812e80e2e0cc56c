"""What a file costs beside few others and beside many: the exponent of the cost, which has to be that of a line."""
import math, os, pathlib, statistics, subprocess, time

from agent import Agent

# Wanted by name, so that it is read and hashed, and a job made of it.
TAG = '- rule: Bench\n  in: drafts\n  settle: 200ms\n  where: { extension: txt }\n  do: [{ tag: { add: [x] } }]\n'
# Wanted by no rule: only its name and times are noted.
NONE = '- rule: Bench\n  in: drafts\n  settle: 200ms\n  where: { extension: md }\n  do: [{ tag: { add: [x] } }]\n'

HIGHEST = 1.05


def fill(folder, count, folders):
    for number in range(count):
        below = folder / f"d{number % folders}" if folders > 1 else folder
        if number < folders:
            below.mkdir(exist_ok=True)
        (below / f"f{number}.txt").write_text(f"{number}\n")


def exponent(points):
    """The slope of the least-squares line through the logarithms: 1 where the cost of one more is always the same."""
    xs, ys = [math.log(n) for n, _ in points], [math.log(max(cost, 1e-6)) for _, cost in points]
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def measure(binary, rules, count, folders):
    """CPU seconds of a first start over `count` files, of a start over the same, and of as many made while it runs."""
    costs = {}
    with Agent(binary, rules) as agent:
        fill(agent.home / "Steward/drafts", count, folders)
        agent.start()
        agent.wait()
        costs["first start"], peak = agent.cpu(), agent.peak()
        agent.stop()
        start = time.time()
        agent.start()
        agent.wait()
        costs["start over known files"], wall = agent.cpu(), time.time() - start
        words = ["find", str(agent.home / "Steward"), "-printf", "%p %i %s %T@ %C@\n"]
        start = time.time()
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
        ratio = wall / (time.time() - start)
    with Agent(binary, rules) as agent:
        agent.start()
        agent.wait()
        before = agent.cpu()
        fill(agent.home / "Steward/drafts", count, folders)
        agent.wait()
        costs["made while it runs"] = agent.cpu() - before
        peak = max(peak, agent.peak())
    return costs, peak, wall, ratio


def growth(binary, quick, rules=TAG, folders=1):
    counts = [500, 1_000, 2_000, 4_000] if quick else [5_000, 10_000, 20_000, 40_000]
    found, figures = {}, {}
    for count in counts:
        costs, peak, wall, ratio = measure(binary, rules, count, folders)
        for name, cpu in costs.items():
            found.setdefault(name, []).append((count, cpu))
            figures[f"{name}, {count} files, CPU ms a file"] = round(cpu / count * 1e3, 3)
        figures[f"{count} files, peak MiB"] = round(peak)
        figures[f"start over {count} known files, s"] = f"{wall:.2f}, {ratio:.1f} x find -printf"
    for name, points in found.items():
        slope = exponent(points)
        figures[f"{name}, exponent"] = f"{slope:.2f}" + (f": ABOVE {HIGHEST}" if slope > HIGHEST else "")
    return figures


BENCHMARKS = {
    "growth-jobs": growth,
    "growth-seen": lambda b, q: growth(b, q, NONE),
    "growth-folders": lambda b, q: growth(b, q, TAG, 400),
}

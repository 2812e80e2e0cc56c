"""What time brings: many rows in the ledger's table of what is due, and many rules."""
import os, sqlite3, statistics, time

from agent import Agent

OLD = """- rule: Old
  in: drafts
  settle: 100ms
  where: { extension: txt, age: "> 3650d" }
  do: [{ tag: { add: [old] } }]
"""


def rows(binary, quick):
    """An agent beside many files that are due in ten years: its start, memory, one that becomes due, and its rest."""
    count = 50_000 if quick else 1_000_000
    seconds = 20 if quick else 60
    figures = {}
    for number in (0, count):
        with Agent(binary, OLD) as agent:
            drafts = agent.home / "Steward/drafts"
            agent.start()
            (drafts / "first.txt").write_text("first\n")
            agent.wait()
            agent.stop()
            enter(agent, number)
            begin, cpu = time.time(), 0
            agent.start()
            agent.wait()
            start, cpu = time.time() - begin, agent.cpu()
            begin = time.time()
            soon = drafts / "soon.txt"
            soon.write_text("soon\n")
            # Ten years old in two seconds.
            due = begin + 2
            os.utime(soon, (due - 3650 * 86_400,) * 2)
            while b"old" not in attribute(soon):
                time.sleep(0.01)
                if time.time() > due + 60:
                    raise SystemExit("it was not dealt with in a minute")
            late = time.time() - due
            agent.wait()
            time.sleep(8)
            before = sum(agent.switches().values())
            time.sleep(seconds)
            figures[f"{number} rows"] = {
                "start s": round(start, 2), "start CPU s": round(cpu, 2), "peak MiB": round(agent.peak()),
                "one firing, late by ms": round(late * 1e3, 1),
                f"wake-ups in {seconds} s": sum(agent.switches().values()) - before,
            }
    return figures


def enter(agent, count):
    """Enters rows as the agent would, for files that the ledger knows: of one that is there, so often renamed."""
    ledger = next(agent.home.glob(".local/state/steward/ledger.sqlite"))
    with sqlite3.connect(ledger) as connection:
        rule, = connection.execute("SELECT id FROM timedRule LIMIT 1").fetchone()
        due = time.time_ns() + 10 * 365 * 86_400 * 10**9
        connection.executemany(
            "INSERT INTO due VALUES ('drafts', ?, ?, 0, ?, ?)",
            ((b"d%d/f%d.txt" % (n // 1000, n), rule, due + n, -(2**63)) for n in range(count)))


def attribute(path):
    try:
        return os.getxattr(path, "user.xdg.tags")
    except OSError:
        return b""


def rules(binary, quick):
    """Judging files beside ten rules that look at the clock, and beside ten thousand."""
    count = 500 if quick else 5_000
    figures = {}
    for number in (10, 10_000):
        text = "".join(
            f"- {{ rule: R{n}, in: drafts, settle: 100ms, where: {{ extension: e{n}, age: \"> {n % 300 + 1}d\" }}, do: trash }}\n"
            for n in range(number))
        costs = []
        with Agent(binary, text) as agent:
            agent.start()
            for turn in range(3):
                begin = agent.cpu()
                for n in range(count):
                    (agent.home / f"Steward/drafts/t{turn}-{n}.e{n % 10}").write_text("x\n")
                agent.wait()
                costs.append((agent.cpu() - begin) / count * 1e3)
        figures[f"{number} rules, CPU ms a file"] = round(statistics.median(costs), 3)
    few, many = figures.values()
    figures["times"] = round(many / few, 2) if few else None
    return figures


BENCHMARKS = {"due-rows": rows, "due-rules": rules}

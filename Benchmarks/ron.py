"""RON's SDK: a call against the bare client that it is built on, and a steady rate of calls."""
import os, pathlib, statistics, subprocess


class Plane:
    """The mock plane at a free port of this machine."""

    def __init__(self, binary):
        build = pathlib.Path(binary).resolve().parents[2]
        self.tool = os.environ.get("STEWARD_RON_BENCH") or build / "bench-ron/release/ron-bench"
        self.server = os.environ.get("STEWARD_RON_MOCK_PLANE") or pathlib.Path(binary).resolve().parent / "ron-mock-plane"

    def __enter__(self):
        self.process = subprocess.Popen([self.server, "--port", "0"], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def lines(self, *words):
        out = subprocess.run([self.tool, *map(str, words)], check=True, capture_output=True, text=True).stdout
        return [line.split() for line in out.splitlines()]


def hello(binary, quick):
    """`GET /app/hello`, one call after the other on one connection; the ways take turns in one process."""
    calls, rounds = (300, 9) if quick else (2_000, 31)
    with Plane(binary) as plane:
        lines = plane.lines("compare", plane.url, calls, rounds)
    wall, cpu = ({name: [float(line[place]) for line in lines if line[0] == name]
                  for name in ("sdk", "bare", "futures")} for place in (1, 2))
    # A pair is of one moment, so that what the machine does besides falls out of its ratio.
    ratio = statistics.median(ours / theirs for ours, theirs in zip(wall["sdk"], wall["bare"]))
    cpu_ratio = statistics.median(ours / theirs for ours, theirs in zip(cpu["sdk"], cpu["bare"]))
    return {
        "calls a round": calls, "rounds": rounds,
        "µs a call, SDK": round(statistics.median(wall["sdk"]), 1),
        "µs a call, AsyncHTTPClient alone": round(statistics.median(wall["bare"]), 1),
        "SDK / alone (aim: at most 1.05)": round(ratio, 3),
        "SDK / alone, CPU": round(cpu_ratio, 3),
        "µs a call, AsyncHTTPClient's futures": round(statistics.median(wall["futures"]), 1),
        "CPU µs a call, futures": round(statistics.median(cpu["futures"]), 1),
        "CPU µs a call, SDK": round(statistics.median(cpu["sdk"]), 1),
        "CPU µs a call, alone": round(statistics.median(cpu["bare"]), 1),
    }


def rate(binary, quick):
    """500 calls a second on loopback, in the client's process alone; memory must not grow."""
    seconds = 10 if quick else 60
    report = {}
    with Plane(binary) as plane:
        for name, way in {"SDK": "sdk", "AsyncHTTPClient alone": "bare"}.items():
            lines = [(float(cpu), int(kib) / 1024) for cpu, kib in plane.lines("rate", way, plane.url, 500, seconds)]
            # The first seconds make connections.
            settled = lines[len(lines) // 5:]
            report[name] = {
                "CPU ms a second, median": round(statistics.median(cpu for cpu, _ in settled), 1),
                "MiB, after a fifth": round(settled[0][1], 1), "MiB, at the end": round(settled[-1][1], 1),
            }
    return {"calls a second": 500, "seconds": seconds} | report


BENCHMARKS = {"ron-hello": hello, "ron-rate": rate}

"""tk lsp: how long after an edit the findings are there, and what the server holds."""
import json, os, pathlib, random, statistics, subprocess, time

import tk

DEBOUNCE = 250
# The aims: milliseconds beyond the debounce by the draft's words, and MiB.
LATENCY, MEMORY = {2_000: 100, 100_000: 300}, 60


class Server:
    """A `tk lsp` with one document open."""

    def __init__(self, program, environment, file):
        self.process = subprocess.Popen(
            [program, "lsp", "--debounce", str(DEBOUNCE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment)
        self.uri, self.version, self.last = file.as_uri(), 1, 0
        self.lines = file.read_text(encoding="utf-8").split("\n")
        self.request("initialize", {"capabilities": {"general": {"positionEncodings": ["utf-8"]}}})
        self.notify("initialized", {})
        document = {"uri": self.uri, "languageId": "markdown", "version": 1, "text": "\n".join(self.lines)}
        start = time.perf_counter()
        self.notify("textDocument/didOpen", {"textDocument": document})
        self.findings = self.published()
        self.opened = time.perf_counter() - start

    def send(self, message):
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self.process.stdin.flush()

    def notify(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def request(self, method, parameters):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": parameters})
        while True:
            message = self.read()
            if message.get("id") == self.last and "method" not in message:
                return message["result"]

    def read(self):
        length = int(self.process.stdout.readline().split(b":")[1])
        self.process.stdout.readline()
        return json.loads(self.process.stdout.read(length))

    def published(self):
        """How many findings the present version has, once they are there."""
        while True:
            message = self.read()
            if message.get("method") == "textDocument/publishDiagnostics":
                if message["params"]["version"] == self.version:
                    return len(message["params"]["diagnostics"])

    def edit(self, line, new):
        """Puts words at a line's end; seconds until the findings of that version are there, with the debounce."""
        place = {"line": line, "character": len(self.lines[line].encode())}
        self.lines[line] += new
        self.version += 1
        start = time.perf_counter()
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": self.uri, "version": self.version},
            "contentChanges": [{"range": {"start": place, "end": place}, "text": new}],
        })
        found = self.published()
        waited = time.perf_counter() - start
        # Each edit adds one repeated word, or takes the place of a finding that counted as several.
        if found == self.findings:
            raise SystemExit(f"an edit of line {line} brought no finding")
        self.findings = found
        return waited

    def memory(self):
        """MiB: the most that was resident, and now."""
        fields = dict(
            line.split(":", 1) for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        return [int(fields[name].split()[0]) / 1024 for name in ("VmHWM", "VmRSS")]

    def end(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait()


def served(binary, quick):
    """An editor's edits, anywhere in a draft, each after the findings of the one before."""
    program = pathlib.Path(binary).resolve()
    # Beside the build; a home without anybody's settings, but with the dictionaries of this machine.
    folder = program.parents[2] / "bench-lsp"
    folder.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    report = {}
    for words, aim in LATENCY.items():
        file, count = tk.write(folder / f"handbook-{words}.md", tk.handbook, words)
        server = Server(program.parent / "tk", environment, file)
        generator = random.Random(words)
        long = [line for line, text in enumerate(server.lines) if len(text.split()) > 10]
        waits = [
            server.edit(generator.choice(long), f" So it is is number {number}.") * 1e3 - DEBOUNCE
            for number in range(10 if quick else 50)
        ]
        most, now = server.memory()
        server.end()
        waits.sort()
        report[f"{count:,} words, {server.findings} findings"] = {
            "opened": f"{server.opened * 1e3:.0f} ms",
            f"after an edit, beyond {DEBOUNCE} ms (aim: at most {aim} ms)":
                f"median {statistics.median(waits):.0f} ms, 9 of 10 within {waits[len(waits) * 9 // 10]:.0f} ms, "
                f"most {waits[-1]:.0f} ms",
            f"memory (aim: at most {MEMORY} MiB)": f"{most:.0f} MiB at most, {now:.0f} MiB at the end",
        }
    return report


BENCHMARKS = {"tk-lsp": served}

"""An agent that benchmarks look at from outside."""
import atexit, json, os, pathlib, shutil, signal, subprocess, tempfile, time
from datetime import datetime, timezone

TICK = os.sysconf("SC_CLK_TCK")
# Folders that were made. They are removed when all is measured: an ext4 without a journal gives nobody the inodes of files
# that were deleted in the last minutes, and looks at each of them for every file that is made meanwhile.
_made = []
atexit.register(lambda: [shutil.rmtree(made, ignore_errors=True) for made in _made])


def folder(prefix):
    """A new one, which is removed when all is measured."""
    made = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
    _made.append(made)
    return made


def seconds(text):
    """Since 1970, of a time as the agent writes it: with nanoseconds, in UTC."""
    whole = datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
    return whole + int(text[20:29]) / 1e9


class Agent:
    """An agent in a home of its own."""

    def __init__(self, binary, rules, config=""):
        self.binary = binary
        self.home = folder("steward-bench-")
        self.environment = {
            "HOME": str(self.home), "PATH": os.environ["PATH"], "STEWARD_RULES": str(self.home / "rules"),
            "STEWARD_RUNTIME": str(self.home / "run"),
        }
        (self.home / "rules").mkdir()
        (self.home / "rules/10-bench.yaml").write_text(rules)
        self.command("init")
        file = self.home / ".config/steward/steward.yaml"
        file.write_text(file.read_text() + "\nlog: { level: warning }\n" + config)
        self.dropbox = self.home / "Steward/dropbox"
        self.process = None

    def command(self, *words):
        return subprocess.run([self.binary, *words], env=self.environment, check=True, capture_output=True, text=True).stdout

    def start(self):
        log = open(self.home / "log", "a")
        self.process = subprocess.Popen([self.binary, "run"], env=self.environment, stderr=log, stdout=log)
        while "isRunning\" : true" not in subprocess.run(
            [self.binary, "status", "--json"], env=self.environment, capture_output=True, text=True
        ).stdout:
            if self.process.poll() is not None:
                raise SystemExit((self.home / "log").read_text())
            time.sleep(0.02)

    def wait(self):
        """Waits until nothing is pending.

        Returns since when, as `time.time()` would have said: `steward wait` goes on for a while, to be sure."""
        return seconds(json.loads(self.command("wait", "--json"))["quietSince"])

    def status(self):
        return json.loads(self.command("status", "--json"))

    def cpu(self, children=False):
        """CPU seconds so far, on request with those of the processes that it has waited for."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:15 if children else 13])) / TICK

    def peak(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return 0

    def switches(self):
        """Context switches so far, by thread name."""
        total = {}
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                name = (task / "comm").read_text().strip()
                lines = (task / "status").read_text().splitlines()
            except OSError:
                continue
            count = sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
            total[(task.name, name)] = count
        return total

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
            self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

"""Runs organize on many homes, one configuration each, without asking anybody.

usage: organize_each.py FOLDER

FOLDER/N/home is a home, FOLDER/N/organize.yaml the configuration. What came of it is written to FOLDER/N/said: `ok`, or why
organize refused the configuration or stopped.
"""

import os
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
# Read once, when the library is loaded.
os.environ["XDG_DATA_HOME"] = str(root / "data")
os.environ["HOME"] = str(root)
os.environ["TZ"] = "UTC"

from organize.config import Config  # noqa: E402


class Silence:
    def start(self, simulate, config_path, working_dir):
        pass

    def msg(self, res, msg, sender, level="info"):
        pass

    def confirm(self, res, msg, default, sender):
        return False

    def end(self, success_count, error_count):
        pass


for case in sorted(root.iterdir()):
    if not (case / "organize.yaml").exists():
        continue
    os.environ["HOME"] = str(case / "home")
    try:
        config = Config.from_path(case / "organize.yaml")
        config.execute(simulate=False, output=Silence(), working_dir=case / "home")
        said = "ok"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    (case / "said").write_text(said)

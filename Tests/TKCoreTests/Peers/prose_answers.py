"""Writes proselint's examples, what must be flagged and what must not, with what the program itself says to each.

usage: prose_answers.py PROSELINT EXAMPLES      prints [{"check", "bad": [{"text", "said": [CHECK]}], "good": […]}]
"""

import ast
import json
import pathlib
import subprocess
import sys
import tempfile

program, examples = sys.argv[1:]
tree = ast.parse(pathlib.Path(examples).read_text(encoding="utf-8"))
modules = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign)))
texts = sorted({text for _, bad, good in modules for text in (*bad, *good)})

with tempfile.TemporaryDirectory() as folder:
    files = {}
    for number, text in enumerate(texts):
        file = pathlib.Path(folder) / f"{number}.txt"
        file.write_text(text + "\n", encoding="utf-8")
        files[file.as_uri()] = text
    run = subprocess.run(
        [program, "check", "-o", "json", *(str(pathlib.Path(folder) / f"{n}.txt") for n in range(len(texts)))],
        capture_output=True, text=True, encoding="utf-8")
    # 1: it found something.
    if run.returncode not in (0, 1):
        sys.exit(run.stderr)
    said = {text: [] for text in texts}
    for file, result in json.loads(run.stdout)["result"].items():
        said[files[file]] = sorted({found["check_path"] for found in result.get("diagnostics", [])})

json.dump([
    {"check": check, **{name: [{"text": text, "said": said[text]} for text in cases]
                        for name, cases in (("bad", bad), ("good", good))}}
    for check, bad, good in modules
], sys.stdout)

"""Prints what other parsers call code, targets and markup in documents.

usage: protected_parts.py DOCUMENTS      a JSON list of {"syntax", "text"}; prints a JSON list of lists of texts in order

reStructuredText is read by docutils, Markdown by cmark-gfm, Org and LaTeX by pandoc. An answer is null if the parser
does not accept a document. Exits with 69 if a parser is missing, and says which.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

try:
    import docutils.frontend
    import docutils.nodes as nodes
    import docutils.parsers.rst
    import docutils.utils
except ImportError:
    docutils = None

PROGRAMS = {"markdown": "cmark-gfm", "org": "pandoc", "latex": "pandoc"}


def rest(text):
    parser = docutils.parsers.rst.Parser()
    settings = docutils.frontend.get_default_settings(parser)
    settings.report_level = settings.halt_level = 5
    settings.file_insertion_enabled = False
    document = docutils.utils.new_document("draft", settings)
    parser.parse(text, document)
    kept = (
        nodes.literal_block, nodes.doctest_block, nodes.comment, nodes.literal, nodes.math, nodes.math_block,
        nodes.raw, nodes.substitution_definition, nodes.substitution_reference, nodes.footnote_reference,
        nodes.citation_reference, nodes.title_reference, nodes.reference, nodes.target, nodes.image,
        nodes.field_name, nodes.option_string, nodes.problematic, nodes.label)
    names = ("refuri", "refname", "uri")
    return [
        f"{node.tagname}: {node.astext()} " + " ".join(str(node[name]) for name in names if node.get(name))
        for node in document.findall() if isinstance(node, kept)]


def markdown(text):
    run = subprocess.run(
        ["cmark-gfm", "-t", "xml", "-e", "table", "-e", "footnotes"], input=text.encode(), capture_output=True)
    if run.returncode != 0:
        run = subprocess.run(["cmark-gfm", "-t", "xml", "-e", "table"], input=text.encode(), capture_output=True)
    parts = []
    for node in xml.etree.ElementTree.fromstring(run.stdout).iter():
        name = node.tag.partition("}")[2]
        if name in ("code", "code_block", "html_block", "html_inline"):
            parts.append(f"{name}: {node.text}")
        elif name in ("link", "image"):
            parts.append(f"{name}: {node.get('destination')}")
    return parts


def pandoc(text, syntax):
    run = subprocess.run(["pandoc", "-f", syntax, "-t", "json"], input=text.encode(), capture_output=True)
    if run.returncode != 0:
        return None
    parts = []

    def walk(node):
        if isinstance(node, list):
            for child in node:
                walk(child)
        elif isinstance(node, dict):
            kind, content = node.get("t"), node.get("c")
            if kind in ("Code", "CodeBlock", "RawInline", "RawBlock", "Math"):
                parts.append(f"{kind}: {content[-1]}")
            elif kind in ("Link", "Image"):
                parts.append(f"{kind}: {content[-1][0]}")
                walk(content)
            elif kind == "Cite":
                parts.append(f"{kind}: {[one['citationId'] for one in content[0]]}")
            else:
                for child in node.values():
                    walk(child)

    walk(json.loads(run.stdout)["blocks"])
    return parts


documents = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
wanted = {document["syntax"] for document in documents}
missing = {PROGRAMS[syntax] for syntax in wanted if syntax in PROGRAMS and not shutil.which(PROGRAMS[syntax])}
if "restructuredText" in wanted and docutils is None:
    missing.add("docutils (python3-docutils)")
if missing:
    print("missing: " + ", ".join(sorted(missing)), file=sys.stderr)
    sys.exit(69)
parsers = {"restructuredText": rest, "markdown": markdown}
answers = []
for document in documents:
    syntax = document["syntax"]
    parse = parsers.get(syntax) or (lambda text: pandoc(text, syntax))
    try:
        answers.append(parse(document["text"].replace("\r\n", "\n")))
    except (xml.etree.ElementTree.ParseError, RecursionError, ValueError, AttributeError, KeyError, IndexError):
        # The parser's own fault.
        answers.append(None)
json.dump(answers, sys.stdout)

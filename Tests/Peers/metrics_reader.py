"""Reads metrics from standard input with Prometheus' own parser, and says as JSON what they are: by name, type, help and
how many samples. Ends with 1 where a name breaks Prometheus' conventions or a histogram does not add up."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

found = {}
wrong = []
for family in text_string_to_metric_families(sys.stdin.read()):
    if family.name in found:
        wrong.append(f"{family.name} is there twice")
    if not family.documentation:
        wrong.append(f"{family.name} has no help")
    found[family.name] = {
        "type": family.type,
        "help": family.documentation,
        "samples": [{"name": s.name, "labels": s.labels, "value": s.value} for s in family.samples],
    }
    for sample in family.samples:
        if family.type == "counter" and not sample.name.endswith("_total"):
            wrong.append(f"{sample.name} is a counter")
        if family.type == "gauge" and sample.name.endswith(("_total", "_count", "_sum", "_bucket")):
            wrong.append(f"{sample.name} is a gauge")
    if family.type == "histogram":
        series = {}
        for sample in family.samples:
            labels = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
            series.setdefault(labels, {}).setdefault(sample.name.rsplit("_", 1)[1], []).append(sample)
        for labels, parts in series.items():
            counts = [s.value for s in sorted(parts["bucket"], key=lambda s: float(s.labels["le"]))]
            if counts != sorted(counts) or counts[-1] != parts["count"][0].value:
                wrong.append(f"{family.name}{labels} does not add up")
print(json.dumps(found))
for complaint in wrong:
    print(complaint, file=sys.stderr)
sys.exit(1 if wrong else 0)

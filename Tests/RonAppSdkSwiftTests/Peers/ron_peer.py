"""A second client of the app plane, written after the documents and not after the Swift one, on httpx.

usage: ron_peer.py BASE_URL CALLS.json

Makes each call of the file and prints one line of JSON for each: name, status, whether it succeeded, data, and the problem
in the schema's names.
"""
import json, sys
from urllib.parse import quote

import httpx


def target(call):
    """Path and query: `/app` once, every segment and value escaped, the query in the order of its names."""
    path = call["path"]
    if call.get("facet"):
        path = f"/facets/{call['facet']}{path}"
    if not path.startswith("/"):
        path = "/" + path
    if path != "/app" and not path.startswith("/app/"):
        path = "/app" + path
    url = "/".join(quote(segment, safe="") for segment in path.split("/"))
    query = call.get("query") or {}
    if query:
        url += "?" + "&".join(f"{quote(name, safe='')}={quote(query[name], safe='')}" for name in sorted(query))
    return url


def headers(call, number):
    """What the client adds; two names for one value where servers disagree about the name."""
    sent = dict(call.get("headers") or {})
    sent["accept"] = "application/json"
    token = call.get("token")
    if token:
        sent["authorization"] = token if " " in token else f"Bearer {token}"
    if call.get("passport"):
        sent["x-ron-passport"] = call["passport"]
    sent["x-request-id"] = sent["x-correlation-id"] = f"call-{number}"
    if call.get("idempotency_key") and call["method"] != "GET":
        sent["idempotency-key"] = sent["x-idempotency-key"] = call["idempotency_key"]
    return sent


def problem(response):
    """What the answer says of itself, in whichever of the shapes."""
    said, status = {}, response.status_code
    try:
        body = response.json()
        if isinstance(body, dict):
            said = body["error"] if isinstance(body.get("error"), dict) else body
    except ValueError:
        pass
    found = {"status": status}
    for name, others in {
        "code": [], "message": [], "kind": [], "retryable": [], "reason": [],
        "correlation_id": ["corr_id", "correlationId"], "retry_after_ms": ["retryAfterMs"],
    }.items():
        for key in [name, *others]:
            if said.get(key) is not None:
                found[name] = said[key]
                break
    if "retry_after_ms" not in found and response.headers.get("retry-after", "").isdigit():
        found["retry_after_ms"] = int(response.headers["retry-after"]) * 1000
    found.setdefault("correlation_id", response.headers.get("x-correlation-id"))
    return found


def answer(call, response):
    line = {"name": call["name"], "status": response.status_code, "ok": False}
    if not response.is_success:
        return line | {"problem": problem(response)}
    if not response.content:
        # An empty body that calls itself JSON is none.
        return line | {"ok": "json" not in response.headers.get("content-type", "")}
    try:
        return line | {"ok": True, "data": response.json()} if "json" in response.headers["content-type"] else line
    except ValueError:
        return line


def main():
    base, file = sys.argv[1:]
    with httpx.Client(trust_env=False, follow_redirects=False, timeout=30) as client, open(file, encoding="utf-8") as calls:
        for number, call in enumerate(json.load(calls)):
            content = None
            sent = headers(call, number)
            if "body" in call and call["method"] != "GET":
                content = json.dumps(call["body"], ensure_ascii=False).encode()
                sent["content-type"] = "application/json"
            response = client.request(call["method"], base + target(call), headers=sent, content=content)
            print(json.dumps(answer(call, response)))


main()

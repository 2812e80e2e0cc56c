"""Has the services' own Python clients talk to the stubs, so that a wrong stub does not make a wrong client look right.

usage: judge.py PORT      exits with 0 if the clients accept everything
"""

import json
import sys
import urllib.request

import anthropic
import ollama
import openai

base = f"http://127.0.0.1:{sys.argv[1]}"
TEXT = "Grün 🙂 “ja”"
SCHEMA = {"type": "object", "properties": {"quote": {"type": "string"}}, "required": ["quote"],
          "additionalProperties": False}


def judge_ollama():
    client = ollama.Client(host=base)
    messages = [{"role": "user", "content": "hello there"}]
    whole = client.chat(model="stub", messages=messages)
    assert whole.message.content == TEXT and whole.done and whole.done_reason == "stop", whole
    parts = list(client.chat(model="stub", messages=messages, stream=True, options={"num_ctx": 8192}))
    assert "".join(part.message.content for part in parts) == TEXT
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1].prompt_eval_count == 2 and parts[-1].eval_count == 3
    shaped = client.chat(model="stub", messages=messages, format=SCHEMA)
    assert shaped.message.content == '{"quote": "Grün"}', shaped
    assert [model.model for model in client.list().models] == ["stub:latest"]
    try:
        client.chat(model="missing", messages=messages)
        raise AssertionError("a missing model must be refused")
    except ollama.ResponseError as error:
        assert error.status_code == 404 and "not found" in error.error


def judge_anthropic():
    client = anthropic.Anthropic(base_url=base, api_key="stub-key-1234", max_retries=0)
    call = dict(model="claude-stub", max_tokens=50, messages=[{"role": "user", "content": "hello"}])
    whole = client.messages.create(**call)
    assert whole.content[0].text == TEXT and whole.stop_reason == "end_turn" and whole.usage.output_tokens == 9
    system = [{"type": "text", "text": "You are.", "cache_control": {"type": "ephemeral"}}]
    with client.messages.stream(**call, system=system) as stream:
        assert "".join(stream.text_stream) == TEXT
        final = stream.get_final_message()
    assert final.usage.cache_creation_input_tokens == 7 and final.usage.output_tokens == 9, final.usage
    shaped = client.messages.create(**call, output_config={"format": {"type": "json_schema", "schema": SCHEMA}})
    assert shaped.content[0].text == '{"quote": "Grün"}'
    assert [model.id for model in client.models.list()] == ["claude-stub"]
    try:
        client.messages.create(**call, extra_body={"temperature": 1.0})
        raise AssertionError("a temperature must be refused")
    except anthropic.BadRequestError as error:
        assert error.type == "invalid_request_error", error
    try:
        anthropic.Anthropic(base_url=base, api_key="other", max_retries=0).messages.create(**call)
        raise AssertionError("another key must be refused")
    except anthropic.AuthenticationError:
        pass


def judge_openai():
    client = openai.OpenAI(base_url=base + "/openai/v1", api_key="stub-key-1234", max_retries=0)
    call = dict(model="gpt-stub", max_completion_tokens=50, messages=[{"role": "user", "content": "hello"}])
    whole = client.chat.completions.create(**call)
    assert whole.choices[0].message.content == TEXT and whole.choices[0].finish_reason == "stop", whole
    assert whole.usage.completion_tokens == 9 and whole.usage.prompt_tokens_details.cached_tokens == 7, whole.usage
    parts = list(client.chat.completions.create(**call, stream=True, stream_options={"include_usage": True}))
    assert "".join(part.choices[0].delta.content or "" for part in parts if part.choices) == TEXT
    assert [part.choices for part in parts[-1:]] == [[]] and parts[-1].usage.total_tokens == 28, parts[-1]
    assert all(part.usage is None for part in parts[:-1])
    # The client's own reader of streams puts the chunks together, and fails at one that does not fit.
    with client.chat.completions.stream(**call) as stream:
        final = [event for event in stream][-1]
        assert stream.get_final_completion().choices[0].message.content == TEXT, final
    shape = {"type": "json_schema", "json_schema": {"name": "points", "strict": True, "schema": SCHEMA}}
    shaped = client.chat.completions.create(**call, response_format=shape)
    assert shaped.choices[0].message.content == '{"quote": "Grün"}'
    assert [model.id for model in client.models.list()] == ["gpt-stub"]
    for change, expected, code in [
        ({"model": "missing"}, openai.NotFoundError, "model_not_found"),
        ({"messages": []}, openai.BadRequestError, None),
        ({"stream_options": {"include_usage": True}}, openai.BadRequestError, None),
        ({"response_format": {"type": "json_schema", "json_schema": {
            "name": "open", "strict": True, "schema": {"type": "object", "properties": {}}}}},
         openai.BadRequestError, None),
    ]:
        try:
            client.chat.completions.create(**{**call, **change})
            raise AssertionError(f"{change} must be refused")
        except expected as error:
            assert error.code == code and error.type == "invalid_request_error", error
    fault(base, "refusal")
    refused = client.chat.completions.create(**call).choices[0].message
    assert refused.refusal == "I will not." and refused.content is None, refused
    fault(base, "error-in-stream")
    try:
        list(client.chat.completions.create(**call, stream=True))
        raise AssertionError("an error inside a stream must be raised")
    except openai.APIError as error:
        assert "The server had an error" in str(error), error
    try:
        openai.OpenAI(base_url=base + "/openai/v1", api_key="other", max_retries=0).chat.completions.create(**call)
        raise AssertionError("another key must be refused")
    except openai.AuthenticationError as error:
        assert error.code == "invalid_api_key", error


def fault(base, name):
    """What the stub's next answer does instead."""
    data = json.dumps({"fault": name}).encode()
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(base + "/stub/next", data).read()


judge_ollama()
judge_anthropic()
judge_openai()
print("accepted")

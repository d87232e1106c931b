"""A model service on 127.0.0.1 for tests of the whole program.

It speaks the Messages API and Chat Completions, streamed, and refuses what the real ones refuse.
"""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Call:
    def __init__(self, tool, arguments, call_id="call_1"):
        self.tool, self.arguments, self.id = tool, arguments, call_id


class Status:
    """An answer that is an error."""

    def __init__(self, status, message="no", kind="invalid_request_error", headers=None, html=False):
        self.status, self.message, self.kind = status, message, kind
        self.headers, self.html = headers or {}, html


class Hold:
    """No answer at all until the test is over."""


def check(good, what):
    if not good:
        raise ValueError(what)


def check_anthropic(headers, body):
    check(headers.get("x-api-key"), "no key")
    check(headers.get("anthropic-version") == "2023-06-01", "no version")
    check(isinstance(body["max_tokens"], int) and body["max_tokens"] > 0, "max_tokens")
    waiting, seen = set(), set()
    for number, message in enumerate(body["messages"]):
        user = number % 2 == 0
        check(message["role"] == ("user" if user else "assistant"), "roles do not take turns")
        check(message["content"], "a message without content")
        results = [block for block in message["content"] if block["type"] == "tool_result"]
        check(message["content"][: len(results)] == results, "results do not come first")
        check({block["tool_use_id"] for block in results} == waiting, "results and calls do not match")
        check(len(results) == len(waiting), "two results of one call")
        check(all(block["content"].strip() for block in results), "a result without content")
        calls = [block for block in message["content"] if block["type"] == "tool_use"]
        waiting = {block["id"] for block in calls}
        check(not calls or not user, "a user calls tools")
        check(len(waiting) == len(calls) and not waiting & seen, "ids are not unique")
        seen |= waiting
        check(all(isinstance(block["input"], dict) for block in calls), "an input that is no object")
        texts = [block["text"] for block in message["content"] if block["type"] == "text"]
        check(all(text.strip() for text in texts), "an empty text")
    check(not waiting and body["messages"][-1]["role"] == "user", "the end is not the user's")
    for tool in body.get("tools", []):
        check(tool["input_schema"]["type"] == "object", "a schema that is no object")


def check_openai(headers, body):
    waiting = []
    for message in body["messages"]:
        if message["role"] == "tool":
            check(waiting and message["tool_call_id"] == waiting.pop(0), "a result out of order")
            check(message["content"].strip(), "a result without content")
            continue
        check(not waiting, "a call without its result")
        if message["role"] == "assistant" and message.get("tool_calls"):
            waiting = [call["id"] for call in message["tool_calls"]]
            check(len(set(waiting)) == len(waiting), "ids are not unique")
            check(all(isinstance(call["function"]["arguments"], str) for call in message["tool_calls"]), "arguments")
        else:
            check(message["content"].strip(), "an empty text")
    check(not waiting, "a call without its result")
    for tool in body.get("tools", []):
        check(tool["type"] == "function" and tool["function"]["parameters"]["type"] == "object", "a tool")


def event(kind, **members):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n"


def anthropic_stream(text, calls):
    yield event("message_start", message={"id": "msg_1", "usage": {"input_tokens": 3, "output_tokens": 1}})
    yield event("ping")
    index = 0
    if text:
        yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        yield event("content_block_delta", index=index, delta={"type": "text_delta", "text": text})
        yield event("content_block_stop", index=index)
        index += 1
    for call in calls:
        block = {"type": "tool_use", "id": call.id, "name": call.tool, "input": {}}
        yield event("content_block_start", index=index, content_block=block)
        for at in range(0, len(call.arguments), 4000):
            delta = {"type": "input_json_delta", "partial_json": call.arguments[at : at + 4000]}
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
        index += 1
    yield event("message_delta", delta={"stop_reason": "tool_use" if calls else "end_turn"}, usage={"output_tokens": 5})
    yield event("message_stop")


def chunk(delta, finish=None):
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]})}\n\n"


def openai_stream(text, calls):
    yield chunk({"role": "assistant", "content": text or None})
    for index, call in enumerate(calls):
        function = {"name": call.tool, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for at in range(0, len(call.arguments), 4000):
            function = {"arguments": call.arguments[at : at + 4000]}
            yield chunk({"tool_calls": [{"index": index, "function": function}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield "data: [DONE]\n\n"


class LocalService:
    """`answers`: in order, a text, a list of calls, a Status or Hold."""

    def __init__(self, api, answers, certificate=None, key=None):
        self.api, self.answers, self.key = api, list(answers), key
        self.requests, self.faults = [], []
        self.over = threading.Event()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                service.answer(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def host(self):
        return f"127.0.0.1:{self.server.server_port}"

    @property
    def url(self):
        return f"{self.scheme}://{self.host}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler):
        raw = handler.rfile.read(int(handler.headers["content-length"]))
        self.requests.append((handler.headers, raw.decode()))
        try:
            body = json.loads(raw)
            check(body["stream"] is True, "not streamed")
            (check_anthropic if self.api == "anthropic" else check_openai)(handler.headers, body)
            path = "/v1/messages" if self.api == "anthropic" else "/v1/chat/completions"
            check(handler.path == path, handler.path)
        except (KeyError, TypeError, ValueError) as fault:
            self.faults.append(repr(fault))
            self.send_status(handler, Status(400, repr(fault)))
            return
        sent_key = handler.headers.get("x-api-key") or (handler.headers.get("authorization") or "").removeprefix("Bearer ")
        if self.key and sent_key != self.key:
            self.send_status(handler, Status(401, f"wrong key {sent_key}", "authentication_error"))
            return
        answer = self.answers.pop(0) if self.answers else Status(400, "a request too many")
        if isinstance(answer, Hold):
            self.over.wait(60)
        elif isinstance(answer, Status):
            self.send_status(handler, answer)
        else:
            self.send_stream(handler, answer)

    def send_status(self, handler, status):
        error = {"type": status.kind, "code": status.kind, "message": status.message}
        body = "<html>hello</html>" if status.html else json.dumps({"type": "error", "error": error})
        handler.send_response(status.status)
        handler.send_header("Content-Type", "text/html" if status.html else "application/json")
        handler.send_header("Content-Length", str(len(body.encode())))
        handler.send_header("Connection", "close")
        for name, value in status.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body.encode())

    def send_stream(self, handler, answer):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        text, calls = (answer, []) if isinstance(answer, str) else ("", answer)
        for piece in (anthropic_stream if self.api == "anthropic" else openai_stream)(text, calls):
            handler.wfile.write(piece.encode())
        handler.close_connection = True

import Foundation
import Glibc
import Platform

/// A separate program that speaks like Ollama and OpenAI's servers on a loopback port, optionally as another user,
/// which takes root. It keeps what it was sent.
package final class ModelOfUser: Sendable {
    package static let nobody: uid_t = 65_534

    package let port: Int
    private let process: Int32
    private let folder: TemporaryFolder

    package var url: String { "http://127.0.0.1:\(port)" }
    /// Every connection, and every request with its body; connections without a request are included.
    package var heard: String { get throws { try folder.read("heard") } }

    /// - Parameters:
    ///   - user: who runs the program.
    ///   - address: where it listens.
    package init(user: uid_t = geteuid(), address: String = "127.0.0.1") throws {
        folder = try TemporaryFolder("model")
        let script = try folder.write("model.py", Self.script)
        try folder.write("heard", "")
        let child = Process(["python3", script.text, "\(user)", address, folder.path.appending("heard").text])
        port = try child.runUntilNumber()
        process = child.processIdentifier
    }

    deinit { kill(process, SIGKILL) }

    private static let script = """
        import http.server, json, os, socket, sys
        user, address, log = int(sys.argv[1]), sys.argv[2], open(sys.argv[3], "a", buffering=1)
        words = json.dumps({"suggestions": [{"quote": "utilized", "before": "can be", "replacement": "used",
            "type": "improve", "category": "clarity", "priority": 2, "confidence": 0.9, "reason": "It is shorter."}]})

        class Answers(http.server.BaseHTTPRequestHandler):
            def setup(self):
                log.write("connected\\n")
                super().setup()
            def reply(self, value):
                body = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_GET(self):
                log.write(self.path + "\\n")
                self.reply({"version": "0.6.3", "models": [{"name": "llama3.2"}], "data": [{"id": "llama3.2"}]})
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                log.write(self.path + " " + body + "\\n")
                if self.path == "/api/chat":
                    self.reply({"model": "llama3.2", "message": {"role": "assistant", "content": words}, "done": True,
                        "done_reason": "stop", "prompt_eval_count": 3000, "eval_count": 15})
                else:
                    self.reply({"id": "c1", "model": "llama3.2", "choices": [{"index": 0, "finish_reason": "stop",
                        "message": {"role": "assistant", "content": words}}]})
            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
            def server_bind(self):
                # Not the library's own, which asks a name server for the machine's name.
                self.socket.bind(self.server_address)
                self.server_address = self.socket.getsockname()
                self.server_name, self.server_port = "model", self.server_address[1]

        if user != os.getuid():
            os.setgroups([]); os.setgid(user); os.setuid(user)
        server = Server((address, 0), Answers)
        print(server.server_port, flush=True)
        server.serve_forever()
        """
}

import Foundation
import NIOHTTP1
import Platform
import TestSupport
import Testing
import ron_mock_plane

@Suite("The mock app plane")
struct MockPlaneTests {
    @Test("Answers as the original gateway's tests do")
    func gatewayRoutes() async throws {
        try await MockPlane.running { plane in
            let ping = try await PlainHTTP.ask(.GET, plane.url + "/app/ping")
            #expect(ping.text == #"{"ok":true}"#)
            for method in [HTTPMethod.GET, .POST, .PUT, .PATCH, .DELETE] {
                let answer = try await PlainHTTP.ask(method, plane.url + "/app/method")
                #expect(answer.json["method"] as? String == method.rawValue)
            }
            let body = try await PlainHTTP.ask(.POST, plane.url + "/app/body?a=1%2B1&b=c+d", body: #"{"n":1}"#)
            #expect(body.json["query"] as? [String: String] == ["a": "1+1", "b": "c d"])
            #expect(body.json["body"] as? [String: Int] == ["n": 1])
            for status in [400, 403, 500] {
                let answer = try await PlainHTTP.ask(.GET, plane.url + "/app/problem\(status)")
                #expect((answer.status, answer.text) == (status, #"{"code":"problem_\#(status)"}"#))
            }
            let unbound = try await PlainHTTP.ask(.GET, plane.url + "/app/unbound")
            #expect(unbound.status == 502 && unbound.json["reason"] as? String == "connect")
        }
    }

    @Test("Stamps responses with the request's ids, and creates missing ones")
    func ids() async throws {
        try await MockPlane.running { plane in
            let own = try await PlainHTTP.ask(
                .GET, plane.url + "/app/ping", headers: ["x-request-id": "r1", "x-correlation-id": "c1"])
            #expect(own.headers["x-request-id"] == ["r1"] && own.headers["x-correlation-id"] == ["c1"])
            let made = try await PlainHTTP.ask(.GET, plane.url + "/app/nothing")
            #expect(made.status == 404)
            #expect(try #/r-[0-9a-f]{16}/#.wholeMatch(in: made.headers.first(name: "x-request-id") ?? "") != nil)
            #expect(made.headers["x-correlation-id"] == made.headers["x-request-id"])
        }
    }

    @Test("Requires the token, like a Micronode")
    func token() async throws {
        var options = MockPlaneOptions()
        options.token = "abc"
        try await MockPlane.running(options) { plane in
            let none = try await PlainHTTP.ask(.GET, plane.url + "/app/ping")
            #expect(none.status == 401 && none.text == "unauthorized")
            #expect(none.headers["www-authenticate"] == [#"Macro realm="micronode""#])
            let wrong = try await PlainHTTP.ask(.GET, plane.url + "/app/ping", headers: ["authorization": "Macro x"])
            #expect(wrong.status == 403)
            let right = try await PlainHTTP.ask(.GET, plane.url + "/app/ping", headers: ["authorization": "Macro abc"])
            #expect(right.status == 200)
            #expect(try await PlainHTTP.ask(.GET, plane.url + "/healthz").status == 200)
        }
    }

    @Test("Rejects an oversized body in plain text")
    func tooLarge() async throws {
        var options = MockPlaneOptions()
        options.bodyLimit = 100
        try await MockPlane.running(options) { plane in
            let whole = try await PlainHTTP.ask(
                .POST, plane.url + "/app/echo", body: String(repeating: "x", count: 100))
            #expect(whole.status == 200 && whole.body.count == 100)
            let more = try await PlainHTTP.ask(.POST, plane.url + "/app/echo", body: String(repeating: "x", count: 101))
            #expect(more.status == 413)
            #expect(more.headers.first(name: "content-type")?.hasPrefix("text/plain") == true)
        }
    }

    @Test("A fault set to occur twice lets the third request pass")
    func countedFault() async throws {
        try await MockPlane.running { plane in
            var statuses: [Int] = []
            for _ in 1...3 {
                statuses.append(try await PlainHTTP.ask(.GET, plane.url + "/app/hello?fault=503&times=2").status)
            }
            #expect(statuses == [503, 503, 200])
            #expect(try await PlainHTTP.ask(.GET, plane.url + "/app/hello?fault=nonsense").status == 400)
        }
    }

    @Test("A stream resumes after the last event named by the client")
    func streamResumes() async throws {
        try await MockPlane.running { plane in
            let url = plane.url + "/app/events/logs?count=3"
            let all = try await PlainHTTP.ask(.GET, url)
            #expect(
                all.text.components(separatedBy: "\n").filter { $0.hasPrefix("id:") } == ["id: 1", "id: 2", "id: 3"])
            let rest = try await PlainHTTP.ask(.GET, url, headers: ["last-event-id": "2"])
            #expect(rest.text.hasPrefix("id: 3\n"))
            #expect(try await PlainHTTP.ask(.GET, url, headers: ["last-event-id": "3"]).status == 204)
        }
    }

    @Test("Logs each request as a line of JSON")
    func records() async throws {
        let folder = try TemporaryFolder("plane")
        var options = MockPlaneOptions()
        options.record = folder.path.appending("requests.jsonl")
        try await MockPlane.running(options) { plane in
            _ = try await PlainHTTP.ask(.POST, plane.url + "/app/echo?a=%2B", headers: ["X-Own": "1"], body: "{}")
            let line = try folder.read("requests.jsonl")
            let request = try JSONDecoder().decode(RecordedRequest.self, from: Data(line.utf8))
            #expect([request] == plane.requests)
            #expect((request.method, request.target, request.body) == ("POST", "/app/echo?a=%2B", "{}"))
            #expect(request.header("x-own") == "1")
        }
    }
}

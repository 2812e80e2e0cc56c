import Foundation
import RonAppSdkSwift
import TestSupport
import Testing

@Suite("Reading problems")
struct ProblemTests {
    private func problem(
        _ status: Int, _ body: String, type: String? = "application/json", headers: [String: String] = [:]
    ) -> RonProblem {
        var headers = headers
        headers["content-type"] = type
        return RonProblem(status: status, headers: headers, body: Data(body.utf8))
    }

    @Test("The canonical form is read completely, and written with the wire's names")
    func canonical() throws {
        let text = """
            {"code":"quota","message":"Too much","kind":"policy","status":429,"correlation_id":"c-1","retryable":true,\
            "retry_after_ms":250,"reason":"burst","details":{"limit":18446744073709551615,"who":null},"later":[1]}
            """
        let expected = RonProblem(
            code: "quota", message: "Too much", kind: "policy", status: 429, correlationId: "c-1", retryable: true,
            retryAfterMs: 250, reason: "burst", details: ["limit": .unsigned(.max), "who": .null])
        #expect(problem(429, text) == expected)
        let written = try JSONEncoder().encode(expected)
        #expect(try JSONDecoder().decode(RonProblem.self, from: written) == expected)
        let names = try JSONDecoder().decode([String: JSONValue].self, from: written).keys.sorted()
        #expect(
            names == [
                "code", "correlation_id", "details", "kind", "message", "reason", "retry_after_ms", "retryable",
                "status",
            ])
    }

    @Test("Absent fields are omitted, not written as null")
    func omitted() throws {
        let written = try JSONEncoder().encode(RonProblem(code: "a", message: "b", kind: "app", status: 0))
        #expect(try JSONDecoder().decode([String: JSONValue].self, from: written).count == 4)
    }

    @Test("A gateway's problem has neither kind nor status")
    func gateway() {
        let problem = problem(
            502, #"{"code":"upstream_unavailable","message":"no","retryable":true,"reason":"connect"}"#,
            headers: ["x-correlation-id": "c-9", "x-request-id": "r-9"])
        #expect(problem.status == 502 && problem.kind == "transport" && problem.reason == "connect")
        #expect(problem.correlationId == "c-9" && problem.hasCode("UPSTREAM_UNAVAILABLE"))
    }

    @Test("A problem in an envelope is unwrapped")
    func nested() {
        let problem = problem(
            422, #"{"error":{"code":"bad_input","message":"No","corr_id":"c-2","details":{"reason":"field"}}}"#)
        #expect(problem.code == "bad_input" && problem.message == "No" && problem.correlationId == "c-2")
        #expect(problem.reason == "field" && problem.details == ["reason": .string("field")])
    }

    @Test("A code alone suffices, and so does a reason with a message")
    func sparse() {
        let code = problem(403, #"{"code":"problem_403"}"#)
        #expect(code.code == "problem_403" && code.message == "HTTP 403" && code.kind == "auth")
        #expect(code.retryable == false)
        let reason = problem(503, #"{"reason":"overloaded","message":"Try later"}"#)
        #expect(reason.code == "unknown_error" && reason.reason == "overloaded" && reason.message == "Try later")
        #expect(reason.retryable == true)
        #expect(problem(500, "{}").code == "unknown_error")
    }

    @Test("Fields of a wrong type are converted, or omitted")
    func wrongTypes() {
        let problem = problem(
            500,
            """
            {"code":42,"message":7.5,"kind":null,"status":"777","corr_id":12,"retryable":"TRUE",\
            "retry_after_ms":"250","reason":["a"],"details":"none"}
            """)
        #expect(problem.code == "42" && problem.message == "7.5" && problem.kind == "app" && problem.status == 500)
        #expect(problem.correlationId == "12" && problem.retryable == true && problem.retryAfterMs == 250)
        #expect(problem.reason == nil && problem.details == nil)
        #expect(self.problem(400, #"{"code":"","message":"","retryable":2,"retry_after_ms":-5}"#).retryAfterMs == nil)
        #expect(self.problem(400, #"{"retry_after_ms":1e300}"#).retryAfterMs == RonProblem.longestWaitMs)
    }

    @Test(
        "A body that is not a problem keeps the real status, and its content is not exposed",
        arguments: [
            ("text/plain", "not found"), ("text/html", "<h1>Bad gateway</h1>"), ("application/json", "{\"code\":"),
            ("application/json", "[1]"), ("application/json", "\"oops\""), ("application/json", ""), (nil, "oops"),
            ("application/json", "{\"details\":{\"x\":1e999}}"),
        ])
    func malformed(type: String?, body: String) {
        for (status, retryable) in [(404, false), (413, false), (408, true), (429, true), (500, true), (502, true)] {
            let problem = problem(status, body, type: type)
            #expect(problem.status == status && problem.code == "transport_error" && problem.kind == "transport")
            #expect(problem.retryable == retryable)
            if body.count > 1 { #expect(!problem.message.contains(body)) }
        }
    }

    @Test(
        "JSON is recognised by its media type",
        arguments: [
            "application/json", "Application/JSON; charset=utf-8", "application/problem+json",
            "application/vnd.ron+json;v=1",
        ])
    func mediaType(type: String) {
        #expect(problem(400, #"{"code":"seen"}"#, type: type).code == "seen")
        #expect(problem(400, #"{"code":"seen"}"#, type: "x-not/json-at-all").code == "transport_error")
    }

    @Test("In RFC 9457 the message is in detail or title")
    func problemJSON() {
        #expect(problem(400, #"{"type":"about:blank","title":"Bad","detail":"Worse"}"#).message == "Worse")
        #expect(problem(400, #"{"title":"Bad"}"#, type: "application/problem+json").message == "Bad")
    }

    @Test("Retry-After is used if the body has no wait")
    func retryAfter() throws {
        #expect(problem(429, #"{"retry_after_ms":5}"#, headers: ["retry-after": "9"]).retryAfterMs == 5)
        #expect(problem(429, "{}", headers: ["retry-after": " 9 "]).retryAfterMs == 9_000)
        #expect(problem(503, "busy", type: "text/plain", headers: ["retry-after": "0"]).retryAfterMs == 0)
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(problem(503, "{}", headers: ["retry-after": date]).retryAfterMs == 0, "\(date)")
        }
        for word in ["soon", "-3", "", "1.5", "1e9"] {
            #expect(problem(503, "{}", headers: ["retry-after": word]).retryAfterMs == nil, "\(word)")
        }
        #expect(
            problem(503, "{}", headers: ["retry-after": "99999999999999999999"]).retryAfterMs
                == RonProblem.longestWaitMs)
        let hour = try #require(
            problem(503, "{}", headers: ["retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"]).retryAfterMs)
        #expect(hour > 3_600_000)
    }

    @Test("Decoded alone, a problem without status has none, and one without retryable leaves it open")
    func byItself() throws {
        let problem = try JSONDecoder().decode(RonProblem.self, from: Data(#"{"code":"x","surplus":{}}"#.utf8))
        #expect(problem.status == 0 && problem.retryable == nil && problem.kind == "app")
    }

    @Test("Thousands of variants, valid and broken, all become a problem that follows the rules")
    func variants() throws {
        var chance = SeededGenerator(for: "ProblemTests.variants")
        for _ in 0..<5_000 {
            let status = Int.random(in: 300...599, using: &chance)
            var fields: [String: JSONValue] = [:]
            for name in [
                "code", "message", "kind", "status", "correlation_id", "corr_id", "retryable", "retry_after_ms",
                "reason",
                "details", "error", "surplus",
            ] where Bool.random(using: &chance) { fields[name] = Self.value(&chance, depth: 3) }
            var bytes = try JSONEncoder().encode(fields)
            let isBroken = Int.random(in: 0..<4, using: &chance) == 0
            if isBroken { bytes = bytes.dropLast(Int.random(in: 1...bytes.count, using: &chance)) }
            let headers = ["content-type": "application/json", "x-request-id": "r-1"]
            let problem = RonProblem(status: status, headers: headers, body: bytes)
            #expect(problem.status == status)
            #expect(!problem.code.isEmpty && !problem.message.isEmpty && !problem.kind.isEmpty)
            #expect(problem.correlationId?.isEmpty == false && problem.retryable != nil)
            #expect((problem.retryAfterMs ?? 0) >= 0)
            if isBroken {
                #expect(problem.code == "transport_error")
            } else {
                if case .string(let code) = fields["code"], !code.isEmpty { #expect(problem.code == code) }
                if case .bool(let retryable) = fields["retryable"] { #expect(problem.retryable == retryable) }
                if case .object(let details) = fields["details"] { #expect(problem.details == details) }
                fields["yet_another"] = Self.value(&chance, depth: 2)
                let more = RonProblem(status: status, headers: headers, body: try JSONEncoder().encode(fields))
                #expect(more == problem)
            }
            let again = try JSONDecoder().decode(RonProblem.self, from: try JSONEncoder().encode(problem))
            #expect(again == problem)
        }
    }

    private static func value(_ chance: inout SeededGenerator, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &chance) {
        case 0: .null
        case 1: .bool(.random(using: &chance))
        case 2: .integer(.random(in: Int64.min...Int64.max, using: &chance))
        case 3: .unsigned(.random(in: (UInt64(Int64.max) + 1)...UInt64.max, using: &chance))
        case 4: .number(Double.random(in: -1e6...1e6, using: &chance).rounded() + 0.5)
        case 5: .string(["", "rate_limited", "true", "250", "ä\u{0}\n\"", "🦊"].randomElement(using: &chance) ?? "")
        case 6: .array((0..<Int.random(in: 0...3, using: &chance)).map { _ in value(&chance, depth: depth - 1) })
        default:
            .object(
                Dictionary(
                    ["code", "message", "reason", "a", "b"].prefix(Int.random(in: 0...5, using: &chance))
                        .map { ($0, value(&chance, depth: depth - 1)) }
                ) { $1 })
        }
    }
}

import Foundation
import HTTPKit
import TKCore
import TestSupport
import Testing

@Suite("Errors, retries and keys of providers", .timeLimit(.minutes(30)))
struct ProviderFaultTests {
    let transport = HTTPTransport(environment: [:])
    let clock = RecordingClock()

    private func anthropic(
        _ url: String, key: String? = ProviderFixture.key, idle: Duration = .seconds(60),
        retry: RetryPolicy = RetryPolicy()
    ) throws -> AnthropicProvider {
        AnthropicProvider(
            model: "claude-sonnet-5", endpoint: try ProviderFixture.endpoint(url, key: key, idle: idle),
            transport: transport, retry: retry, clock: clock)
    }

    private func openAI(_ url: String) throws -> OpenAIProvider {
        OpenAIProvider(
            model: "gpt-6-luna", endpoint: try ProviderFixture.endpoint(url), transport: transport, clock: clock)
    }

    private func failure(_ provider: any LLMProvider) async throws -> LLMError {
        let outcome = await StreamOutcome(provider.stream(ProviderFixture.request))
        #expect(outcome.response == nil)
        return try #require(outcome.llmError, "\(String(describing: outcome.error))")
    }

    static func error(_ type: String, _ message: String) -> String {
        #"{"type":"error","error":{"type":"\#(type)","message":"\#(message)"},"request_id":"req_1"}"#
    }

    @Test("Without a server's wait, retries follow after 3, 9 and 15 seconds, then the error is thrown")
    func retriesAndGivesUp() async throws {
        let server = try ScriptedServer(.reply(529, Self.error("overloaded_error", "Overloaded")))
        let outcome = await StreamOutcome(try anthropic(server.url).stream(ProviderFixture.request))
        let error = try #require(outcome.llmError)
        #expect(error.kind == .overloaded && error.status == 529 && error.code == "overloaded_error")
        #expect(clock.pauses == [.seconds(3), .seconds(9), .seconds(15)])
        #expect(outcome.pauses == clock.pauses, "whoever waits is told before each pause")
        #expect(server.requests.count == 4 && Set(server.requests.map(\.body)).count == 1)
    }

    @Test("No try comes sooner than the server asks for: milliseconds first, then seconds, then a date")
    func retryAfter() async throws {
        let busy = Self.error("rate_limit_error", "slow down")
        let server = try ScriptedServer(
            .reply(429, busy, headers: ["retry-after-ms": "4500", "retry-after": "60"]),
            .reply(429, busy, headers: ["retry-after": "10.5"]), .reply(503, "{}", headers: ["retry-after": "x"]),
            .stream(ProviderFixture.anthropic))
        let response = try await anthropic(server.url).generate(ProviderFixture.request)
        #expect(response.text == ProviderFixture.text)
        let pauses = clock.pauses
        #expect(pauses.count == 3 && pauses.last == .seconds(15), "\(pauses)")
        for (pause, asked) in zip(pauses, [4.5, 10.5]) {
            #expect((.seconds(asked)...(.seconds(asked * 1.2))).contains(pause), "\(pauses)")
        }
        let now = Date(timeIntervalSince1970: 784_111_767)
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(RetryPolicy.wait(milliseconds: nil, secondsOrDate: date, now: now) == .seconds(10), "\(date)")
        }
        #expect(RetryPolicy.wait(milliseconds: nil, secondsOrDate: "-5", now: now) == .zero)
        #expect(RetryPolicy.wait(milliseconds: "nan", secondsOrDate: "1e400", now: now) == nil)
        #expect(RetryPolicy.wait(milliseconds: "1e300", secondsOrDate: nil, now: now) == .seconds(1_000_000_000))
    }

    @Test(
        "A server that asks for less than our own wait gets that, and not everyone at once",
        arguments: [(0, 0.0, 3.0), (0, 1.5, 3), (0, 3.5, 3.5), (1, 7.5, 9), (2, 0, 15), (2, 120, 120)])
    func shortWait(_ retries: Int, _ asked: Double, _ wait: Double) throws {
        let error = LLMError(.rateLimited, "slow down", status: 429, retryAfter: .seconds(asked))
        let pauses = try (0..<100).map { _ in try #require(RetryPolicy().delay(after: error, retries: retries)) }
        #expect(pauses.allSatisfy { (.seconds(wait)...(.seconds(wait * 1.2))).contains($0) }, "\(pauses)")
        #expect(Set(pauses).count > 1)
    }

    @Test("A wait of more than two minutes is not honoured, and the message says how long it is")
    func longWait() async throws {
        let server = try ScriptedServer(
            .reply(429, Self.error("rate_limit_error", "later"), headers: ["retry-after": "121"]))
        let error = try await failure(anthropic(server.url))
        #expect(error.kind == .rateLimited && error.retryAfter == .seconds(121) && error.message.contains("121 s"))
        #expect(clock.pauses.isEmpty && server.requests.count == 1)
    }

    @Test(
        "Permanent errors are not retried",
        arguments: [
            (400, error("invalid_request_error", "bad"), LLMError.Kind.invalidRequest),
            (400, error("invalid_request_error", "prompt is too long: 9 > 8"), .contextTooLong),
            (400, error("invalid_request_error", "Your credit balance is too low"), .billing),
            (401, error("authentication_error", "invalid x-api-key"), .authentication),
            (402, error("billing_error", "pay"), .billing), (403, error("permission_error", "no"), .authentication),
            (404, error("not_found_error", "model: x"), .invalidRequest),
            (413, error("request_too_large", "big"), .contextTooLong),
            (422, #"{"detail":[{"msg":"m"}]}"#, .invalidRequest),
            (429, #"{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}"#, .billing),
            (429, error("rate_limit_error", "You have reached your spend limit"), .billing),
            (400, #"{"error":{"code":400,"message":"m","type":"exceed_context_size_error"}}"#, .contextTooLong),
            (
                400, #"{"error":{"message":"m","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
                .contextTooLong
            ),
            (400, #"{"error":{"message":"m","code":"content_filter"}}"#, .refused),
        ])
    func permanent(_ status: Int, _ body: String, _ kind: LLMError.Kind) async throws {
        // A server's request to retry makes no difference.
        let server = try ScriptedServer(.reply(status, body, headers: ["x-should-retry": "true"]))
        let error = try await failure(anthropic(server.url))
        #expect(error.kind == kind && error.status == status && !error.isRetryable)
        #expect(server.requests.count == 1 && clock.pauses.isEmpty)
    }

    @Test("408, 409, 425 and every 5xx are tried again, unless the server says no")
    func transient() async throws {
        let server = try ScriptedServer(
            .reply(408, "{}"), .reply(409, "{}"), .reply(500, "<html>"), .stream(ProviderFixture.anthropic))
        #expect(try await anthropic(server.url).generate(ProviderFixture.request).text == ProviderFixture.text)
        let early = try ScriptedServer(.reply(425, "{}"), .stream(ProviderFixture.anthropic))
        #expect(try await anthropic(early.url).generate(ProviderFixture.request).text == ProviderFixture.text)
        let firm = try ScriptedServer(.reply(500, "{}", headers: ["x-should-retry": "false"]))
        #expect(try await failure(anthropic(firm.url)).kind == .server)
        #expect(firm.requests.count == 1)
    }

    @Test("An error inside a stream is retried before the first text, and never after it")
    func errorInStream() async throws {
        let busy = "event: error\ndata: \(Self.error("overloaded_error", "Overloaded"))\n\n"
        let early = ProviderFixture.anthropic.components(separatedBy: "event: content_block_delta\n")[0]
        let server = try ScriptedServer(.stream(early + busy), .stream(ProviderFixture.anthropic))
        let outcome = await StreamOutcome(try anthropic(server.url).stream(ProviderFixture.request))
        #expect(outcome.text == ProviderFixture.text && server.requests.count == 2)

        let late = ProviderFixture.anthropic.components(separatedBy: "event: content_block_stop")[0]
        let second = try ScriptedServer(.stream(late + busy), .stream(ProviderFixture.anthropic))
        let error = try await failure(anthropic(second.url))
        #expect(error.kind == .overloaded && second.requests.count == 1)
        #expect(error.partial?.text == ProviderFixture.text && error.partial?.usage?.totalInputTokens == 215)
        #expect(error.partial?.stopReason == .interrupted && error.partial?.requestID == "req_test")

        let chat = try ScriptedServer(
            .stream("data: {\"error\":{\"message\":\"m\",\"code\":\"insufficient_quota\"}}\n\n"))
        #expect(try await failure(openAI(chat.url)).kind == .billing)
        let ollama = try ScriptedServer(
            .stream("{\"error\":\"model runner has unexpectedly stopped\"}\n", type: "application/x-ndjson"))
        let provider = OllamaProvider(
            model: "m", endpoint: try OllamaProvider.endpoint(host: ollama.url), transport: transport, retry: .never)
        let stopped = try await failure(provider)
        #expect(stopped.kind == .server && stopped.message.contains("unexpectedly stopped"))
    }

    @Test("Thinking and refusals are content too: an answer cut after them was billed, and is not requested again")
    func brokenBehindThoughts() async throws {
        let parts = ProviderFixture.anthropic.components(separatedBy: "event: content_block_delta\n")
        let thinking = try ScriptedServer(
            .stream(parts[0] + "event: content_block_delta\n" + parts[1], ending: .cut),
            .stream(ProviderFixture.anthropic))
        let error = try await failure(anthropic(thinking.url))
        #expect(thinking.requests.count == 1 && error.partial?.text == "" && error.partial?.usage != nil)
        for field in ["refusal", "reasoning_content"] {
            let server = try ScriptedServer(
                .stream(
                    "data: {\"choices\":[{\"index\":0,\"delta\":{\"\(field)\":\"I\"}}]}\n\n", ending: .cut),
                .stream("data: [DONE]\n\n"))
            #expect(try await failure(openAI(server.url)).partial != nil && server.requests.count == 1)
        }
    }

    @Test("A broken connection is retried before the first text; after it the error contains the text so far")
    func brokenConnection() async throws {
        let early = ProviderFixture.anthropic.components(separatedBy: "event: content_block_delta\n")[0]
        let server = try ScriptedServer(
            .stream(early, ending: .cut), .stream("", ending: .cut), .stream(early), .stream(ProviderFixture.anthropic))
        #expect(try await anthropic(server.url).generate(ProviderFixture.request).text == ProviderFixture.text)
        #expect(clock.pauses == [.seconds(3), .seconds(9), .seconds(15)])
        let late = ProviderFixture.anthropic.components(separatedBy: "event: content_block_stop")[0]
        let second = try ScriptedServer(.stream(late, ending: .cut))
        let error = try await failure(anthropic(second.url))
        #expect(error.kind == .network && error.partial?.text == ProviderFixture.text)
        #expect(second.requests.count == 1)
    }

    @Test("A protocol violation is its own error, and retried before the first text")
    func garbled() async throws {
        let broken = ProviderFixture.openAI.replacing(#"{"id":"c1","object""#, with: #"{"id":"c1,"object""#)
        let server = try ScriptedServer(.stream(broken), .stream(ProviderFixture.openAI))
        #expect(try await openAI(server.url).generate(ProviderFixture.request).text == ProviderFixture.text)
        #expect(clock.pauses == [.seconds(3)])
        let json = try ScriptedServer(.reply(200, "[1]"))
        #expect(try await failure(anthropic(json.url, retry: .never)).kind == .malformed)
    }

    @Test("A silent server is abandoned after the idle time, even in the middle of a stream")
    func silence() async throws {
        let late = ProviderFixture.anthropic.components(separatedBy: "event: content_block_stop")[0]
        let server = try ScriptedServer(.stream(late, ending: .held))
        let error = try await failure(anthropic(server.url, idle: .seconds(5), retry: .never))
        #expect(error.kind == .network && error.message.contains("silent"))
        #expect(error.partial?.text == ProviderFixture.text)
        try await waitUntil("the connection is closed") { server.abandoned == 1 }
    }

    @Test("Cancelling ends the call at once: during the stream, before the answer, and between retries")
    func cancellation() async throws {
        let late = ProviderFixture.anthropic.components(separatedBy: "event: content_block_stop")[0]
        for answer in [ScriptedServer.Answer.stream(late, ending: .held), .stream([], ending: .held)] {
            let server = try ScriptedServer(answer)
            let provider = try anthropic(server.url)
            let task = Task { try await provider.generate(ProviderFixture.request) }
            try await waitUntil("the request is there") { server.requests.count == 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await waitUntil("the connection is closed") { server.abandoned == 1 }
        }
        let busy = try ScriptedServer(.reply(529, "{}"))
        let waiting = AnthropicProvider(
            model: "m", endpoint: try ProviderFixture.endpoint(busy.url), transport: transport, clock: StoppedClock())
        let task = Task { try await waiting.generate(ProviderFixture.request) }
        try await waitUntil("the request is there") { busy.requests.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(busy.requests.count == 1)
    }

    @Test("Leaving a stream early closes its connection")
    func leaving() async throws {
        let late = ProviderFixture.anthropic.components(separatedBy: "event: content_block_stop")[0]
        let server = try ScriptedServer(.stream(late, ending: .held))
        for try await event in try anthropic(server.url).stream(ProviderFixture.request) {
            guard case .text = event else { continue }
            break
        }
        try await waitUntil("the connection is closed") { server.abandoned == 1 }
    }

    @Test("A redirect is not followed: neither draft nor key is sent on")
    func redirect() async throws {
        let target = try ScriptedServer(.stream(ProviderFixture.anthropic))
        for status in [301, 302, 307, 308] {
            let server = try ScriptedServer(.reply(status, "", headers: ["location": target.url + "/v1/messages"]))
            let error = try await failure(anthropic(server.url))
            #expect(error.kind == .invalidRequest && error.message.contains(target.url))
        }
        #expect(target.requests.isEmpty)
    }

    @Test("A server that echoes the key does not get it into an error, wherever it is")
    func keyEchoed() async throws {
        let key = ProviderFixture.key
        let base64 = Data(key.utf8).base64EncodedString()
        let echo = "bad key \(key), Bearer \(key), \(base64) sk-ant-another-0123456789"
        let bodies = [
            Self.error("authentication_error", echo), #"{"error":"\#(echo)"}"#, echo,
            #"{"error":{"message":"m","type":"\#(key)","code":"\#(key)"}}"#,
        ]
        for status in [400, 401, 429, 500] {
            for body in bodies {
                let server = try ScriptedServer(.reply(status, body, headers: ["request-id": key, "location": key]))
                let error = try await failure(anthropic(server.url, retry: .never))
                let everything = "\(error) \(error.localizedDescription) " + String(reflecting: error)
                for secret in [key, base64, "sk-ant-another"] { #expect(!everything.contains(secret), "\(everything)") }
            }
        }
        let stream = try ScriptedServer(.stream("event: error\ndata: \(Self.error("api_error", echo))\n\n"))
        #expect(!"\(try await failure(anthropic(stream.url, retry: .never)))".contains(key))
        let moved = try ScriptedServer(.reply(302, "", headers: ["location": "https://x/?k=\(key)"]))
        #expect(!"\(try await failure(anthropic(moved.url, retry: .never)))".contains(key))
        let provider = try anthropic(stream.url)
        var dumped = ""
        dump(provider, to: &dumped)
        #expect(!"\(provider)".contains(key) && !dumped.contains(key))
    }

    @Test("A missing or impossible key is reported before anything is sent")
    func keys() async throws {
        let server = try ScriptedServer(.stream(ProviderFixture.anthropic))
        #expect(try await failure(anthropic(server.url, key: " \n")).kind == .keyMissing)
        for key in ["two words", "line\nbreak", "ünicode"] {
            let error = try await failure(anthropic(server.url, key: key))
            #expect(error.kind == .authentication && !error.message.contains(key))
        }
        #expect(server.requests.isEmpty)
        let plain = try anthropic("http://192.0.2.1:9")
        let error = try await failure(plain)
        #expect(error.kind == .invalidRequest && error.message.contains("not encrypted"))
        _ = try await anthropic(server.url, key: " \(ProviderFixture.key)\n").generate(ProviderFixture.request)
        #expect(server.requests.first?.headers["x-api-key"] == ProviderFixture.key)
    }

    @Test("A local server that does not run is unavailable, at once; a remote one is a network error")
    func nothingThere() async throws {
        let server = try ScriptedServer(.reply(200, "{}"))
        server.stop()
        let local = try await failure(anthropic(server.url))
        #expect(local.kind == .notAvailable && clock.pauses.isEmpty)
        let name = try await failure(anthropic("https://steward-test.invalid", retry: .never))
        #expect(name.kind == .network)
    }

    @Test("Endless bodies are rejected")
    func endless() async throws {
        let line = [[UInt8]](repeating: Array(repeating: UInt8(ascii: "x"), count: 1 << 20), count: 6)
        let server = try ScriptedServer(.stream(line))
        #expect(try await failure(anthropic(server.url, retry: .never)).kind == .malformed)
    }

    @Test("Proxies come from the environment; loopback uses none")
    func proxies() throws {
        let settings = ProxySettings(environment: [
            "https_proxy": "http://user:word@proxy.example:3128", "http_proxy": "proxy2.example:8080",
            "no_proxy": "internal.example, .corp,10.0.0.1:443",
        ])
        func proxy(_ url: String) throws -> String? {
            settings.proxy(for: try #require(URL(string: url))).map { "\($0.host):\($0.port)" }
        }
        #expect(try proxy("https://api.anthropic.com") == "proxy.example:3128")
        #expect(try proxy("http://example.org") == "proxy2.example:8080")
        for url in [
            "https://internal.example/v1", "https://a.internal.example", "https://x.corp", "https://10.0.0.1:443",
            "http://127.0.0.1:11434", "http://localhost", "http://[::1]:80",
        ] { #expect(try proxy(url) == nil, "\(url)") }
        let shouting = ProxySettings(environment: ["HTTP_PROXY": "http://evil:1"])
        #expect(shouting.proxy(for: try #require(URL(string: "http://example.org"))) == nil)
    }

    @Test("The proxy is used: a request for another host arrives there")
    func throughProxy() async throws {
        let proxy = try ScriptedServer(.stream(ProviderFixture.openAI))
        let provider = OpenAIProvider(
            model: "m", endpoint: try ServerEndpoint("http://llm.example/v1"),
            transport: HTTPTransport(environment: ["http_proxy": proxy.url]), retry: .never)
        #expect(try await provider.generate(ProviderFixture.request).text == ProviderFixture.text)
        #expect(proxy.requests.first?.tunnel == "llm.example:80")
    }
}

import Foundation
import Synchronization
import TKCore
import TestSupport
import Testing

@Suite("Choosing a provider", .timeLimit(.minutes(30)))
struct ProviderManagerTests {
    /// A provider without a server.
    struct Fake: LLMProvider {
        var name: String
        var modelID = "m"
        var isLocal = false
        var health: LLMError?
        var hangs = false
        var pieces: [String] = ["yes"]
        var failure: LLMError?

        func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
            AsyncThrowingStream { continuation in
                for piece in pieces where failure == nil || !piece.isEmpty { continuation.yield(.text(piece)) }
                if let failure { return continuation.finish(throwing: failure) }
                continuation.yield(.done(LLMResponse(text: pieces.joined(), model: modelID, provider: name)))
                continuation.finish()
            }
        }

        func models() async throws -> [LLMModel] { [LLMModel(id: modelID)] }

        func checkHealth() async throws -> String {
            if hangs { try await Task.sleep(for: .seconds(86_400)) }
            if let health { throw health }
            return name
        }
    }

    static func failing(_ name: String, _ kind: LLMError.Kind, after pieces: [String] = []) -> Fake {
        Fake(name: name, pieces: pieces, failure: LLMError(kind, "\(name) is \(kind)", provider: name))
    }

    static func ill(_ name: String, _ kind: LLMError.Kind = .notAvailable, isLocal: Bool = false) -> Fake {
        Fake(name: name, isLocal: isLocal, health: LLMError(kind, "\(name) is \(kind)", provider: name))
    }

    final class Log: Sendable {
        let lines = Mutex<[String]>([])
        func note(_ attempt: ProviderManager.Attempt) {
            lines.withLock { $0.append("\(attempt.provider): \(attempt.reason?.kind.rawValue ?? "taken")") }
        }
        var all: [String] { lines.withLock { $0 } }
    }

    @Test("The configured provider is asked first, and alone if it answers")
    func preferred() async throws {
        let log = Log()
        let manager = ProviderManager(
            preferred: Fake(name: "anthropic"), chain: [Fake(name: "ollama", isLocal: true)],
            onFallback: { log.note($0) })
        #expect(try await manager.generate(ProviderFixture.request).provider == "anthropic")
        #expect(log.all.isEmpty && manager.name == "anthropic")
    }

    @Test("Without a key, the chain continues from Ollama to the cloud, and says why")
    func chain() async throws {
        let log = Log()
        let manager = ProviderManager(
            preferred: Self.failing("anthropic", .keyMissing),
            chain: [
                Self.ill("ollama", isLocal: true), Self.ill("cloud", .authentication), Fake(name: "openai"),
            ], onFallback: { log.note($0) })
        #expect(try await manager.generate(ProviderFixture.request).provider == "openai")
        #expect(
            log.all == [
                "anthropic: keyMissing", "ollama: notAvailable", "cloud: authentication", "openai: taken",
            ])
    }

    @Test(
        "Errors that the user must know about, or has paid for, lead to no other provider",
        arguments: [
            LLMError.Kind.authentication, .billing, .rateLimited, .overloaded, .invalidRequest, .contextTooLong,
            .refused,
            .truncated, .server, .malformed,
        ])
    func noFallback(_ kind: LLMError.Kind) async throws {
        let manager = ProviderManager(preferred: Self.failing("anthropic", kind), chain: [Fake(name: "openai")])
        await #expect { try await manager.generate(ProviderFixture.request) } throws: {
            ($0 as? LLMError)?.kind == kind
        }
    }

    @Test("After the first piece of text nobody else is asked")
    func notAfterText() async throws {
        let manager = ProviderManager(
            preferred: Self.failing("anthropic", .network, after: ["half"]), chain: [Fake(name: "openai")])
        let outcome = await StreamOutcome(manager.stream(ProviderFixture.request))
        #expect(outcome.text == "half" && outcome.llmError?.kind == .network)
    }

    @Test("A draft meant for a local model does not go to a cloud, unless that is wanted")
    func privacy() async throws {
        let local = Self.failing("ollama", .notAvailable)
        var preferred = local
        preferred.isLocal = true
        let manager = ProviderManager(
            preferred: preferred, chain: [Self.ill("near", isLocal: true), Fake(name: "openai")])
        #expect(manager.isLocal)
        let outcome = await StreamOutcome(manager.stream(ProviderFixture.request))
        #expect(outcome.llmError?.kind == .notAvailable)
        #expect(outcome.llmError?.message.contains("ollama is") == true)
        #expect(outcome.llmError?.message.contains("near is notAvailable") == true)
        let open = ProviderManager(preferred: preferred, chain: [Fake(name: "openai")], cloudAfterLocal: true)
        #expect(try await open.generate(ProviderFixture.request).provider == "openai")
    }

    @Test("A hanging health check times out")
    func hanging() async throws {
        let manager = ProviderManager(
            preferred: nil, chain: [Fake(name: "ollama", isLocal: true, hangs: true), Fake(name: "openai")],
            healthTimeout: .milliseconds(50))
        let selection = try await manager.select()
        #expect(selection.provider.name == "openai")
        #expect(selection.passedOver.map(\.provider) == ["ollama"])
        #expect(selection.passedOver.first?.reason?.message.contains("health check") == true)
    }

    @Test("Without any provider the message says what to do")
    func none() async throws {
        let manager = ProviderManager(preferred: nil, chain: [])
        await #expect { try await manager.generate(ProviderFixture.request) } throws: {
            ($0 as? LLMError)?.message.contains("config set api_key") == true
        }
    }

    @Test("Cancelling the manager's call is a cancellation, not a failure of all")
    func cancelled() async throws {
        let manager = ProviderManager(
            preferred: nil, chain: [Fake(name: "ollama", hangs: true)], healthTimeout: .seconds(600))
        let task = Task { try await manager.generate(ProviderFixture.request) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

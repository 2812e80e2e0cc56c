import Platform
import Synchronization
import TKCore
import TestSupport
import Testing

/// Which server a draft goes to, according to the settings.
@Suite("Where drafts go", .timeLimit(.minutes(30)))
struct ModelChoiceTests {
    private let folder: TemporaryFolder
    private let home: TKHome
    private let models: ModelTable

    init() throws {
        folder = try TemporaryFolder()
        home = try TKHome(environment: ["TK_HOME": folder.path.text])
        models = try ModelTable.load(TKResources.locate())
    }

    private final class Heard: Sendable {
        private let lines = Mutex<[String]>([])
        func note(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private func choice(_ settings: [ConfigurationKey: String], _ environment: [String: String]) -> ModelChoice {
        let configuration = TKConfiguration(
            settings: settings.mapValues { .init(value: $0, source: .user("config.json")) })
        return ModelChoice(
            configuration,
            secrets: SecretChain(home: home, environment: environment, configured: configuration.provider),
            models: models, environment: environment, timeout: .seconds(60))
    }

    /// Ollama with one model.
    private static func ollama() throws -> ScriptedServer {
        try ScriptedServer { request in
            request.path.hasSuffix("/api/chat")
                ? AdvisorFixture.answer("yes")
                : .reply(200, #"{"version":"0.6.3","models":[{"name":"llama3.2"}]}"#)
        }
    }

    /// Sets the server as a proxy, to reach another machine without having one.
    private static func elsewhere(_ server: ScriptedServer) -> [String: String] {
        ["OLLAMA_HOST": "http://ollama.example:11434", "http_proxy": server.url]
    }

    @Test("An unknown provider is rejected, and not taken for the default")
    func unknown() async throws {
        let chosen = choice([.provider: "antropic"], ["ANTHROPIC_API_KEY": "key"])
        await #expect {
            _ = try await chosen.provider { _ in }
        } throws: { error in
            (error as? Fault)?.message.contains("no provider `antropic`; did you mean `anthropic`?") == true
        }
    }

    @Test("`fallback local` asks nobody on another machine, whatever OLLAMA_HOST says")
    func local() async throws {
        let server = try Self.ollama()
        let heard = Heard()
        let chosen = choice([.provider: "anthropic", .fallback: "local"], Self.elsewhere(server))
        await #expect {
            _ = try await chosen.provider { heard.note($0) }
        } throws: { error in
            let message = (error as? LLMError)?.message ?? ""
            return message.contains("anthropic: no API key") && !message.contains("ollama:")
        }
        #expect(server.requests.isEmpty && heard.all.isEmpty)
    }

    @Test("A model on this machine replaces one without a key, and its address is reported")
    func here() async throws {
        let server = try Self.ollama()
        for policy in ["local", "any"] {
            let heard = Heard()
            let provider = try await choice([.fallback: policy], ["OLLAMA_HOST": server.url])
                .provider { heard.note($0) }
            #expect(provider.name == "ollama" && provider.modelID == "llama3.2" && provider.isLocal)
            #expect(heard.all == ["anthropic has no key. Asking ollama at \(server.url) instead."])
        }
        #expect(try await choice([.provider: "ollama"], ["OLLAMA_HOST": server.url]).provider { _ in }.name == "ollama")
    }

    @Test("With `fallback any` a remote Ollama comes after local models, and is reported with its address")
    func elsewhere() async throws {
        let server = try Self.ollama()
        let heard = Heard()
        let provider = try await choice([.fallback: "any"], Self.elsewhere(server)).provider { heard.note($0) }
        #expect(provider.name == "ollama" && !provider.isLocal)
        #expect(heard.all == ["anthropic has no key. Asking ollama at http://ollama.example:11434 instead."])
        // A user of a local model with no further settings stays on this machine.
        let own = choice(
            [.provider: "openai", .baseURL: "http://127.0.0.1:1", .fallback: "any"], Self.elsewhere(server))
        let asked = Heard()
        let manager = try await own.provider { asked.note($0) }
        #expect(try await manager.generate(ProviderFixture.request).provider == "ollama")
        #expect(asked.all.last == "Asking ollama at http://ollama.example:11434 instead.")
    }
}

import Foundation
import Platform

/// Ollama's own API, the only one that can set the context length: by default Ollama gives 4,096 tokens and silently
/// truncates longer prompts.
public struct OllamaProvider: LLMProvider {
    /// Ollama's own default.
    public static let defaultBaseURL = "http://127.0.0.1:11434"

    /// Limits and switches.
    public struct Options: Sendable {
        /// The maximum context in tokens; it costs the server memory.
        public var longestContext = 32_768
        /// Off for Ollama's cloud models, which do not accept `format`.
        public var sendsSchema = true
        /// How long the model stays loaded afterwards, e.g. `10m`; nil for the server's default.
        public var keepAlive: String?

        /// Defaults for a model on this machine.
        public init() {}
    }

    /// As in the configuration.
    public let name = "ollama"
    /// The requested model.
    public let modelID: String
    /// Limits and switches.
    public let options: Options
    private let call: ProviderCall

    /// Loading a model and reading a prompt can take minutes without output: the endpoint needs a matching idle timeout
    /// (``endpoint(host:)`` sets one).
    public init(
        model: String, endpoint: ServerEndpoint, transport: HTTPTransport, options: Options = Options(),
        retry: RetryPolicy = RetryPolicy(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        modelID = model
        self.options = options
        call = ProviderCall(
            provider: name, model: model, endpoint: endpoint, transport: transport, retry: retry, clock: clock)
    }

    /// The endpoint for a value of `OLLAMA_HOST`: `host`, `host:port`, `:port`, or a URL; by default, port 11434 on
    /// this machine. A wildcard listening address means this machine.
    public static func endpoint(host: String?, idleTimeout: Duration = .seconds(600)) throws -> ServerEndpoint {
        var text = (host ?? "").trimmingCharacters(in: CharacterSet(charactersIn: " \t\r\n\"'"))
        if text.isEmpty { text = defaultBaseURL }
        if text.hasPrefix(":") { text = "127.0.0.1" + text }
        let hasScheme = text.contains("://")
        if !hasScheme { text = "http://" + text }
        guard var parts = URLComponents(string: text) else { return try ServerEndpoint(text, idleTimeout: idleTimeout) }
        if parts.host == "0.0.0.0" || parts.host == "[::]" || parts.host == "" { parts.host = "127.0.0.1" }
        if parts.port == nil, !hasScheme { parts.port = 11434 }
        return try ServerEndpoint(parts.string ?? text, idleTimeout: idleTimeout)
    }

    /// True for a server on this machine.
    public var isLocal: Bool { call.endpoint.isLoopback }
    /// As configured, without user and password.
    public var server: String? { call.endpoint.baseURL.absoluteString }

    /// One chat, streamed.
    public func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        let (name, model, place) = (name, modelID, call.place)
        let context = Self.contextTokens(for: request)
        guard context <= options.longestContext else {
            let limit = options.longestContext
            return AsyncThrowingStream {
                throw LLMError(
                    .contextTooLong,
                    "ollama: the text wants a context of about \(context) tokens, and at most \(limit) "
                        + "are allowed. Send a part of it, or raise the limit if the machine has the memory.",
                    provider: name)
            }
        }
        let promptBytes = request.promptBytes
        return call.stream(
            "/api/chat", body: body(request).sent, streams: true, maxTokens: request.maxTokens, headers: Self.headers,
            reader: {
                OllamaReader(
                    provider: name, model: model, place: place, redaction: $0, context: context,
                    promptBytes: promptBytes)
            })
    }

    /// The installed models.
    public func models() async throws -> [LLMModel] {
        struct List: Decodable {
            struct Model: Decodable {
                let name: String?
                let model: String?
            }
            let models: [Model]?
        }
        return try await (call.get(List.self, "/api/tags", headers: Self.headers).models ?? []).compactMap { entry in
            (entry.model ?? entry.name).map { LLMModel(id: $0, displayName: entry.name) }
        }
    }

    /// Requests the version, then checks whether the model is installed.
    public func checkHealth() async throws -> String {
        struct Version: Decodable { let version: String }
        let version = try await call.get(Version.self, "/api/version", headers: Self.headers).version
        let names = try await models().map(\.id)
        guard names.contains(modelID) || names.contains(modelID + ":latest") else {
            let have = names.isEmpty ? "it has none" : "it has \(names.prefix(5).joined(separator: ", "))"
            throw LLMError(
                .notAvailable,
                "ollama: the server at \(call.place) has no model \(modelID); \(have). "
                    + "Run `ollama pull \(modelID)`, or choose another model.", provider: name)
        }
        return "Ollama \(KeyRedaction(key: nil).clean(version, limit: 40)) with \(modelID)"
    }

    private static let headers: @Sendable (String?) -> [(String, String)] = { key in
        key.map { [("authorization", "Bearer \($0)")] } ?? []
    }

    /// A context that surely fits prompt and answer: a power of two, at least 4,096, because any change makes the
    /// server reload the model. A token of prose is three to four bytes; three are assumed.
    package static func contextTokens(for request: LLMRequest) -> Int {
        let blocks = request.system.count + request.messages.count
        let needed = request.promptBytes / 3 + blocks * 16 + 64 + max(0, request.maxTokens)
        var context = 4096
        while context < needed, context < 1 << 30 { context *= 2 }
        return context
    }

    /// The request body.
    package func body(_ request: LLMRequest) -> JSON {
        let messages = request.turns.map { turn -> JSON in
            ["role": .string(turn.role), "content": .string(turn.text)]
        }
        var settings: [(String, JSON)] = [
            ("num_ctx", .integer(Self.contextTokens(for: request))), ("num_predict", .integer(request.maxTokens)),
        ]
        if let temperature = request.temperature { settings.append(("temperature", .number(temperature))) }
        if !request.stop.isEmpty { settings.append(("stop", .array(request.stop.map(JSON.string)))) }
        var members: [(String, JSON)] = [
            ("model", .string(modelID)), ("messages", .array(messages)), ("stream", true),
            // Newer servers then refuse a prompt that does not fit; older ones ignore the option.
            ("truncate", false), ("options", .object(settings)),
        ]
        if let schema = request.schema, options.sendsSchema { members.append(("format", .verbatim(schema.json))) }
        if let keepAlive = options.keepAlive { members.append(("keep_alive", .string(keepAlive))) }
        return .object(members)
    }
}

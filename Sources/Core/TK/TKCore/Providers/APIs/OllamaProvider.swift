import Foundation
import JSONText

/// Ollama's own API, which alone can set the length of the context: by default Ollama gives 4,096 tokens and cuts what
/// does not fit without a word.
public struct OllamaProvider: LLMProvider {
    /// Ollama's own default.
    public static let defaultBaseURL = "http://127.0.0.1:11434"

    /// Limits and switches.
    public struct Options: Sendable {
        /// The longest context that is asked for, in tokens; it costs the server memory.
        public var longestContext = 32_768
        /// Off for Ollama's cloud models, which take no `format`.
        public var sendsSchema = true
        /// How long the model stays loaded afterwards, e.g. `10m`; nil leaves it to the server.
        public var keepAlive: String?

        /// What suits a model on this machine.
        public init() {}
    }

    /// As in the configuration.
    public let name = "ollama"
    /// The model that is asked for.
    public let modelID: String
    /// Limits and switches.
    public let options: Options
    private let call: ProviderCall

    /// Loading a model and reading a prompt send no byte for minutes: give the endpoint an idle timeout to match
    /// (``endpoint(host:)`` does).
    public init(
        model: String, endpoint: ServerEndpoint, transport: HTTPTransport, options: Options = Options(),
        retry: RetryPolicy = RetryPolicy(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        modelID = model
        self.options = options
        call = ProviderCall(
            provider: name, model: model, endpoint: endpoint, transport: transport, retry: retry, clock: clock)
    }

    /// The endpoint that a value of `OLLAMA_HOST` means: `host`, `host:port`, `:port`, or a URL; without one, port 11434
    /// here. An address on which a server listens everywhere means this machine.
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

    /// The models that have been pulled.
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

    /// Asks for the version, then whether the model is there.
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

    /// The context that prompt and answer surely fit into: a power of two of at least 4,096, because every other value
    /// makes the server load the model again. A token of prose is three to four bytes; here it counts three.
    package static func contextTokens(for request: LLMRequest) -> Int {
        let blocks = request.system.count + request.messages.count
        let needed = request.promptBytes / 3 + blocks * 16 + 64 + max(0, request.maxTokens)
        var context = 4096
        while context < needed, context < 1 << 30 { context *= 2 }
        return context
    }

    /// The request as it is sent.
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
            // Newer servers then refuse what does not fit; older ones do not know it.
            ("truncate", false), ("options", .object(settings)),
        ]
        if let schema = request.schema, options.sendsSchema { members.append(("format", .verbatim(schema.json))) }
        if let keepAlive = options.keepAlive { members.append(("keep_alive", .string(keepAlive))) }
        return .object(members)
    }
}

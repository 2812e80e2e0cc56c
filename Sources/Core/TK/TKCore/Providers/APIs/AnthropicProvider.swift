import Foundation
import Platform

/// Anthropic's Messages API, and compatible servers.
///
/// A request's temperature is not sent: current models refuse it. Text marked `cached` carries `cache_control`; below a
/// length of 512 to 4,096 tokens, depending on the model, the server silently does not cache.
public struct AnthropicProvider: LLMProvider {
    /// The service itself.
    public static let defaultBaseURL = "https://api.anthropic.com"

    /// Differences between Anthropic's server and compatible ones.
    public struct Options: Sendable {
        /// The header `anthropic-version`.
        public var version = "2026-10-21"
        /// Sends `authorization: Bearer` instead of `x-api-key`, for compatible services that require it.
        public var sendsBearer = false
        /// Off for models before Claude 4.5, which refuse `output_config`.
        public var sendsSchema = true
        /// Off for servers that cannot stream.
        public var streams = true

        /// The service's own options.
        public init() {}
    }

    /// As in the configuration.
    public let name = "anthropic"
    /// The requested model.
    public let modelID: String
    /// The endpoint's options.
    public let options: Options
    private let call: ProviderCall

    /// A provider that asks `model` at `endpoint`.
    public init(
        model: String, endpoint: ServerEndpoint, transport: HTTPTransport, options: Options = Options(),
        retry: RetryPolicy = RetryPolicy(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        modelID = model
        self.options = options
        call = ProviderCall(
            provider: name, model: model, endpoint: endpoint, transport: transport, retry: retry, clock: clock)
    }

    /// True for a server on this machine.
    public var isLocal: Bool { call.endpoint.isLoopback }
    /// As configured, without user and password.
    public var server: String? { call.endpoint.baseURL.absoluteString }

    /// One Messages call, streamed.
    public func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        let (name, model, place) = (name, modelID, call.place)
        return call.stream(
            path("/messages"), body: body(request).sent, streams: options.streams, maxTokens: request.maxTokens,
            headers: headers,
            reader: { AnthropicReader(provider: name, model: model, place: place, redaction: $0) })
    }

    /// The service's list, limited to a thousand.
    public func models() async throws -> [LLMModel] {
        struct List: Decodable {
            struct Model: Decodable {
                let id: String
                let display_name: String?
                let max_input_tokens: Int?
                let max_tokens: Int?
            }
            let data: [Model]
        }
        return try await call.get(List.self, path("/models?limit=1000"), headers: headers).data.map {
            LLMModel(
                id: $0.id, displayName: $0.display_name, contextTokens: $0.max_input_tokens,
                maxOutputTokens: $0.max_tokens)
        }
    }

    /// Requests the list of models, which requires a key and costs nothing.
    public func checkHealth() async throws -> String {
        _ = try await call.get(path("/models?limit=1"), headers: headers)
        return "\(call.place) accepts the key"
    }

    /// The base URL may end in `/v1` or not.
    private func path(_ rest: String) -> String {
        call.endpoint.baseURL.path.hasSuffix("/v1") ? rest : "/v1" + rest
    }

    private var headers: @Sendable (String?) -> [(String, String)] {
        { [options] key in
            var headers = [("anthropic-version", options.version)]
            if let key { headers.append(options.sendsBearer ? ("authorization", "Bearer \(key)") : ("x-api-key", key)) }
            return headers
        }
    }

    /// The request body.
    package func body(_ request: LLMRequest) -> JSON {
        // The server accepts four marks; the last ones cover the longest prefixes.
        var marks = 4
        let messages = request.messages.reversed().map { message -> JSON in
            let cached = message.cached && marks > 0
            if cached { marks -= 1 }
            let content: JSON
            if let shared = message.shared, !shared.isEmpty, !message.text.isEmpty, marks > 0 {
                marks -= 1
                content = [Self.block(shared, cached: true), Self.block(message.text, cached: cached)]
            } else {
                content = cached ? [Self.block(message.whole, cached: true)] : .string(message.whole)
            }
            return .object([("role", .string(message.role.rawValue)), ("content", content)])
        }
        let system = request.system.reversed().compactMap { block -> JSON? in
            guard !block.text.isEmpty else { return nil }
            let cached = block.cached && marks > 0
            if cached { marks -= 1 }
            return Self.block(block.text, cached: cached)
        }
        var members: [(String, JSON)] = [
            ("model", .string(modelID)), ("max_tokens", .integer(request.maxTokens)),
        ]
        if !system.isEmpty { members.append(("system", .array(system.reversed()))) }
        members.append(("messages", .array(messages.reversed())))
        if !request.stop.isEmpty { members.append(("stop_sequences", .array(request.stop.map(JSON.string)))) }
        if let schema = request.schema, options.sendsSchema {
            members.append(
                ("output_config", ["format": ["type": "json_schema", "schema": .verbatim(schema.json)]]))
        }
        if options.streams { members.append(("stream", true)) }
        return .object(members)
    }

    private static func block(_ text: String, cached: Bool) -> JSON {
        var members: [(String, JSON)] = [("type", "text"), ("text", .string(text))]
        if cached { members.append(("cache_control", ["type": "ephemeral"])) }
        return .object(members)
    }
}

import Foundation
import Platform

/// OpenAI's Chat Completions API, and the many compatible servers (llama.cpp, vLLM, LM Studio, and services).
public struct OpenAIProvider: LLMProvider {
    /// The service itself.
    public static let defaultBaseURL = "https://api.openai.com/v1"

    /// Differences between OpenAI and compatible servers.
    public struct Options: Sendable {
        /// The name of the answer's limit: OpenAI refuses the old name for newer models, and many servers support no
        /// other.
        public enum LimitName: String, Sendable { case maxCompletionTokens, maxTokens }

        /// Nil: the new name for api.openai.com, the old one elsewhere.
        public var limitName: LimitName?
        /// Nil: yes, except for api.openai.com's reasoning models, which refuse one.
        public var sendsTemperature: Bool?
        /// Off for servers that refuse `response_format`.
        public var sendsSchema = true
        /// Off for servers that refuse `stream_options`; the cost of a call is then unknown.
        public var asksForUsage = true
        /// Off for servers that cannot stream.
        public var streams = true

        /// Defaults for most servers.
        public init() {}
    }

    /// As in the configuration.
    public let name: String
    /// The requested model.
    public let modelID: String
    /// The endpoint's options.
    public let options: Options
    private let call: ProviderCall

    /// `name` is used in messages and in the price table; a compatible service may have its own.
    public init(
        name: String = "openai", model: String, endpoint: ServerEndpoint, transport: HTTPTransport,
        options: Options = Options(), retry: RetryPolicy = RetryPolicy(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.name = name
        modelID = model
        self.options = options
        call = ProviderCall(
            provider: name, model: model, endpoint: endpoint, transport: transport, retry: retry, clock: clock)
    }

    /// True for a server on this machine.
    public var isLocal: Bool { call.endpoint.isLoopback }
    /// As configured, without user and password.
    public var server: String? { call.endpoint.baseURL.absoluteString }

    /// One chat completion, streamed.
    public func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        let (name, model, place) = (name, modelID, call.place)
        return call.stream(
            "/chat/completions", body: body(request).sent, streams: options.streams, maxTokens: request.maxTokens,
            headers: Self.headers,
            reader: { OpenAIReader(provider: name, model: model, place: place, redaction: $0) })
    }

    /// The server's list.
    public func models() async throws -> [LLMModel] {
        struct List: Decodable {
            struct Model: Decodable {
                struct Meta: Decodable { let n_ctx_train: Int? }

                let id: String
                let meta: Meta?
                let max_model_len: Int?
            }
            let data: [Model]
        }
        return try await call.get(List.self, "/models", headers: Self.headers).data.map {
            LLMModel(id: $0.id, contextTokens: $0.max_model_len ?? $0.meta?.n_ctx_train)
        }
    }

    /// A server without a model list is healthy if it answers.
    public func checkHealth() async throws -> String {
        do {
            _ = try await call.get("/models", headers: Self.headers)
        } catch let error as LLMError where error.status == 404 || error.status == 405 {
            return "\(call.place) answers"
        }
        return "\(call.place) accepts the key"
    }

    private static let headers: @Sendable (String?) -> [(String, String)] = { key in
        key.map { [("authorization", "Bearer \($0)")] } ?? []
    }

    private var isOpenAI: Bool { call.endpoint.baseURL.host?.lowercased() == "api.openai.com" }

    /// The request body.
    package func body(_ request: LLMRequest) -> JSON {
        let messages = request.turns.map { turn -> JSON in
            ["role": .string(turn.role), "content": .string(turn.text)]
        }
        var members: [(String, JSON)] = [("model", .string(modelID)), ("messages", .array(messages))]
        switch options.limitName ?? (isOpenAI ? .maxCompletionTokens : .maxTokens) {
        case .maxCompletionTokens: members.append(("max_completion_tokens", .integer(request.maxTokens)))
        case .maxTokens: members.append(("max_tokens", .integer(request.maxTokens)))
        }
        let takesTemperature = !isOpenAI || modelID.hasPrefix("gpt-4") || modelID.hasPrefix("gpt-3")
        if let temperature = request.temperature, options.sendsTemperature ?? takesTemperature {
            members.append(("temperature", .number(temperature)))
        }
        if !request.stop.isEmpty { members.append(("stop", .array(request.stop.map(JSON.string)))) }
        if let schema = request.schema, options.sendsSchema {
            members.append(
                (
                    "response_format",
                    [
                        "type": "json_schema",
                        "json_schema": [
                            "name": .string(schema.name), "strict": true, "schema": .verbatim(schema.json),
                        ],
                    ]
                ))
        }
        if options.streams {
            members.append(("stream", true))
            if options.asksForUsage { members.append(("stream_options", ["include_usage": true])) }
        }
        return .object(members)
    }
}

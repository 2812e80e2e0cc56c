import Foundation
import Platform
import Synchronization
import TKCore
import TestSupport

/// Shared by the tests of advisors: real providers on loopback, the bundle's prompts, and answers as a model writes
/// them.
enum AdvisorFixture {
    static func prompts() throws -> PromptEngine { try PromptEngine.load(try TKResources.locate()) }

    static func role(_ id: String) throws -> Role { try RoleCatalogue.load(try TKResources.locate()).role(id) }

    static func roles(_ ids: String...) throws -> [Role] { try ids.map(role) }

    /// A text as Ollama streams it, in pieces.
    static func answer(_ text: String, reason: String = "stop") -> ScriptedServer.Answer {
        var lines = ""
        var rest = Substring(text)
        while !rest.isEmpty {
            let piece = String(rest.prefix(40))
            rest = rest.dropFirst(40)
            lines += line(["role": "assistant", "content": piece]) + "\n"
        }
        lines +=
            #"{"model":"llama3.2","message":{"role":"assistant","content":""},"done":true,"done_reason":"\#(reason)","#
            + #""prompt_eval_count":300,"eval_count":50}"# + "\n"
        return .stream(lines, type: "application/x-ndjson")
    }

    private static func line(_ message: [String: String]) -> String {
        let object: [String: Any] = ["model": "llama3.2", "message": message, "done": false]
        let data = (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    static func provider(_ server: ScriptedServer) throws -> OllamaProvider { try ProviderWireTests.ollama(server) }

    static func access(
        _ server: ScriptedServer, recorder: (any CallRecorder)? = nil, contextTokens: Int? = nil
    ) throws -> ModelAccess {
        ModelAccess(provider: try provider(server), recorder: recorder, contextTokens: contextTokens)
    }

    static func engine(
        _ server: ScriptedServer, recorder: (any CallRecorder)? = nil, contextTokens: Int? = nil
    ) throws -> SuggestionEngine {
        SuggestionEngine(
            model: try access(server, recorder: recorder, contextTokens: contextTokens), prompts: try prompts())
    }

    /// One suggestion as JSON; nil omits a member.
    static func item(
        _ quote: String, _ replacement: String?, advisor: String? = nil, type: String = "improve",
        category: String = "clarity", priority: String = "2", confidence: String = "0.8", before: String = ""
    ) -> String {
        func text(_ value: String) -> String {
            let data = (try? JSONSerialization.data(withJSONObject: [value])) ?? Data()
            return String(String(decoding: data, as: UTF8.self).dropFirst().dropLast())
        }
        let who = advisor.map { #""advisor_id":\#(text($0)),"# } ?? ""
        return
            #"{\#(who)"quote":\#(text(quote)),"before":\#(text(before)),"replacement":\#(replacement.map(text) ?? "null"),"#
            + #""type":"\#(type)","category":"\#(category)","priority":\#(priority),"confidence":\#(confidence),"#
            + #""reason":"It reads better."}"#
    }

    static func list(_ items: String...) -> String { #"{"suggestions":[\#(items.joined(separator: ","))]}"# }

    static func suggestion(
        _ quote: String, _ replacement: String?, in draft: DraftText, occurrence: Int = 0, advisor: String = "editor",
        rule: String? = nil, category: String = "clarity", priority: Int = 2, confidence: Double = 0.8
    ) throws -> Suggestion {
        var ranges = draft.string.ranges(of: quote)
        guard ranges.indices.contains(occurrence) else { throw TestFailure("“\(quote)” is not there") }
        ranges = [ranges[occurrence]]
        let start = draft.string.unicodeScalars.distance(
            from: draft.string.startIndex, to: ranges[0].lowerBound)
        let anchor = draft.anchor(of: start..<start + quote.unicodeScalars.count)
        return Suggestion(
            id: FindingIdentity.id(
                maker: rule ?? advisor, quote: quote, before: anchor.prefix, after: anchor.suffix),
            advisorID: advisor, rule: rule, type: .improve, category: category, priority: priority,
            confidence: confidence, originalText: quote, suggestedText: replacement ?? "",
            hasReplacement: replacement != nil, reasoning: "", anchor: anchor)
    }
}

/// Routes each request to the provider of the first word found in its instructions, so that parallel calls get their
/// own answers.
struct RoutedProvider: LLMProvider {
    var routes: [(word: String, provider: any LLMProvider)]

    var name: String { routes[0].provider.name }
    var modelID: String { routes[0].provider.modelID }
    var isLocal: Bool { true }

    func stream(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        let text = request.system.map(\.text).joined() + request.messages.map(\.text).joined()
        guard let route = routes.first(where: { text.contains($0.word) }) else {
            return AsyncThrowingStream { throw LLMError(.invalidRequest, "no route for:\n\(text)") }
        }
        return route.provider.stream(request)
    }

    func models() async throws -> [LLMModel] { [] }
    func checkHealth() async throws -> String { "well" }
}

/// Records answers, and replays those it has recorded.
final class NotingRecorder: CallRecorder {
    struct State {
        var planned: [PlannedCall] = []
        var answers: [String: LLMResponse] = [:]
        var failures = 0
        var refusal: LLMError?
    }

    let state = Mutex(State())

    init(refusing error: LLMError? = nil) { state.withLock { $0.refusal = error } }

    var planned: [PlannedCall] { state.withLock(\.planned) }

    func before(_ call: PlannedCall) async throws -> LLMResponse? {
        try state.withLock { state in
            if let refusal = state.refusal { throw refusal }
            state.planned.append(call)
            return state.answers[call.key]
        }
    }

    func after(_ call: PlannedCall, _ outcome: CallOutcome) async throws {
        state.withLock { state in
            switch outcome {
            case .answered(let response): state.answers[call.key] = response
            case .failed: state.failures += 1
            }
        }
    }
}

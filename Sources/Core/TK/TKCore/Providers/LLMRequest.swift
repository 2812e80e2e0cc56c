import Foundation

/// What is asked of a language model, in the terms that all providers share.
///
/// A provider leaves out what its server does not take: Anthropic refuses a temperature, some servers know no schema.
public struct LLMRequest: Sendable, Hashable {
    /// A part of the instructions. `cached` asks the server to keep everything up to here for the next call, where it
    /// can (Anthropic, at most four marks; the others ignore it).
    public struct SystemBlock: Sendable, Hashable {
        /// What the model reads.
        public var text: String
        /// Whether everything up to here is to be kept.
        public var cached: Bool

        /// A block of instructions.
        public init(_ text: String, cached: Bool = false) {
            self.text = text
            self.cached = cached
        }
    }

    /// One turn of the conversation.
    public struct Message: Sendable, Hashable {
        /// Who speaks.
        public enum Role: String, Sendable, Hashable, Codable { case user, assistant }

        /// Who says it.
        public var role: Role
        /// What is said.
        public var text: String
        /// Whether everything up to here is to be kept.
        public var cached: Bool
        /// Stands in front of ``text``, the same in several calls; everything up to its end is to be kept for the others.
        public var shared: String?

        /// One turn.
        public init(_ role: Role, _ text: String, cached: Bool = false, shared: String? = nil) {
            self.role = role
            self.text = text
            self.cached = cached
            self.shared = shared
        }

        /// What the user says.
        public static func user(_ text: String, cached: Bool = false, shared: String? = nil) -> Message {
            Message(.user, text, cached: cached, shared: shared)
        }

        /// What the model said before.
        public static func assistant(_ text: String) -> Message { Message(.assistant, text) }

        /// All of it in one piece, for servers that have no marks.
        public var whole: String { shared.map { $0 + "\n\n" + text } ?? text }
    }

    /// The instructions, in their order.
    public var system: [SystemBlock]
    /// The conversation, which ends with the user.
    public var messages: [Message]
    /// The longest answer, in tokens.
    public var maxTokens: Int
    /// How freely the model chooses its words; nil leaves it to the server.
    public var temperature: Double?
    /// The shape of the answer. Servers exist that take it and answer with prose: read the text by ``JSONSalvage``.
    public var schema: LLMSchema?
    /// Texts at which the model stops.
    public var stop: [String]

    /// A request in full.
    public init(
        system: [SystemBlock] = [], messages: [Message], maxTokens: Int = 4096, temperature: Double? = nil,
        schema: LLMSchema? = nil, stop: [String] = []
    ) {
        self.system = system
        self.messages = messages
        self.maxTokens = maxTokens
        self.temperature = temperature
        self.schema = schema
        self.stop = stop
    }

    /// The plainest form: one system prompt, which is marked for the cache, and one message.
    public init(
        system: String, user: String, temperature: Double? = nil, maxTokens: Int = 4096, schema: LLMSchema? = nil
    ) {
        self.init(
            system: system.isEmpty ? [] : [SystemBlock(system, cached: true)], messages: [.user(user)],
            maxTokens: maxTokens, temperature: temperature, schema: schema)
    }

    /// Role and text of every turn, the instructions first as one: what servers take that have no place of their own for
    /// them.
    var turns: [(role: String, text: String)] {
        let instructions = system.map(\.text).filter { !$0.isEmpty }.joined(separator: "\n\n")
        return (instructions.isEmpty ? [] : [("system", instructions)])
            + messages.map { ($0.role.rawValue, $0.whole) }
    }

    /// UTF-8 bytes of everything the model reads.
    public var promptBytes: Int {
        system.reduce(0) { $0 + $1.text.utf8.count } + messages.reduce(0) { $0 + $1.whole.utf8.count }
            + (schema?.json.utf8.count ?? 0)
    }
}

/// A JSON Schema for an answer. Its text is sent as it stands, because models fill the properties in their order.
public struct LLMSchema: Sendable, Hashable {
    /// At most 64 of `[A-Za-z0-9_-]`, as OpenAI wants it.
    public let name: String
    /// Its text.
    public let json: String

    /// Throws ``LLMError`` with kind `invalidRequest` if `json` is not one JSON object, or the name has other characters.
    public init(name: String, json: String) throws {
        let allowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard allowed, (1...64).contains(name.utf8.count) else {
            throw LLMError(
                .invalidRequest, "a schema's name has 1 to 64 of A-Z, a-z, 0-9, _ and -; this one is “\(name)”")
        }
        let value: Any
        do {
            value = try JSONSerialization.jsonObject(with: Data(json.utf8))
        } catch {
            throw LLMError(.invalidRequest, "the schema \(name) is not JSON: \(error.localizedDescription)")
        }
        guard value is [String: Any] else {
            throw LLMError(.invalidRequest, "the schema \(name) is not a JSON object")
        }
        self.name = name
        self.json = json
    }
}

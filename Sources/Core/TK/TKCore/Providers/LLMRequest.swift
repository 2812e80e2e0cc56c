import Platform

/// A request to a language model, in terms common to all providers.
///
/// A provider omits fields that its server does not accept: Anthropic refuses a temperature, some servers do not
/// support schemas.
public struct LLMRequest: Sendable, Hashable {
    /// A part of the instructions. `cached` asks the server to cache everything up to here for the next call, if it can
    /// (Anthropic, at most four marks; the others ignore it).
    public struct SystemBlock: Sendable, Hashable {
        /// The text for the model.
        public var text: String
        /// Whether to cache everything up to here.
        public var cached: Bool

        /// A block of instructions.
        public init(_ text: String, cached: Bool = false) {
            self.text = text
            self.cached = cached
        }
    }

    /// One turn of the conversation.
    public struct Message: Sendable, Hashable {
        /// The speaker.
        public enum Role: String, Sendable, Hashable, Codable { case user, assistant }

        /// The speaker.
        public var role: Role
        /// The text.
        public var text: String
        /// Whether to cache everything up to here.
        public var cached: Bool
        /// A prefix before ``text``, shared by several calls; everything up to its end is cached for the others.
        public var shared: String?

        /// One turn.
        public init(_ role: Role, _ text: String, cached: Bool = false, shared: String? = nil) {
            self.role = role
            self.text = text
            self.cached = cached
            self.shared = shared
        }

        /// A turn of the user.
        public static func user(_ text: String, cached: Bool = false, shared: String? = nil) -> Message {
            Message(.user, text, cached: cached, shared: shared)
        }

        /// An earlier turn of the model.
        public static func assistant(_ text: String) -> Message { Message(.assistant, text) }

        /// All of it in one piece, for servers without cache marks.
        public var whole: String { shared.map { $0 + "\n\n" + text } ?? text }
    }

    /// The instructions, in order.
    public var system: [SystemBlock]
    /// The conversation, ending with the user.
    public var messages: [Message]
    /// The maximum answer, in tokens.
    public var maxTokens: Int
    /// The sampling temperature; nil for the server's default.
    public var temperature: Double?
    /// The schema of the answer. Some servers accept it and answer with prose nonetheless: parse the text with
    /// ``JSONSalvage``.
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

    /// The simplest form: one system prompt, marked for the cache, and one message.
    public init(
        system: String, user: String, temperature: Double? = nil, maxTokens: Int = 4096, schema: LLMSchema? = nil
    ) {
        self.init(
            system: system.isEmpty ? [] : [SystemBlock(system, cached: true)], messages: [.user(user)],
            maxTokens: maxTokens, temperature: temperature, schema: schema)
    }

    /// Role and text of every turn, with the instructions as the first one, for servers without a separate field for
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

/// A JSON Schema for an answer. Sent verbatim, because models fill the properties in their order.
public struct LLMSchema: Sendable, Hashable {
    /// At most 64 of `[A-Za-z0-9_-]`, as OpenAI requires.
    public let name: String
    /// Its text.
    public let json: String

    /// Throws ``LLMError`` with kind `invalidRequest` if `json` is not a single JSON object, or the name has other
    /// characters.
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
        let value: JSON
        do throws(JSON.Mistake) {
            value = try JSON(parsing: Array(json.utf8))
        } catch {
            throw LLMError(.invalidRequest, "the schema \(name) is not JSON: \(error.message)")
        }
        guard case .object = value else {
            throw LLMError(.invalidRequest, "the schema \(name) is not a JSON object")
        }
        self.name = name
        self.json = json
    }
}

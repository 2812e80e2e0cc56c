import ControlSocket
import Foundation
import Platform

/// A request to the agent: a value that holds its arguments, does the work, and formats the answer. The command line
/// creates it, the control socket transports it, and the agent runs it.
package protocol Command: Codable, Sendable {
    associatedtype Answer: Codable & Sendable

    /// On the wire and in messages.
    static var name: String { get }
    /// Whether it is read-only: it is cancelled when its caller disconnects, and triggers no change notification.
    static var onlyLooks: Bool { get }
    /// Whether it needs a running agent. Otherwise the command does it itself if no agent is running.
    static var needsAgent: Bool { get }
    /// Timeout in seconds for a healthy agent that has started; nil if it may take as long as the work does.
    static var timeout: Int? { get }

    /// Performs the command.
    ///
    /// - Throws: `Fault`; `.usage` if the arguments name something that does not exist.
    func run(in agent: AgentContext) async throws -> Answer

    /// The answer for the terminal. As JSON, on the socket and on the command line, it is encoded as is, with ISO 8601
    /// dates.
    func lines(_ answer: Answer) -> [String]
}

extension Command {
    package static var onlyLooks: Bool { false }
    package static var needsAgent: Bool { false }
    package static var timeout: Int? { nil }
}

/// A request with more than a one-line answer: it has the connection to itself until it ends.
protocol Conversation: Codable, Sendable {
    static var name: String { get }

    /// - Throws: `Fault` if the peer disconnects.
    func hold(on connection: ControlConnection, with agent: Agent) async throws
}

/// A request on the wire, as one line of JSON: the name and the arguments.
struct ControlRequest: Encodable {
    /// Decodes only the name.
    struct Name: Codable { let command: String }

    private let name: Name
    private let arguments: any Encodable

    init<C: Command>(_ command: C) { (name, arguments) = (Name(command: C.name), command) }

    init<C: Conversation>(_ conversation: C) { (name, arguments) = (Name(command: C.name), conversation) }

    func encode(to encoder: any Encoder) throws {
        try name.encode(to: encoder)
        try arguments.encode(to: encoder)
    }
}

/// The reply, as one line of JSON: an answer or an error.
enum ControlReply<Answer: Codable & Sendable>: Codable, Sendable {
    case answer(Answer)
    case refusal(ControlRefusal)

    private enum CodingKeys: CodingKey {
        case answer, problem
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self =
            container.contains(.problem)
            ? .refusal(try ControlRefusal(from: decoder)) : .answer(try container.decode(Answer.self, forKey: .answer))
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .answer(let answer):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(answer, forKey: .answer)
        case .refusal(let refusal): try refusal.encode(to: encoder)
        }
    }

    /// - Throws: `Fault` with the agent's error.
    func get() throws -> Answer {
        switch self {
        case .answer(let answer): return answer
        case .refusal(let refusal): throw refusal.fault
        }
    }
}

/// Why there is no answer, safe to print.
struct ControlRefusal: Codable, Sendable {
    let problem: String
    let kind: Fault.Kind

    init(_ error: any Error) {
        problem = ShownText.lines(explain(error))
        kind = (error as? Fault)?.kind ?? .failed
    }

    var fault: Fault { Fault(kind, problem) }
}

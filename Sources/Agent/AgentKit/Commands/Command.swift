import Foundation
import JSONText
import Platform

/// What somebody asks of the agent: a value that holds its arguments, does the work, and says how the answer is shown. The
/// command line makes one, the control socket carries it, and the agent runs it.
package protocol Command: Codable, Sendable {
    associatedtype Answer: Codable & Sendable

    /// On the wire, and in messages about it.
    static var name: String { get }
    /// Whether it changes nothing: then it is given up once nobody waits for the answer, and nobody has to hear of it.
    static var onlyLooks: Bool { get }
    /// Whether only a running agent can do it. The others are done by the command itself where none runs.
    static var needsAgent: Bool { get }
    /// Seconds in which an agent that works, and has started, has answered; nil where it may take as long as the work does.
    static var patience: Int? { get }

    /// Does it.
    ///
    /// - Throws: `Fault`; `.usage` where the arguments name nothing that there is.
    func run(in agent: AgentContext) async throws -> Answer

    /// The answer for a terminal. As JSON it is what it encodes to, dates by ISO 8601, on the socket and on the command line.
    func lines(_ answer: Answer) -> [String]
}

extension Command {
    package static var onlyLooks: Bool { false }
    package static var needsAgent: Bool { false }
    package static var patience: Int? { nil }
}

/// What is not answered with one line: the connection is its own until it ends.
protocol Conversation: Codable, Sendable {
    static var name: String { get }

    /// - Throws: `Fault` where the other side goes away.
    func hold(on connection: ControlConnection, with agent: Agent) async throws
}

/// A request as it goes over the socket, one line of JSON: the arguments, and beside them the name.
struct ControlRequest: Encodable {
    /// What a request is read by.
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

/// The answer, one line of JSON, or what went wrong.
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

    /// - Throws: `Fault` with what the agent complained of.
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

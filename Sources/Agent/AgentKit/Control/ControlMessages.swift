import Foundation
import JSONText
import Platform

/// What a command asks of the daemon: one line of JSON over the control socket, answered by one line.
package struct ControlRequest: Codable, Sendable, Equatable {
    package enum Command: String, Codable, Sendable, CaseIterable {
        case status, health, metrics, pause, resume, reload, retry, undo, reprocess, rebuild, accept, wait, vault,
            examine, confirm, decline, hold, acknowledge
        case quarantineRestore = "quarantine-restore"
        case quarantineDrop = "quarantine-drop"
        case blocksRestore = "blocks-restore"
        case outboxRetry = "outbox-retry"
        case outboxDrop = "outbox-drop"
        case counterSet = "counter-set"
    }

    package var command: Command
    /// A job's, an event's or a quarantined file's id, or the beginning of one; a block's anchor.
    package var id: String?
    package var rule: String?
    package var place: String?
    /// An absolute path.
    package var path: BytePath?
    /// Of ``Command/vault``.
    package var vault: VaultRequest?
    /// Of ``Command/counterSet``.
    package var counter: CounterSetting?

    package init(
        _ command: Command, id: String? = nil, rule: String? = nil, place: String? = nil, path: BytePath? = nil,
        vault: VaultRequest? = nil, counter: CounterSetting? = nil
    ) {
        self.command = command
        self.id = id
        self.rule = rule
        self.place = place
        self.path = path
        self.vault = vault
        self.counter = counter
    }
}

extension ControlRequest.Command {
    /// Whether it only looks: then nothing is left half done where it is given up, and nobody has to hear of it.
    var onlyLooks: Bool {
        switch self {
        case .status, .health, .metrics, .examine, .wait: true
        case .pause, .resume, .reload, .retry, .undo, .reprocess, .rebuild, .accept, .vault, .confirm, .decline, .hold,
            .acknowledge, .quarantineRestore, .quarantineDrop, .blocksRestore, .outboxRetry, .outboxDrop, .counterSet:
            false
        }
    }

    /// Seconds in which an agent that works, and has started, has answered; nil where it may take as long as what is asked
    /// for does.
    var patience: Int? {
        switch self {
        case .status, .health, .metrics: 30
        default: nil
        }
    }
}

extension ControlRequest {
    /// - Throws: `Fault` (`.usage`) that says what is wrong with a line that is no request.
    init(line: Data) throws {
        do {
            self = try JSONDecoder().decode(ControlRequest.self, from: line)
        } catch is DecodingError {
            throw Fault(.usage, Self.complaint(line))
        }
    }

    /// Only what says whether it is known.
    private struct Name: Decodable { let command: String }

    private static func complaint(_ line: Data) -> String {
        let known = Command.allCases.map(\.rawValue)
        guard let name = try? JSONDecoder().decode(Name.self, from: line).command else {
            return "the request is not understood: it has to be one line of JSON such as {\"command\":\"status\"}"
        }
        if known.contains(name) {
            return
                "the request \(name) is not understood: one of its values is missing or of another kind than it must be"
        }
        return
            "the agent knows no request of that name; it knows \(known.joined(separator: ", ")). If a newer `steward` "
            + "asked, restart the agent, so that it is of the same version"
    }
}

/// The answer: lines for a person and the same as JSON, or what went wrong; all of it safe to print.
package struct ControlReply: Codable, Sendable, Equatable {
    package var lines: [String]
    /// A JSON document.
    package var json: String?
    package var problem: String?
    /// Of `problem`: usage, or anything else.
    package var kind: Fault.Kind?

    package init(_ lines: [String], json: String? = nil) {
        self.lines = lines.map { ShownText.line($0) }
        self.json = json
    }

    package init(_ value: some Encodable, lines: [String]) throws {
        self.lines = lines.map { ShownText.line($0) }
        json = try JSONText.shown(value)
    }

    package init(failure: any Error) {
        lines = []
        problem = ShownText.lines(explain(failure))
        kind = (failure as? Fault)?.kind ?? .failed
    }
}

import Foundation
import Platform

/// What a command asks of the daemon: one line of JSON over the control socket, answered by one line.
package struct ControlRequest: Codable, Sendable, Equatable {
    package enum Command: String, Codable, Sendable, CaseIterable {
        case status, pause, resume, reload, retry, undo, reprocess, rebuild, accept, wait, vault
        case quarantineRestore = "quarantine-restore"
        case quarantineDrop = "quarantine-drop"
    }

    package var command: Command
    /// A job's or a quarantined file's id, or the beginning of one.
    package var id: String?
    package var rule: String?
    package var place: String?
    /// An absolute path.
    package var path: BytePath?
    /// Of ``Command/vault``.
    package var vault: VaultRequest?

    package init(
        _ command: Command, id: String? = nil, rule: String? = nil, place: String? = nil, path: BytePath? = nil,
        vault: VaultRequest? = nil
    ) {
        self.command = command
        self.id = id
        self.rule = rule
        self.place = place
        self.path = path
        self.vault = vault
    }
}

/// The answer: lines for a person and the same as JSON, or what went wrong.
package struct ControlReply: Codable, Sendable, Equatable {
    package var lines: [String]
    /// A JSON document.
    package var json: String?
    package var problem: String?
    /// Of `problem`: usage, or anything else.
    package var kind: Fault.Kind?

    package init(_ lines: [String], json: String? = nil) {
        self.lines = lines
        self.json = json
    }

    package init(_ value: some Encodable, lines: [String]) throws {
        self.lines = lines
        json = try OutputJSON.encode(value)
    }

    package init(failure: any Error) {
        lines = []
        problem = explain(failure)
        kind = (failure as? Fault)?.kind ?? .failed
    }
}

/// JSON as commands print it: for programs, but readable.
package enum OutputJSON {
    package static func encode(_ value: some Encodable) throws -> String { try encode(value, [.prettyPrinted]) }

    /// On one line, for streams of documents.
    package static func line(_ value: some Encodable) throws -> String { try encode(value, []) }

    private static func encode(_ value: some Encodable, _ format: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = format.union([.sortedKeys, .withoutEscapingSlashes])
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

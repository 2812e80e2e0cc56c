import Foundation
import Glibc
import OwnFiles
import Platform

/// A JSON value as a command printed it.
package struct Answer: Sendable, Equatable {
    package indirect enum Value: Sendable, Equatable {
        case object([String: Answer])
        case array([Answer])
        case text(String)
        case number(Double)
        case boolean(Bool)
        case null
    }

    package let value: Value

    /// - Throws: if `text` is not a single JSON document.
    package init(parsing text: String) throws {
        do {
            value = Self.value(of: try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
        } catch {
            throw TestFailure("this is not JSON (\(error)):\n\(text)")
        }
    }

    private init(_ value: Value) { self.value = value }

    private static func value(of any: Any) -> Value {
        switch any {
        case let object as [String: Any]: .object(object.mapValues { Answer(value(of: $0)) })
        case let array as [Any]: .array(array.map { Answer(value(of: $0)) })
        case let text as String: .text(text)
        case let number as NSNumber:
            String(cString: number.objCType) == "c" ? .boolean(number.boolValue) : .number(number.doubleValue)
        default: .null
        }
    }

    package subscript(name: String) -> Answer {
        if case .object(let members) = value { members[name] ?? Answer(.null) } else { Answer(.null) }
    }

    package var items: [Answer] { if case .array(let items) = value { items } else { [] } }

    package var keys: Set<String> { if case .object(let members) = value { Set(members.keys) } else { [] } }

    /// Empty unless the value is a text.
    package var text: String { if case .text(let text) = value { text } else { "" } }

    package var number: Double? { if case .number(let number) = value { number } else { nil } }

    package var isTrue: Bool { value == .boolean(true) }
}

extension AgentFixture {
    /// Writes the rules of a test that needs only one file.
    package func rule(_ yaml: String) throws { try rule("10-test.yaml", yaml) }

    /// What the running agent answers to a request of this name, as `{"answer":…}`; nil if none runs, it refuses, or
    /// takes a minute. For what is asked in every other line: starting a program each time takes longer than the answer.
    ///
    /// - Parameter arguments: the request's other members, as JSON.
    package func ask(_ request: String, _ arguments: [(name: String, value: String)] = []) -> String? {
        guard let caller = try? SocketCaller(control, timeout: 60) else { return nil }
        let members = arguments.map { ", \"\($0.name)\": \($0.value)" }.joined()
        caller.say(Array("{\"command\": \"\(request)\"\(members)}\n".utf8))
        let reply = caller.answer()
        return reply.hasPrefix("{\"answer\":") ? reply : nil
    }

    private func answer(_ request: String, _ arguments: [(name: String, value: String)] = []) throws -> Answer? {
        try ask(request, arguments).map { try Answer(parsing: $0)["answer"] }
    }

    /// The agent's control socket.
    var control: BytePath { BytePath(environment["STEWARD_RUNTIME"] ?? "").appending("control.sock") }

    /// The output of a command with `--json`.
    package func json(_ arguments: [String], status: Int32 = 0) throws -> Answer {
        if arguments == ["status"], status == 0, let answer = try answer("status") { return answer }
        let result = try run(arguments + ["--json"])
        guard result.status == status else {
            throw TestFailure("\(arguments) ended with \(result.status):\n\(result.output)\n\(result.errors)")
        }
        return try Answer(parsing: result.output)
    }

    /// All lines of `steward log`, oldest first.
    package func history() throws -> [Answer] {
        if let answer = try answer("log", [("limit", "10000"), ("after", "0")]) { return answer.items }
        return try run(["log", "--json", "--lines", "10000"]).check().output.split(separator: "\n").map {
            try Answer(parsing: String($0))
        }
    }

    /// The lines of the agent's log that contain `text`, if the configuration has `log: { format: json }`.
    package func logged(_ text: String) throws -> [Answer] {
        try log().split(separator: "\n").filter { $0.contains(text) }.map { try Answer(parsing: String($0)) }
    }

    /// The jobs of a file of a place, newest first, as shown by `steward explain`.
    package func past(_ relative: BytePath) throws -> [Answer] {
        let name = String(decoding: try JSONEncoder().encode(path(relative)), as: UTF8.self)
        return try (answer("explain", [("path", name)]) ?? json(["explain", path(relative).text]))["past"].items
    }

    /// How often `line` occurs in the notes.
    package func count(_ line: String) throws -> Int { try notes().components(separatedBy: line).count - 1 }

    /// Adds a place `~/Steward/NAME` to the configuration written by `init`.
    package func addPlace(_ name: String, kind: String = "folder") throws {
        try Durable.makeDirectory(path(BytePath(name)))
        let file: BytePath = ".config/steward/steward.yaml"
        let text = try home.read(file)
        let line = "\n  \(name): { kind: \(kind), path: ~/Steward/\(name) }\n"
        guard let range = text.range(of: "\nplaces:\n") else { throw TestFailure("no places in:\n\(text)") }
        try home.write(file, text.replacingCharacters(in: range, with: "\nplaces:" + line))
    }

    /// Temporary files of Steward anywhere in the places, which it must not leave behind.
    package func leftovers() throws -> [String] {
        try places.flatMap { try files(BytePath($0)) }.map(\.nameText).filter { $0.hasPrefix(".steward-") }
    }

    /// The contents of the files in the trash of this home.
    package func trash() throws -> [String] {
        let folder = home.path.appending(".local/share/Trash/files")
        guard try FileStatus.of(folder) != nil else { return [] }
        return try listDirectory(folder).map {
            String(decoding: try Descriptor(folder.appending(name: $0.name)).readAll(), as: UTF8.self)
        }
    }

    /// Moves a finished file with its attributes into a place, as a download or a file manager does.
    package func moveIn(_ relative: BytePath, _ bytes: [UInt8], _ prepare: (BytePath) throws -> Void = { _ in }) throws
    {
        let staged = try home.write("staged", bytes)
        try prepare(staged)
        try Durable.makeDirectory(path(relative).parent)
        guard rename(staged.text, path(relative).text) == 0 else { throw Fault.system("move in", path(relative)) }
    }
}

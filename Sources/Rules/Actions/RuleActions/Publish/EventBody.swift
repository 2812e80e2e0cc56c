import Foundation
import Platform
import Rules

/// The default JSON of an event without a `payload`: the step's values, with the file by reference. It never contains
/// file content.
enum EventBody {
    /// The file's values that are included, and computed for it.
    static let ofFile: Set<String> = [
        "file.name", "file.path", "file.place", "file.size", "file.hash", "file.kind", "file.mime", "file.modified",
        "file.oldName",
    ]

    /// Values left out unless a template names them: the file's content, or derived from other values.
    private static let omitted = Set(BuiltInValues.all.map(\.name)).subtracting(ofFile).subtracting(ofJob)
        .subtracting(BuiltInValues.block.map(\.name))

    private static let ofJob: Set<String> = ["rule", "arrived", "host"]

    /// Values of earlier steps that hold file content or a program's output.
    private static let contents: Set<String> = ["capture.text", "capture.sentence", "run.output"]

    /// - Parameters:
    ///   - id: the step's, by which the receiver recognizes the event.
    ///   - event: the event's type.
    ///   - values: of the step, including those of earlier steps.
    /// - Returns: a JSON object sorted by name; `file.name` becomes `name` in `file`.
    static func json(id: String, event: String, values: Values) -> String {
        let told = values.filter {
            !omitted.contains($0.key) && !contents.contains($0.key) && !$0.key.hasPrefix(BuiltInValues.frontPrefix)
        }
        var root = Branch()
        for (name, value) in told.sorted(by: { $0.key < $1.key }) where name != "id" && name != "event" {
            if name == "file.oldName", value == .text("") { continue }
            root.insert(json(value), at: name.split(separator: ".").map(String.init)[...])
        }
        return JSON.object([("id", .string(id)), ("event", .string(event))] + root.members).sent
    }

    private static func json(_ value: Value) -> JSON {
        switch value {
        case .text(let text): .string(text)
        case .integer(let number): .integer(number)
        case .boolean(let truth): .bool(truth)
        case .date(let time): .string(time.description)
        case .local(let local): .string(Timestamp(whole: local.secondsSince1970).description)
        case .list(let values): .array(values.map(json))
        }
    }

    /// An object under construction.
    private struct Branch {
        private var leaves: [String: JSON] = [:]
        private var branches: [String: Branch] = [:]

        /// Sorted by name. If a name is both a value and an object (`a` and `a.b`), the object's members keep their
        /// full names.
        var members: [(String, JSON)] {
            var all = leaves.map { ($0.key, $0.value) }
            for (name, branch) in branches {
                if leaves[name] == nil {
                    all.append((name, .object(branch.members)))
                } else {
                    all += branch.members.map { ("\(name).\($0.0)", $0.1) }
                }
            }
            return all.sorted { $0.0 < $1.0 }
        }

        mutating func insert(_ value: JSON, at names: ArraySlice<String>) {
            guard let first = names.first else { return }
            if names.count == 1 {
                leaves[first] = value
            } else {
                branches[first, default: Branch()].insert(value, at: names.dropFirst())
            }
        }
    }
}

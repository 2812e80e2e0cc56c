import Foundation
import JSONText
import Platform
import Rules

/// The JSON that is published where a rule gives no `payload`: what the step knows, with the file by reference. What a
/// file holds is never in it.
enum EventBody {
    /// The values of the file that stand in it; each is found out for it.
    static let ofFile: Set<String> = [
        "file.name", "file.path", "file.place", "file.size", "file.hash", "file.kind", "file.mime", "file.modified",
        "file.oldName",
    ]

    /// Those that rules can name and that are not in it unless a template names them: they are the file's content, or
    /// follow from what is there.
    private static let omitted = Set(BuiltInValues.all.map(\.name)).subtracting(ofFile).subtracting(ofJob)
        .subtracting(BuiltInValues.block.map(\.name))

    private static let ofJob: Set<String> = ["rule", "arrived", "host"]

    /// What the steps before have said that is what a file holds, or a program has made of it.
    private static let contents: Set<String> = ["capture.text", "capture.sentence", "run.output"]

    /// - Parameters:
    ///   - id: the step's, by which the receiver knows the event again.
    ///   - event: what kind of event it is, by name.
    ///   - values: what the step knows; what steps before it have said is among them.
    /// - Returns: an object, `file.name` being `name` in `file`, in the order of the names.
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

    /// An object in the making.
    private struct Branch {
        private var leaves: [String: JSON] = [:]
        private var branches: [String: Branch] = [:]

        /// Sorted by name. Where one name is a value and an object (`a` and `a.b`), the object's members keep their whole
        /// names.
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

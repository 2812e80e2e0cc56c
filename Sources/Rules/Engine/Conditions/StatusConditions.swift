import Glibc
import Platform

/// Conditions on a file's status and attributes.
extension ConditionSpec {
    static let statusConditions: [ConditionSpec] = [
        ConditionSpec(
            "size",
            "The size: `> 0`, `<= 2 GiB`. A list is a range: all must hold. "
                + "Units: B, KB, MB, GB, TB, KiB, MiB, GiB, TiB.",
            example: "size: [\"> 1 KiB\", \"<= 2 GiB\"]", schema: comparisons
        ) { node, context in
            guard let wanted = context.comparisons(node, "size", such: "<= 2 GiB", bound: Quantity.bytes) else {
                return nil
            }
            return Loaded { facts, _ in
                guard let size = facts.status?.size else { return Observation(false, seen: "the file is gone") }
                return Observation(wanted.allSatisfy { $0.holds(size) }, seen: "\(size) bytes")
            }
        },
        ConditionSpec(
            "owner", "The user who owns the file, by name or number. A list: one must match.",
            example: "owner: scanner",
            schema: [
                "oneOf": [
                    ["type": ["string", "integer"]],
                    ["type": "array", "minItems": 1, "items": ["type": ["string", "integer"]]],
                ]
            ], takes: .both
        ) { node, context in
            guard let names = context.texts(node, "owner") else { return nil }
            var wanted: Set<uid_t> = []
            for (item, name) in zip(context.reader.oneOrMore(node), names) {
                if let user = uid_t(name) ?? user(named: name) {
                    wanted.insert(user)
                } else {
                    let message = "this machine has no user `\(printable(name))`, so nothing is theirs"
                    context.reader.report(item.position, message, severity: .warning)
                }
            }
            return Loaded(attributes: [.owner]) { [wanted] facts, _ in
                guard let owner = facts.status?.owner else { return Observation(false, seen: "the file is gone") }
                return Observation(wanted.contains(owner), seen: "user \(owner)")
            }
        },
        ConditionSpec(
            "links",
            "How many names the file has (hard links): `1`, `> 1`. Who keeps another name can still change what the file "
                + "holds. A list is a range.",
            example: "links: \"1\"", schema: comparisons
        ) { node, context in
            guard let wanted = context.comparisons(node, "links", such: "> 1", bound: { Int($0) }) else { return nil }
            return Loaded(attributes: [.links]) { facts, _ in
                guard let links = facts.status?.links else { return Observation(false, seen: "the file is gone") }
                return Observation(wanted.allSatisfy { $0.holds(links) }, seen: "\(links)")
            }
        },
        ConditionSpec(
            "xattr",
            "Extended attributes, as `front-matter`: names with a value, a glob, a list of them, "
                + "`present` or `absent`. All must hold.",
            example: "xattr: { user.xdg.tags: \"*later*\" }", schema: presence
        ) { node, context in
            guard let wanted = context.expectations(node, "xattr") else { return nil }
            return Loaded(attributes: Set(wanted.map { .extended($0.key) })) { facts, _ in
                var seen: [String] = []
                var held = true
                for (name, expectation) in wanted {
                    let found = try facts.attribute(name).map { String(decoding: $0, as: UTF8.self) }
                    held = held && expectation.holds(found.map { [$0] })
                    seen.append("\(printable(name)): \(found.map(printable) ?? "absent")")
                }
                return Observation(held, seen: seen.joined(separator: "; "))
            }
        },
    ]

    private static func user(named name: String) -> uid_t? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_uid
    }
}

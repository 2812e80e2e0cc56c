import Glibc
import Platform

/// Conditions on attributes that can change independently of the content. A change of such an attribute triggers the
/// rules that look at it.
extension ConditionSpec {
    static let attributeConditions: [ConditionSpec] = [
        ConditionSpec(
            "group", "The group of the file, by name or number. A list: one must match.", example: "group: users",
            schema: oneOrMoreNames, takes: .both
        ) { node, context in
            guard let names = context.texts(node, "group") else { return nil }
            var wanted: Set<gid_t> = []
            for (item, name) in zip(context.reader.oneOrMore(node), names) {
                if let group = gid_t(name) ?? group(named: name) {
                    wanted.insert(group)
                } else {
                    let message = "this machine has no group `\(printable(name))`, so nothing is theirs"
                    context.reader.report(item.position, message, severity: .warning)
                }
            }
            return Loaded(attributes: [.group]) { [wanted] facts, _ in
                guard let group = facts.status?.group else { return Observation(false, seen: "the file is gone") }
                return Observation(wanted.contains(group), seen: "group \(group)")
            }
        },
        ConditionSpec(
            "mode",
            "The permission bits, in octal: `0644` exactly these, `-0111` all of these, `/0022` any of these; or `executable` "
                + "(somebody may run it), `private` (nobody but its owner may do anything). A list: one must match.",
            example: "mode: executable", schema: oneOrMoreNames, takes: .both
        ) { node, context in
            guard let texts = context.texts(node, "mode") else { return nil }
            let tests = zip(context.reader.oneOrMore(node), texts).map { item, text -> ModeTest? in
                if let test = ModeTest(text) { return test }
                context.reader.report(
                    item.position,
                    "`mode` must be permission bits in octal such as `0644`, not \(context.reader.shown(item))",
                    hint: "`-0111` means all of these bits, `/0111` any of them")
                return nil
            }
            let good = tests.compactMap(\.self)
            guard good.count == tests.count else { return nil }
            return Loaded(attributes: [.mode]) { facts, _ in
                guard let mode = facts.status?.mode else { return Observation(false, seen: "the file is gone") }
                let octal = String(mode, radix: 8)
                let seen = String(repeating: "0", count: max(0, 4 - octal.count)) + octal
                return Observation(good.contains { $0.holds(mode) }, seen: seen)
            }
        },
        ConditionSpec(
            "downloaded-from",
            "Where the file was downloaded from, as browsers and download programs note it (`user.xdg.origin.url` and "
                + "`user.xdg.referrer.url`), by globs: one without `/` is compared with the host, one with it with the whole "
                + "address. A list: one must match.",
            example: "downloaded-from: [\"*.example.org\", \"https://example.com/invoices/**\"]",
            schema: oneOrMoreTexts,
            provides: [
                ValueSpec(
                    "download.url", "The address that matched: where the file came from, or the page that led there."),
                ValueSpec("download.host", "The host of that address."),
            ]
        ) { node, context in
            guard let globs = context.globs(node, "downloaded-from") else { return nil }
            return Loaded(attributes: Set(origins.map { .extended($0) })) { facts, _ in
                var seen: [String] = []
                for name in origins {
                    guard let value = try facts.attribute(name) else { continue }
                    let address = String(decoding: value, as: UTF8.self).trimmedSpaces
                    let server = host(of: address)
                    let held = globs.contains { glob in
                        glob.pattern.contains("/") ? glob.matches(address) : server.map { glob.matches($0) } ?? false
                    }
                    if held {
                        return Observation(
                            true, seen: printable(address),
                            values: ["download.url": .text(address), "download.host": .text(server ?? "")])
                    }
                    seen.append(printable(address))
                }
                return Observation(false, seen: seen.isEmpty ? "nothing says where from" : seen.joined(separator: "; "))
            }
        },
    ]

    /// The file's origin, and the page that linked to it.
    private static let origins = ["user.xdg.origin.url", "user.xdg.referrer.url"]

    static let oneOrMoreNames: JSON = [
        "oneOf": [
            ["type": ["string", "integer"]],
            ["type": "array", "minItems": 1, "items": ["type": ["string", "integer"]]],
        ]
    ]

    /// The host in lower case, without user and port; nil if this is not a URL.
    static func host(of address: String) -> String? {
        guard let start = address.firstRange(of: "://")?.upperBound else { return nil }
        let authority = address[start...].prefix { !"/?#".contains($0) }
        var host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        if host.hasPrefix("[") {
            host = host.dropFirst().prefix { $0 != "]" }
        } else {
            host = host.prefix { $0 != ":" }
        }
        return host.isEmpty ? nil : host.lowercased()
    }

    private static func group(named name: String) -> gid_t? {
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 65_536)
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }
}

/// The test of `mode` on a file's permission bits, in the syntax of find(1).
private struct ModeTest: Sendable {
    private enum Manner: Sendable { case exactly, all, any, none }

    private let manner: Manner
    private let bits: mode_t

    init?(_ text: String) {
        switch text.trimmedSpaces {
        case "executable": (manner, bits) = (.any, 0o111)
        case "private": (manner, bits) = (.none, 0o077)
        case let word:
            let manners: [Character: Manner] = ["-": .all, "/": .any]
            let manner = word.first.flatMap { manners[$0] }
            let digits = manner == nil ? word[...] : word.dropFirst()
            guard let bits = mode_t(digits, radix: 8), bits <= 0o7777, digits.first != "+" else { return nil }
            (self.manner, self.bits) = (manner ?? .exactly, bits)
        }
    }

    func holds(_ mode: mode_t) -> Bool {
        switch manner {
        case .exactly: mode == bits
        case .all: mode & bits == bits
        case .any: mode & bits != 0
        case .none: mode & bits == 0
        }
    }
}

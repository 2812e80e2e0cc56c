import Platform

/// Names that are never news in themselves: ``WorkNames/patterns`` and what the user adds.
///
/// Globs on one name's bytes: `*` any run, `?` any one byte, all else itself.
package struct IgnoreList: Sendable {
    private var exact: Set<[UInt8]> = []
    private var prefixes: [[UInt8]] = []
    private var suffixes: [[UInt8]] = []
    private var globs: [[UInt8]] = []

    private static let star = UInt8(ascii: "*")
    private static let question = UInt8(ascii: "?")

    /// - Parameter extra: the user's own patterns.
    package init(extra: [String] = []) {
        for pattern in WorkNames.patterns + extra where !pattern.isEmpty {
            let bytes = Array(pattern.utf8)
            let stars = bytes.count { $0 == Self.star }
            if bytes.contains(Self.question) || stars > 1 {
                globs.append(bytes)
            } else if stars == 0 {
                exact.insert(bytes)
            } else if bytes.last == Self.star {
                prefixes.append(bytes.dropLast())
            } else if bytes.first == Self.star {
                suffixes.append(Array(bytes.dropFirst()))
            } else {
                globs.append(bytes)
            }
        }
    }

    package func ignores(_ name: [UInt8]) -> Bool {
        if exact.contains(name) { return true }
        if prefixes.contains(where: { name.starts(with: $0) }) { return true }
        if suffixes.contains(where: { name.count >= $0.count && name[(name.count - $0.count)...] == $0[...] }) {
            return true
        }
        return globs.contains { Self.matches(name, $0) }
    }

    /// Whether any part of a relative path is ignored.
    package func ignores(anyPartOf path: BytePath) -> Bool {
        path.components.contains { ignores(Array($0)) }
    }

    /// Linear but for the last star, to which it goes back: no pattern can make it explode.
    private static func matches(_ name: [UInt8], _ glob: [UInt8]) -> Bool {
        var at = 0
        var inGlob = 0
        var lastStar: (glob: Int, name: Int)?
        while at < name.count {
            if inGlob < glob.count, glob[inGlob] == star {
                lastStar = (inGlob, at)
                inGlob += 1
            } else if inGlob < glob.count, glob[inGlob] == question || glob[inGlob] == name[at] {
                inGlob += 1
                at += 1
            } else if let back = lastStar {
                lastStar = (back.glob, back.name + 1)
                inGlob = back.glob + 1
                at = back.name + 1
            } else {
                return false
            }
        }
        return glob[inGlob...].allSatisfy { $0 == star }
    }
}

import ComicVault
import Platform
import Rules

extension Configuration {
    private static let vaultKeys = ["path", "lock-after"]

    /// Reads `vaults:`, after the places: a vault must not contain a place or be inside one.
    mutating func readVaults(_ node: YamlNode, _ reader: YamlReader, _ directories: Directories) {
        guard let mapping = reader.mapping(node, "`vaults`") else { return }
        for entry in mapping.entries {
            let name = printable(entry.key)
            guard Self.isName(entry.key) else {
                reader.report(
                    entry.keyPosition,
                    "the name of a vault may contain letters, digits, `_` and `-`, at most 64 of them, not `\(name)`")
                continue
            }
            guard let part = reader.mapping(entry.value, "the vault `\(name)`", keys: Self.vaultKeys) else { continue }
            guard let pathNode = part["path"] else {
                reader.report(entry.keyPosition, "the vault `\(name)` has no `path`")
                continue
            }
            guard let text = reader.text(pathNode, "`path`") else { continue }
            var idle: Double? = 900
            if let node = part["lock-after"] {
                if node.scalar == "never" {
                    idle = nil
                } else if let seconds = reader.duration(node, "`lock-after`") {
                    idle = max(1, seconds)
                }
            }
            let path = directories.expand(text, base: directories.configuration.parent)
            let occupied =
                places.map { ("the place `\($0.info.name)`", $0.info.root) }
                + vaults.map { ("the vault `\($0.name)`", $0.path) }
                + [("the agent's own folder", directories.state), ("the agent's own folder", directories.runtime)]
            if let (what, other) = occupied.first(where: { path.isWithin($0.1) || $0.1.isWithin(path) }) {
                reader.report(
                    pathNode.position, "\(path) and \(what), \(other), overlap",
                    hint: "give the vault a separate folder, which nothing watches")
                continue
            }
            vaults.append(VaultPlace(name: entry.key, path: path, host: directories.vaultHost(entry.key), idle: idle))
        }
        if mapping.entries.isEmpty {
            reader.report(node.position, "`vaults` is empty", hint: "name a folder, or remove the line")
        }
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

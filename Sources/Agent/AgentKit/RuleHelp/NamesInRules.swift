import Rules

/// The names used in a rule file, configured or not.
struct NamesInRules {
    private(set) var places: Set<String> = []
    private(set) var vaults: Set<String> = []
    /// Targets for published events.
    private(set) var targets: Set<String> = []

    /// Keys whose values are place names, at any level.
    private static let placeKeys: Set<String> = ["in", "place"]
    /// Keys whose values are paths that begin with a place name.
    private static let pathKeys: Set<String> = ["moved-to", "copied-to"]

    init(file: String, bytes: [UInt8]) {
        if let root = YamlReader(file: file, bytes: bytes).root { collect(root) }
    }

    private mutating func collect(_ node: YamlNode) {
        switch node.content {
        case .scalar: break
        case .sequence(let items): for item in items { collect(item) }
        case .mapping(let entries):
            for entry in entries {
                let texts = Self.texts(entry.value)
                if Self.placeKeys.contains(entry.key) { places.formUnion(texts.filter(Self.isName)) }
                if Self.pathKeys.contains(entry.key) {
                    let paths = texts.filter { $0.contains("/") }
                    places.formUnion(paths.compactMap(Self.first).filter(Self.isName))
                }
                if entry.key == "vault" { vaults.formUnion(texts.filter(Self.isName)) }
                if entry.key == "to" { targets.formUnion(texts.filter(Self.isName)) }
                collect(entry.value)
            }
        }
    }

    private static func first(_ path: String) -> String? { path.split(separator: "/").first.map(String.init) }

    private static func texts(_ node: YamlNode) -> [String] {
        switch node.content {
        case .scalar(let text, _): [text]
        case .sequence(let items): items.compactMap(\.scalar)
        case .mapping: []
        }
    }

    /// Whether it is a valid folder name and not a pattern.
    private static func isName(_ text: String) -> Bool {
        let isPlain = !text.contains { "/*?[]{}\0".contains($0) }
        return isPlain && !text.isEmpty && text != "." && text != ".." && text.utf8.count < 200
    }
}

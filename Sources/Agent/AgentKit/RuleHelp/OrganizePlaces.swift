import Platform
import Rules

/// Which folder of organize's file is which place.
struct OrganizePlaces {
    private struct Entry {
        let name: String
        /// As it was written.
        let path: String
        let root: BytePath
        let isConfigured: Bool
        var isUsed = false
    }

    private let home: BytePath
    private var entries: [Entry]

    init(known: [PlaceInfo], home: BytePath) {
        self.home = home
        entries = known.map { Entry(name: $0.name, path: $0.root.text, root: $0.root, isConfigured: true) }
    }

    /// Those that rules name, in the order in which they came.
    var used: [OrganizeImport.Place] {
        entries.filter(\.isUsed).map {
            OrganizeImport.Place(name: $0.name, path: $0.path, isConfigured: $0.isConfigured)
        }
    }

    /// The name of the place at that folder, which is made one where it is none.
    @discardableResult
    mutating func add(_ written: String) -> String {
        let root = absolute(written)
        if let number = entries.firstIndex(where: { $0.root == root }) {
            entries[number].isUsed = true
            return entries[number].name
        }
        let name = freeName(root.nameText)
        entries.append(Entry(name: name, path: written, root: root, isConfigured: false, isUsed: true))
        return name
    }

    /// The innermost place that a folder lies in, and the folder below it; a place of its own where it lies in none.
    mutating func locate(_ written: String) -> (place: String, folder: String) {
        let path = absolute(written)
        let found = entries.indices.filter { path.isWithin(entries[$0].root) }.max {
            entries[$0].root.components.count < entries[$1].root.components.count
        }
        guard let found else { return (add(written), "") }
        entries[found].isUsed = true
        return (entries[found].name, path.relative(to: entries[found].root)?.text ?? "")
    }

    private func absolute(_ written: String) -> BytePath {
        if written == "~" { return home }
        if written.hasPrefix("~/") { return home.appending(BytePath(String(written.dropFirst(2)))) }
        let path = BytePath(written)
        // organize takes relative folders from where it is started; that is most often the home.
        return path.isAbsolute ? path : home.appending(path)
    }

    private func freeName(_ folder: String) -> String {
        let plain = folder.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "-" }.joined()
            .split(separator: "-").joined(separator: "-")
        let base = plain.isEmpty ? "folder" : plain
        let names = Set(entries.map(\.name))
        return ([base] + (2...999).map { "\(base)-\($0)" }).first { !names.contains($0) } ?? base
    }
}

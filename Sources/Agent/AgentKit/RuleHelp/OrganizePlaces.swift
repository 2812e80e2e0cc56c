import Platform
import Rules

/// Maps folders in organize's file to places.
struct OrganizePlaces {
    private struct Entry {
        let name: String
        /// As written.
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

    /// The places used by rules, in order of appearance.
    var used: [OrganizeImport.Place] {
        entries.filter(\.isUsed).map {
            OrganizeImport.Place(name: $0.name, path: $0.path, isConfigured: $0.isConfigured)
        }
    }

    /// Whether a path names one particular folder, from the root or from the home. With placeholders or variables, or
    /// relative to organize's working directory, it could be any folder.
    static func isPlain(_ written: String) -> Bool {
        (written == "~" || written.hasPrefix("~/") || written.hasPrefix("/"))
            && !written.contains { "{}$".contains($0) } && !written.contains("://")
            && !written.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }

    /// Makes the folder available as a place, if it is not one yet.
    mutating func expect(_ written: String) { _ = index(of: written) }

    /// The name of the place at that folder, which is added if needed.
    mutating func add(_ written: String) -> String {
        let number = index(of: written)
        entries[number].isUsed = true
        return entries[number].name
    }

    private mutating func index(of written: String) -> Int {
        let root = absolute(written)
        if let number = entries.firstIndex(where: { $0.root == root }) { return number }
        entries.append(Entry(name: freeName(root.nameText), path: written, root: root, isConfigured: false))
        return entries.count - 1
    }

    /// The innermost place that contains a plain folder, and the path below it; adds a place if none does.
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
        return BytePath(written)
    }

    private func freeName(_ folder: String) -> String {
        let plain = folder.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "-" }.joined()
            .split(separator: "-").joined(separator: "-")
        let base = plain.isEmpty ? "folder" : plain
        let names = Set(entries.map(\.name))
        return ([base] + (2...999).map { "\(base)-\($0)" }).first { !names.contains($0) } ?? base
    }
}

import Platform

/// Paths as a tree for the terminal: folders before files, each with an optional note.
package struct FileTree: Sendable {
    private struct Node {
        var children: [[UInt8]: Node] = [:]
        var note: String?
        var isFolder: Bool { !children.isEmpty }
    }

    private var roots: [(name: String, node: Node)] = []

    package init() {}

    /// - Parameters:
    ///   - root: the name of the place that contains the path.
    ///   - note: shown after the name.
    package mutating func add(_ path: BytePath, in root: String, note: String? = nil) {
        let number = roots.firstIndex { $0.name == root } ?? roots.count
        if number == roots.count { roots.append((root, Node())) }
        Self.add(Array(path.components.map { Array($0) })[...], note, to: &roots[number].node)
    }

    private static func add(_ parts: ArraySlice<[UInt8]>, _ note: String?, to node: inout Node) {
        guard let first = parts.first else {
            node.note = note
            return
        }
        add(parts.dropFirst(), note, to: &node.children[first, default: Node()])
    }

    package var isEmpty: Bool { roots.isEmpty }

    /// One line per entry, without terminal control characters.
    package var lines: [String] {
        roots.flatMap { root in ["\(root.name)/"] + Self.lines(root.node, indent: "") }
    }

    private static func lines(_ node: Node, indent: String) -> [String] {
        let sorted = node.children.sorted { one, other in
            if one.value.isFolder != other.value.isFolder { return one.value.isFolder }
            return one.key.lexicographicallyPrecedes(other.key)
        }
        return sorted.enumerated().flatMap { number, child -> [String] in
            let isLast = number == sorted.count - 1
            let name = BytePath.escape(child.key) + (child.value.isFolder ? "/" : "")
            let line = "\(indent)\(isLast ? "└── " : "├── ")\(name)" + (child.value.note.map { "  \($0)" } ?? "")
            return [line] + lines(child.value, indent: indent + (isLast ? "    " : "│   "))
        }
    }
}

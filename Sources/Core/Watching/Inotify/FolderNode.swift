import Platform

/// The owner thread's state of a watched root. Confined to that thread.
final class RootWatch {
    enum Mode: Equatable {
        case inotify
        case poll(reason: String)
    }

    var spec: WatchRoot
    /// For folders of rules: called instead of adding marks to the dirty set.
    let onChange: (@Sendable () -> Void)?
    /// The folder now at the root's path; nil while it is missing.
    var real: RealFolder?
    var top: FolderNode?
    var mode: Mode = .inotify
    var excluded: Set<BytePath> = []
    var unreadable: Set<BytePath> = []
    var watches = 0
    /// Whether `real` and the watches come from a look at the disk: false at the start, and while the whole root is
    /// polled.
    var isPlaced = false
    /// Pollers of the whole root (at the empty path) or of mounts inside it that send no events.
    var pollers: [BytePath: Poller] = [:]
    /// Watches on folders above the root, and the relevant names in them.
    var anchors: [Int32: Anchor] = [:]
    var mount: Mount?
    var mountsInside: Set<Mount> = []

    struct Anchor: Equatable {
        var path: BytePath
        var mask: UInt32
        var names: Set<[UInt8]>
    }

    init(_ spec: WatchRoot, onChange: (@Sendable () -> Void)? = nil) {
        self.spec = spec
        self.onChange = onChange
    }

    /// The node at a relative path, if known.
    func find(_ path: BytePath) -> FolderNode? {
        var node = top
        for part in path.components {
            node = node?.children[Array(part)]
        }
        return node
    }
}

extension RootWatch: Hashable {
    static func == (left: RootWatch, right: RootWatch) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// One folder of a root. Nodes form a tree, rather than a map of paths, so that a rename moves a single node, and a
/// folder moved out keeps its state until its new place is known.
final class FolderNode {
    private(set) var name: [UInt8]
    private(set) var owner: RootWatch
    private(set) var parent: FolderNode?
    private(set) var children: [[UInt8]: FolderNode] = [:]
    var wd: Int32?
    var identity: RootIdentity?
    /// The digest of the last poll; nil unless the folder is polled.
    var digest: Int?

    /// Makes the top of a root.
    init(top owner: RootWatch) {
        self.owner = owner
        name = []
    }

    init(_ name: [UInt8], in parent: FolderNode) {
        self.name = name
        self.parent = parent
        owner = parent.owner
        parent.children[name] = self
    }

    /// The path within the root; nil for a detached folder.
    var path: BytePath? {
        var parts: [[UInt8]] = []
        var node = self
        while let above = node.parent {
            parts.append(node.name)
            node = above
        }
        guard node === owner.top else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count + 1 })
        for part in parts.reversed() {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
            bytes += part
        }
        return BytePath(bytes: bytes)
    }

    /// Detaches the node and everything below it from its parent.
    func detach() {
        if parent?.children[name] === self { parent?.children[name] = nil }
        parent = nil
    }

    /// Attaches a detached node at another place, which must be free.
    func put(_ newName: [UInt8], in newParent: FolderNode) {
        name = newName
        parent = newParent
        newParent.children[newName] = self
        guard newParent.owner !== owner else { return }
        forEach { node in
            if node.wd != nil {
                node.owner.watches -= 1
                newParent.owner.watches += 1
            }
            node.owner = newParent.owner
        }
    }

    /// Visits this node, then everything below it.
    func forEach(_ body: (FolderNode) -> Void) {
        var open = [self]
        while let node = open.popLast() {
            body(node)
            open += node.children.values
        }
    }

    /// Breaks the reference cycles between parents and children.
    func dissolve() {
        var all: [FolderNode] = []
        forEach { all.append($0) }
        for node in all {
            node.children = [:]
            node.parent = nil
        }
    }
}

extension FolderNode: Hashable {
    static func == (left: FolderNode, right: FolderNode) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

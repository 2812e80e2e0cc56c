import Platform

/// What one kernel watch stands for. A watch belongs to an inode: several paths (bind mounts, a folder above two
/// roots) may share it.
struct Watched {
    var identity: RootIdentity
    var mask: UInt32
    var nodes: [FolderNode] = []
    /// Roots for which this is a folder above.
    var anchors: Set<RootWatch> = []

    var isUsed: Bool { !nodes.isEmpty || !anchors.isEmpty }
}

/// Our own tables from watch to meaning: the library's cannot be trusted once the kernel drops a watch.
struct WatchTable {
    /// Watches that stand for one folder of a root and nothing else: nearly all, and there may be very many. What else is
    /// known of such a watch is that its identity is the folder's and its mask that of a folder in a root.
    private var plain: [Int32: FolderNode] = [:]
    private var others: [Int32: Watched] = [:]
    /// By device and inode.
    private var byIdentity: [UInt64: [UInt64: Int32]] = [:]
    /// Watches that nothing needs any more. They are removed only when all events have been read: the kernel may have
    /// dropped them already.
    private(set) var orphans: Set<Int32> = []
    /// Removed by us; events of theirs may still come.
    private var retired: Set<Int32> = []

    var count: Int { plain.count + others.count }
    var all: [Int32] { Array(plain.keys) + Array(others.keys) }

    subscript(_ wd: Int32) -> Watched? {
        if let watched = others[wd] { return watched }
        guard let node = plain[wd], let identity = node.identity else { return nil }
        return Watched(identity: identity, mask: Bits.tree, nodes: [node])
    }

    func watch(of identity: RootIdentity) -> Int32? { byIdentity[identity.device]?[identity.inode] }

    func isRetired(_ wd: Int32) -> Bool { retired.contains(wd) }

    /// Enters what the kernel answered. The watch may be known under another identity: then a path changed its folder
    /// between our look at it and the kernel's, and the kernel is right.
    ///
    /// - Parameter node: gets it at once where nothing was known of it.
    mutating func enter(_ wd: Int32, _ identity: RootIdentity, _ mask: UInt32, for node: FolderNode? = nil) {
        if let node, node.wd == nil, node.identity == identity, mask == Bits.tree, self[wd] == nil {
            set(wd, of: identity)
            plain[wd] = node
            node.wd = wd
            node.owner.watches += 1
            return
        }
        if let old = self[wd]?.identity, old != identity, watch(of: old) == wd { set(nil, of: old) }
        set(wd, of: identity)
        change(wd) { watched in
            watched = Watched(
                identity: identity, mask: mask, nodes: watched?.nodes ?? [], anchors: watched?.anchors ?? [])
        }
        updateOrphans(wd)
    }

    mutating func attach(_ node: FolderNode, to wd: Int32) {
        guard node.wd != wd else { return }
        detach(node)
        node.wd = wd
        node.owner.watches += 1
        change(wd) { $0?.nodes.append(node) }
        updateOrphans(wd)
    }

    mutating func detach(_ node: FolderNode) {
        guard let wd = node.wd else { return }
        node.wd = nil
        node.owner.watches -= 1
        change(wd) { $0?.nodes.removeAll { $0 === node } }
        updateOrphans(wd)
    }

    mutating func anchor(_ root: RootWatch, at wd: Int32) {
        change(wd) { $0?.anchors.insert(root) }
        updateOrphans(wd)
    }

    mutating func weigh(_ root: RootWatch, from wd: Int32) {
        change(wd) { $0?.anchors.remove(root) }
        updateOrphans(wd)
    }

    /// The kernel no longer has the watch: returns what it stood for.
    mutating func forget(_ wd: Int32) -> Watched? {
        retired.remove(wd)
        orphans.remove(wd)
        guard let watched = self[wd] else { return nil }
        (plain[wd], others[wd]) = (nil, nil)
        if watch(of: watched.identity) == wd { set(nil, of: watched.identity) }
        for node in watched.nodes where node.wd == wd {
            node.wd = nil
            node.owner.watches -= 1
        }
        return watched
    }

    /// We are about to remove the watch from the kernel.
    mutating func retire(_ wd: Int32) {
        _ = forget(wd)
        retired.insert(wd)
    }

    /// All watches are gone together with the inotify instance.
    mutating func clear() {
        for wd in all { _ = forget(wd) }
        retired = []
    }

    private mutating func set(_ wd: Int32?, of identity: RootIdentity) {
        byIdentity[identity.device, default: [:]][identity.inode] = wd
    }

    /// Changes what a watch stands for, and keeps it in as little room as that takes.
    private mutating func change(_ wd: Int32, _ body: (inout Watched?) -> Void) {
        var watched = others.removeValue(forKey: wd) ?? self[wd]
        plain[wd] = nil
        body(&watched)
        if let watched, watched.mask == Bits.tree, watched.anchors.isEmpty, watched.nodes.count == 1,
            let node = watched.nodes.first, node.identity == watched.identity
        {
            plain[wd] = node
        } else {
            others[wd] = watched
        }
    }

    private mutating func updateOrphans(_ wd: Int32) {
        if plain[wd] != nil {
            orphans.remove(wd)
        } else if let watched = others[wd] {
            if watched.isUsed { orphans.remove(wd) } else { orphans.insert(wd) }
        }
    }
}

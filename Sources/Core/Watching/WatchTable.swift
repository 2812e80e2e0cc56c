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
    private var byWatch: [Int32: Watched] = [:]
    private var byIdentity: [RootIdentity: Int32] = [:]
    /// Watches that nothing needs any more. They are removed only when all events have been read: the kernel may have
    /// dropped them already.
    private(set) var orphans: Set<Int32> = []
    /// Removed by us; events of theirs may still come.
    private var retired: Set<Int32> = []

    var count: Int { byWatch.count }
    var all: Dictionary<Int32, Watched>.Keys { byWatch.keys }

    subscript(_ wd: Int32) -> Watched? { byWatch[wd] }

    func watch(of identity: RootIdentity) -> Int32? { byIdentity[identity] }

    func isRetired(_ wd: Int32) -> Bool { retired.contains(wd) }

    /// Enters what the kernel answered. The watch may be known under another identity: then a path changed its folder
    /// between our look at it and the kernel's, and the kernel is right.
    mutating func enter(_ wd: Int32, _ identity: RootIdentity, _ mask: UInt32) {
        if let old = byWatch[wd]?.identity, old != identity, byIdentity[old] == wd { byIdentity[old] = nil }
        byIdentity[identity] = wd
        byWatch[wd, default: Watched(identity: identity, mask: mask)].identity = identity
        byWatch[wd]?.mask = mask
        settle(wd)
    }

    mutating func attach(_ node: FolderNode, to wd: Int32) {
        guard node.wd != wd else { return }
        detach(node)
        node.wd = wd
        node.owner.watches += 1
        byWatch[wd]?.nodes.append(node)
        settle(wd)
    }

    mutating func detach(_ node: FolderNode) {
        guard let wd = node.wd else { return }
        node.wd = nil
        node.owner.watches -= 1
        byWatch[wd]?.nodes.removeAll { $0 === node }
        settle(wd)
    }

    mutating func anchor(_ root: RootWatch, at wd: Int32) {
        byWatch[wd]?.anchors.insert(root)
        settle(wd)
    }

    mutating func weigh(_ root: RootWatch, from wd: Int32) {
        byWatch[wd]?.anchors.remove(root)
        settle(wd)
    }

    /// The kernel no longer has the watch: returns what it stood for.
    mutating func forget(_ wd: Int32) -> Watched? {
        retired.remove(wd)
        orphans.remove(wd)
        guard let watched = byWatch.removeValue(forKey: wd) else { return nil }
        if byIdentity[watched.identity] == wd { byIdentity[watched.identity] = nil }
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
        for wd in Array(byWatch.keys) { _ = forget(wd) }
        retired = []
    }

    private mutating func settle(_ wd: Int32) {
        guard let watched = byWatch[wd] else { return }
        if watched.isUsed { orphans.remove(wd) } else { orphans.insert(wd) }
    }
}

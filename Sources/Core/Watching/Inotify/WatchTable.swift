import Platform

/// The meaning of one kernel watch. A watch belongs to an inode, so several paths (bind mounts, a folder above two
/// roots) may share it.
struct Watched {
    var identity: RootIdentity
    var mask: UInt32
    var nodes: [FolderNode] = []
    /// Roots that this folder is above.
    var anchors: Set<RootWatch> = []

    var isUsed: Bool { !nodes.isEmpty || !anchors.isEmpty }
}

/// Our own mapping from watches to meanings: the library's is unreliable once the kernel drops a watch.
struct WatchTable {
    /// Watches of exactly one folder of a root: nearly all, and there may be very many. Their identity is the folder's,
    /// and their mask is that of a folder in a root.
    private var plain: [Int32: FolderNode] = [:]
    private var others: [Int32: Watched] = [:]
    /// Watches by device and inode.
    private var byIdentity: [UInt64: [UInt64: Int32]] = [:]
    /// Watches that nothing needs. They are removed only once all events are read: the kernel may have dropped them
    /// already.
    private(set) var orphans: Set<Int32> = []
    /// Removed by us; some of their events may still arrive.
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

    /// Records the kernel's answer. The watch may be known under another identity: then the path changed its folder
    /// between our look and the kernel's, and the kernel is right.
    ///
    /// - Parameter node: attached at once if the watch was unknown.
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

    /// The kernel no longer has the watch: returns its meaning.
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

    /// Notes that we are about to remove the watch from the kernel.
    mutating func retire(_ wd: Int32) {
        _ = forget(wd)
        retired.insert(wd)
    }

    /// All watches are gone, along with the inotify instance.
    mutating func clear() {
        for wd in all { _ = forget(wd) }
        retired = []
    }

    private mutating func set(_ wd: Int32?, of identity: RootIdentity) {
        byIdentity[identity.device, default: [:]][identity.inode] = wd
    }

    /// Changes the meaning of a watch, and stores it as compactly as possible.
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

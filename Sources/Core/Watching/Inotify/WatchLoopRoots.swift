import Glibc
import Platform
import Synchronization

/// Roots: the folder at their path, how it is watched, and how its appearance and disappearance are noticed.
extension WatchLoop {
    static func folderKey(_ path: BytePath) -> String { "\u{0}\(path)" }

    func setRoots(_ wanted: [WatchRoot]) {
        for spec in wanted { addRoot(spec.name, RootWatch(spec)) }
        _ = drainEvents()
        scheduleTimers()
        publish()
    }

    func addRoot(_ key: String, _ root: RootWatch) {
        roots[key] = root
        _ = check(root, quiet: true)
        if root.real == nil, root.pollers.isEmpty { emit(.rootState(root: root.spec.name), for: root) }
        if root.onChange == nil { emit(.subtree(root: root.spec.name, path: ""), for: root) }
        scheduleTimers()
    }

    func drop(_ root: RootWatch) {
        forgetTree(root)
        stopPollers(root, within: "")
        for wd in root.anchors.keys { table.weigh(root, from: wd) }
        root.anchors = [:]
        for park in parked where park.places.contains(where: { $0.root === root }) {
            if let node = park.node { drop(node) }
        }
        parked.removeAll { $0.places.contains { $0.root === root } }
        suspects.remove(root)
        justPlaced.remove(root)
    }

    /// Compares the root with the folder now at its path.
    ///
    /// - Parameter quiet: for the start, when there is no earlier state to correct.
    /// - Returns: whether they differed; if so, the watches were rebuilt and the marks made.
    func check(_ root: RootWatch, quiet: Bool = false) -> Bool {
        onDisk(of: root) { compare(root, quiet: quiet) }
    }

    /// Runs calls on people's disks, any of which may never return; if one hangs, it is reported as trouble of the
    /// place.
    func onDisk<R>(of root: RootWatch, _ work: () -> R) -> R {
        board.callsOnDisks.wrappingAdd(1, ordering: .relaxed)
        defer { board.callsOnDisks.wrappingSubtract(1, ordering: .relaxed) }
        let whose: Bulkhead =
            root.onChange == nil ? .place(root.spec.name) : Bulkhead("the folder \(root.spec.path)")
        return HangWatch.shared.watching(whose, work)
    }

    private func compare(_ root: RootWatch, quiet: Bool) -> Bool {
        let linked = LinkedPath(root.spec.path, in: mounts)
        let mount = Mount.covering(linked.path, in: mounts)
        let blind = root.spec.mode == .poll ? "the configuration asks for it" : numbers.blindness
        if let reason = blind ?? linked.reason { return poll(root, mount, .poll(reason: reason)) }
        var differed = false
        // The root, or a folder above it, may appear between the look and the watch: repeat until both agree.
        for _ in 0..<100 {
            let real = RealFolder(root.spec.path)
            let isAsBefore = root.isPlaced && real == root.real
            // Without its watch it is another folder with the same inode.
            if isAsBefore, real == nil || hasTop(root) {
                let before = root.anchors
                placeAnchors(root)
                if root.anchors != before { continue }
                if root.unreadable.contains(""), watchTree(root, "", force: true), !root.unreadable.contains("") {
                    placeAnchors(root)
                    emit(.subtree(root: root.spec.name, path: ""), for: root)
                }
                break
            }
            if let real, let reason = FileSystemKind.reasonToPoll(real.path) {
                return poll(root, mount, .poll(reason: reason)) || differed
            }
            differed = differed || isAsBefore || real != root.real || root.mode != .inotify
            stopPollers(root, within: "")
            forgetTree(root)
            root.mode = .inotify
            root.mount = mount
            root.real = real
            root.excluded = real?.excluded(of: root.spec, in: mounts) ?? []
            placeAnchors(root)
            justPlaced.insert(root)
            if real != nil { watchTree(root, "", force: true) }
            // Permission changes are reported to watches on the parent folder.
            if root.unreadable.contains("") { placeAnchors(root) }
            root.mountsInside = mountsInside(root)
            root.isPlaced = true
        }
        if differed, !quiet {
            emit(.rootState(root: root.spec.name), for: root)
            if root.real != nil { emit(.subtree(root: root.spec.name, path: ""), for: root) }
        }
        return differed
    }

    /// Whether the root's own folder is watched, or known not to be.
    private func hasTop(_ root: RootWatch) -> Bool {
        root.top.map { $0.wd != nil || unwatched.contains($0) || root.unreadable.contains("") } ?? false
    }

    private func poll(_ root: RootWatch, _ mount: Mount?, _ mode: RootWatch.Mode) -> Bool {
        if root.mode == mode, root.mount == mount, root.pollers[""] != nil { return false }
        let changed = root.mode != mode || root.real != nil
        drop(root)
        root.real = nil
        root.isPlaced = false
        root.mode = mode
        root.mount = mount
        startPoller(root, "")
        if changed { emit(.rootState(root: root.spec.name), for: root) }
        return changed
    }

    func startPoller(_ root: RootWatch, _ path: BytePath) {
        guard root.pollers[path] == nil else { return }
        let dirty = self.dirty
        let onChange = root.onChange
        let mailbox = self.mailbox
        let poller = Poller(
            root.spec, from: path, ignore: options.ignore,
            emit: { mark in if let onChange { onChange() } else { dirty.insert(mark) } },
            // Any command makes the owner publish the status.
            stateChanged: { mailbox.post { _ in } })
        root.pollers[path] = poller
        poller.start()
    }

    func stopPollers(_ root: RootWatch, within path: BytePath) {
        for (at, poller) in root.pollers where at.isWithin(path) {
            poller.stop()
            root.pollers[at] = nil
        }
    }

    /// Watches the folders above the root as quietly as possible. Each reports when it moves itself, which is rare; new
    /// names are watched for only in folders where the root, or a link to it, may appear.
    private func placeAnchors(_ root: RootWatch) {
        var wanted: [BytePath: Set<[UInt8]>] = [:]
        var below = root.spec.path
        var missing = root.real == nil || root.unreadable.contains("")
        while below.bytes.count > 1 {
            let above = below.parent
            var found = stat()
            let isLink = below.withCString { lstat($0, &found) } == 0 && found.st_mode & S_IFMT == S_IFLNK
            if let real = RealFolder(above)?.path {
                wanted[real, default: []].formUnion(missing || isLink ? [below.name] : [])
                missing = false
            }
            below = above
        }
        var above = root.real?.path.parent ?? ""
        while !above.isEmpty {
            wanted[above, default: []].formUnion([])
            if above.bytes.count == 1 { break }
            above = above.parent
        }
        var placed: [Int32: RootWatch.Anchor] = [:]
        for (path, names) in wanted {
            // A folder above that we may not examine reports nothing; the hourly rescan must suffice.
            guard let status = (try? PathStatus.status(path)) ?? nil else { continue }
            let mask = names.isEmpty ? Bits.ancestor : Bits.threshold
            if case .watch(let wd) = obtain(path, RootIdentity(status), mask) {
                placed[wd] = RootWatch.Anchor(path: path, mask: mask, names: names)
                table.anchor(root, at: wd)
            }
        }
        let old = root.anchors
        root.anchors = placed
        for wd in old.keys where placed[wd] == nil { table.weigh(root, from: wd) }
        for (wd, anchor) in placed where anchor.mask == Bits.ancestor { quieten(wd, anchor.path) }
    }

    /// Reduces the mask of a threshold that is now only an ancestor: it would wake us for every file created in it.
    private func quieten(_ wd: Int32, _ path: BytePath) {
        guard let watched = table[wd], watched.nodes.isEmpty, watched.mask != Bits.ancestor,
            watched.anchors.allSatisfy({ $0.anchors[wd]?.mask == Bits.ancestor })
        else { return }
        if case .watch(wd) = events.add(path, Bits.ancestor, known: wd) {
            table.enter(wd, watched.identity, Bits.ancestor)
        }
    }

    /// A file system was mounted or unmounted.
    func mountsChanged() {
        let old = mounts
        mounts = Mount.all()
        let changed = Set(old).symmetricDifference(mounts)
        guard !changed.isEmpty else { return }
        for root in Array(roots.values) {
            if check(root) { continue }
            guard let real = root.real, root.mode == .inotify else { continue }
            let inside = mountsInside(root)
            guard inside != root.mountsInside else { continue }
            root.mountsInside = inside
            emit(.rootState(root: root.spec.name), for: root)
            for mount in changed {
                guard let path = mount.path.relative(to: real.path), !path.isEmpty else { continue }
                stopPollers(root, within: path)
                watchTree(root, path, force: true)
                emit(.subtree(root: root.spec.name, path: path), for: root)
            }
        }
    }

    private func mountsInside(_ root: RootWatch) -> Set<Mount> {
        guard let real = root.real else { return [] }
        return Set(mounts.filter { $0.path != real.path && $0.path.isWithin(real.path) })
    }

    func describe(_ root: RootWatch) -> RootStatus {
        let pollers = root.pollers.values.map(\.now)
        let whole = root.pollers[""]?.now
        let mode: RootStatus.Mode
        switch root.mode {
        case .inotify: mode = .inotify
        case .poll(let reason): mode = .poll(reason: reason)
        }
        let mounts = root.real.map { real in root.mountsInside.compactMap { $0.path.relative(to: real.path) } }
        return RootStatus(
            name: root.spec.name, path: root.spec.path, present: whole?.present ?? (root.real != nil),
            identity: whole?.identity ?? root.real?.identity, mode: mode, watches: root.watches,
            polledFolders: pollers.map(\.folders).reduce(0, +) + unwatched.count { $0.owner === root },
            unreadable: Array((pollers.reduce(root.unreadable) { $0.union($1.unreadable) }).sorted().prefix(100)),
            mountsInside: Set(mounts ?? []).sorted())
    }
}

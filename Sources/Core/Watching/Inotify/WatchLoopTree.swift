import Glibc
import Platform
import Synchronization

/// The tree of watches. Each folder is watched before it is read, so that every later change raises an event.
extension WatchLoop {
    /// Watches the folder at `path` and everything below it.
    ///
    /// - Parameter force: descend into known folders too: after an overflow, their events may be lost.
    /// - Returns: whether an unknown folder was found.
    @discardableResult
    func watchTree(_ root: RootWatch, _ path: BytePath, force: Bool) -> Bool {
        onDisk(of: root) { goThrough(root, path, force: force) }
    }

    private func goThrough(_ root: RootWatch, _ path: BytePath, force: Bool) -> Bool {
        guard let real = root.real, root.mode == .inotify, !options.ignore.ignores(anyPartOf: path) else {
            return false
        }
        if root.excluded.contains(where: { path.isWithin($0) }) { return false }
        var walk = Walk()
        // Folders being walked, innermost last.
        var open: [(node: FolderNode, path: BytePath, names: FolderListing)] = []
        var next: (parent: FolderNode?, name: [UInt8], path: BytePath)? = (nil, [], path)
        if !path.isEmpty {
            // The parent is unknown: it will be found itself, and this folder with it.
            guard let parent = root.find(path.parent) else { return false }
            next = (parent, path.name, path)
        }
        repeat {
            if let (parent, name, path) = next,
                let (node, names) = watch(root, real, parent, name, path, force: force, &walk)
            {
                open.append((node, path, names))
            }
            next = nextFolder(of: root, &open)
        } while next != nil
        return walk.found
    }

    /// What one walk has found out so far.
    private struct Walk {
        /// Whether there was an unknown folder.
        var found = false
        var counts = LinkCounts()
    }

    /// Takes the next name that may be a folder from those being walked.
    private func nextFolder(
        of root: RootWatch, _ open: inout [(node: FolderNode, path: BytePath, names: FolderListing)]
    ) -> (parent: FolderNode?, name: [UInt8], path: BytePath)? {
        while let last = open.indices.last {
            while let entry = open[last].names.next() {
                guard let name = subfolder(entry, in: open[last].names) else { continue }
                let path = open[last].path.appending(name: name)
                if !root.excluded.contains(path) { return (open[last].node, name, path) }
            }
            open.removeLast()
        }
        return nil
    }

    private func subfolder(_ entry: FolderListing.Entry, in names: FolderListing) -> [UInt8]? {
        guard entry.isDirectory != false else { return nil }
        let name = names.name(of: entry)
        return options.ignore.ignores(name) ? nil : name
    }

    /// Watches one folder.
    ///
    /// - Returns: its node and its names; nil if it is not a folder, is polled, or its contents are already known.
    private func watch(
        _ root: RootWatch, _ real: RealFolder, _ parent: FolderNode?, _ name: [UInt8], _ path: BytePath, force: Bool,
        _ walk: inout Walk
    ) -> (FolderNode, FolderListing)? {
        let absolute = real.path.appending(path)
        let known = parent == nil ? root.top : parent?.children[name]
        if parent != nil, let mount = mounts.last(where: { $0.path == absolute }),
            let reason = FileSystemKind.reasonToPoll(type: mount.type)
        {
            // Do not even ask for its status: that may never return.
            if let known { drop(known) }
            if root.pollers[path] == nil { beginPolling(root, path, absolute, reason) }
            return nil
        }
        guard let (status, folder) = look(absolute) else {
            if let known { drop(known) }
            return nil
        }
        let identity = RootIdentity(status)
        if let known, known.wd != nil, known.identity == identity, !force { return nil }
        let node = known ?? makeNode(name, in: parent, of: root)
        if node.identity != identity {
            if known != nil { prune(node) }
            node.identity = identity
            walk.found = true
            if beginsRemote(node, parent, absolute, path) { return nil }
        }
        let wasWatched = node.wd != nil
        guard place(node, absolute, path, identity) else { return nil }
        walk.found = walk.found || !wasWatched && node.wd != nil
        guard let names = names(in: folder, absolute, path, root, &walk.counts) else { return nil }
        if !node.children.isEmpty {
            var (rest, present) = (names, Set<[UInt8]>())
            while let entry = rest.next() {
                if let name = subfolder(entry, in: rest) { present.insert(name) }
            }
            for child in Array(node.children.values) where !present.contains(child.name) { drop(child) }
        }
        return (node, names)
    }

    private func makeNode(_ name: [UInt8], in parent: FolderNode?, of root: RootWatch) -> FolderNode {
        if let parent { return FolderNode(name, in: parent) }
        let node = FolderNode(top: root)
        root.top = node
        return node
    }

    private func look(_ path: BytePath) -> (FileStatus, Descriptor?)? {
        do {
            return try PathStatus.look(path)
        } catch {
            say("\(explain(error)); nothing there is watched")
            return nil
        }
    }

    /// A network file system mounted inside a local root is polled, and nothing else of the root.
    private func beginsRemote(
        _ node: FolderNode, _ parent: FolderNode?, _ absolute: BytePath, _ path: BytePath
    ) -> Bool {
        guard let parent, parent.identity?.device != node.identity?.device else { return false }
        guard let reason = FileSystemKind.reasonToPoll(absolute) else { return false }
        let root = node.owner
        drop(node)
        beginPolling(root, path, absolute, reason)
        return true
    }

    private func beginPolling(_ root: RootWatch, _ path: BytePath, _ absolute: BytePath, _ reason: String) {
        startPoller(root, path)
        say("\(absolute) is scanned every \(root.spec.pollInterval) s: \(reason)")
    }

    /// Adds the node's watch. False if the folder is gone or unreadable, so that there is nothing below it.
    private func place(_ node: FolderNode, _ absolute: BytePath, _ path: BytePath, _ identity: RootIdentity) -> Bool {
        if let wd = node.wd, table[wd]?.identity == identity { return true }
        table.detach(node)
        switch obtain(absolute, identity, Bits.tree, for: node) {
        case .watch(let wd):
            table.attach(node, to: wd)
            unwatched.remove(node)
            node.digest = nil
            node.owner.unreadable.remove(path)
            return true
        case .failed(ENOENT), .failed(ENOTDIR), .failed(ELOOP):
            drop(node)
            return false
        case .failed(EACCES), .failed(EPERM):
            node.owner.unreadable.insert(path)
            say("\(absolute) cannot be watched: permission denied; grant the agent's user read access to it")
            // No identity, so the next look treats it as new.
            node.identity = nil
            return false
        case .failed(ESTALE):
            // Retried with the event that says so, or at the latest with the folders that the kernel refuses.
            unwatched.insert(node)
            return true
        case .failed(let code):
            if unwatched.insert(node).inserted, code == ENOSPC {
                say(
                    "the limit of watched folders is reached: other folders are scanned every "
                        + "\(node.owner.spec.pollInterval) s; raise it with `sysctl fs.inotify.max_user_watches=524288`"
                )
            } else if code != ENOSPC {
                say(
                    "\(absolute) cannot be watched (\(String(cString: strerror(code)))); it is scanned from time to time"
                )
            }
            return true
        }
    }

    /// The names in a folder that is already watched, so that every later change raises an event. A folder known to
    /// have no subfolders is not read: its files are left to the scan of the place.
    private func names(
        in folder: Descriptor?, _ absolute: BytePath, _ path: BytePath, _ root: RootWatch, _ counts: inout LinkCounts
    ) -> FolderListing? {
        do {
            if let folder, try counts.showNoFolders(folder) { return FolderListing() }
            return try FolderListing(try folder ?? PathStatus.opened(absolute))
        } catch let fault as Fault {
            if fault.errno == EACCES || fault.errno == EPERM { root.unreadable.insert(path) }
            if fault.errno != ENOENT && fault.errno != ENOTDIR && fault.errno != ELOOP { say(fault.message) }
            return nil
        } catch {
            say(explain(error))
            return nil
        }
    }

    /// A watch on `path` with at least these bits, shared with other watches on the same inode. Fails with ESTALE if
    /// the path has meanwhile become another folder's.
    ///
    /// - Parameter node: the node of a new watch; a shared watch must be attached to it.
    func obtain(
        _ path: BytePath, _ identity: RootIdentity, _ mask: UInt32, for node: FolderNode? = nil
    ) -> WatchAnswer {
        let known = table.watch(of: identity)
        var wanted = mask
        if let known, let watched = table[known] {
            wanted |= watched.mask
            if wanted == watched.mask { return .watch(known) }
        } else if let most = options.maximumWatches, table.count >= most {
            return .failed(ENOSPC)
        }
        let answer = events.add(path, wanted, known: known)
        if case .watch(let wd) = answer {
            // The kernel replaced the mask of a watch that we knew under another identity.
            if wd != known, let other = table[wd], other.mask & ~wanted != 0 {
                wanted |= other.mask
                _ = events.add(path, wanted, known: wd)
            }
            if wd != known, !isStill(path, identity) {
                if table[wd] == nil {
                    table.retire(wd)
                    events.remove(wd)
                }
                return .failed(ESTALE)
            }
            table.enter(wd, identity, wanted, for: node)
        }
        return answer
    }

    /// Whether a path names the same folder as before it was watched.
    private func isStill(_ path: BytePath, _ identity: RootIdentity) -> Bool {
        var found = stat()
        guard path.withCString({ lstat($0, &found) }) == 0 else { return false }
        return RootIdentity(device: UInt64(found.st_dev), inode: UInt64(found.st_ino)) == identity
    }

    /// Forgets a folder and everything below it.
    func drop(_ node: FolderNode) {
        let root = node.owner
        if !root.pollers.isEmpty || !root.unreadable.isEmpty, let path = node.path {
            stopPollers(root, within: path)
            root.unreadable = root.unreadable.filter { !$0.isWithin(path) }
        }
        node.detach()
        if root.top === node { root.top = nil }
        node.forEach { below in
            table.detach(below)
            unwatched.remove(below)
        }
        node.dissolve()
    }

    /// Forgets everything below a folder, and its watch.
    private func prune(_ node: FolderNode) {
        for child in Array(node.children.values) { drop(child) }
        table.detach(node)
        unwatched.remove(node)
    }

    func forgetTree(_ root: RootWatch) {
        if let top = root.top { drop(top) }
        root.unreadable = []
    }

    /// Retries folders without a watch, and compares those that still have none.
    func lookAtUnwatched() {
        var refused = false
        for node in Array(unwatched) where unwatched.contains(node) {
            guard let path = node.path, let real = node.owner.real else {
                unwatched.remove(node)
                continue
            }
            let root = node.owner
            if !refused {
                watchTree(root, path, force: true)
                if node.wd != nil {
                    emit(.subtree(root: root.spec.name, path: path), for: root)
                    continue
                }
                refused = true
            }
            let digest = real.reachForNow().flatMap { FolderDigest.of(path, below: $0, ignoring: options.ignore) }
            if digest?.value != node.digest {
                node.digest = digest?.value
                watchTree(root, path, force: true)
                emit(.subtree(root: root.spec.name, path: path), for: root)
            }
        }
        if unwatched.isEmpty { say("all folders are watched again") }
    }
}

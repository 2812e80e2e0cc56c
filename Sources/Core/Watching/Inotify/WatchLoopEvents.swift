import Glibc
import Platform

/// The first half of a rename.
struct ParkedRename {
    let cookie: UInt32
    /// Nanoseconds of the monotonic clock; after that, the rename is taken to have left the watched folders.
    let due: Int64
    /// Where it came from: one folder may be in several places.
    let places: [(root: RootWatch, path: BytePath)]
    let isFolder: Bool
    /// The folder's node, detached from its tree.
    let node: FolderNode?
}

extension WatchLoop {
    func handle(_ event: KernelEvent) {
        if event.has(Bits.overflow) {
            numbers.overflows += 1
            rescanWanted = true
            return
        }
        guard let watched = table[event.wd] else {
            if table.isRetired(event.wd) {
                if event.has(Bits.ignored) { _ = table.forget(event.wd) }
            } else if !event.has(Bits.ignored) {
                // An event we cannot interpret: look everywhere.
                rescanWanted = true
            }
            return
        }
        for root in watched.anchors {
            let names = root.anchors[event.wd]?.names ?? []
            if event.name.isEmpty || names.contains(event.name) { suspects.insert(root) }
        }
        if event.has(Bits.ignored) {
            dropped(event.wd)
        } else if event.name.isEmpty {
            aboutItself(event, watched)
        } else if event.has(Bits.isDirectory) {
            aboutFolder(event, watched)
        } else {
            aboutFile(event, watched)
        }
    }

    /// The kernel dropped a watch: the folder or its file system is gone.
    private func dropped(_ wd: Int32) {
        guard let watched = table.forget(wd) else { return }
        events.kernelDropped()
        retryUnwatchedSoon()
        for root in watched.anchors {
            root.anchors[wd] = nil
            suspects.insert(root)
        }
        for node in watched.nodes {
            guard let path = node.path else { continue }
            if path.isEmpty {
                suspects.insert(node.owner)
            } else {
                // Another folder may already have taken the name.
                watchTree(node.owner, path, force: false)
                emit(.subtree(root: node.owner.spec.name, path: path), for: node.owner)
            }
        }
    }

    private func aboutItself(_ event: KernelEvent, _ watched: Watched) {
        if event.has(Bits.unmount) {
            for node in watched.nodes { suspects.insert(node.owner) }
            return
        }
        guard event.has(Bits.deleteSelf | Bits.moveSelf | Bits.attrib) else { return }
        for node in watched.nodes {
            guard let parent = node.parent else {
                suspects.insert(node.owner)
                continue
            }
            // The parent's events say more, if the parent is watched.
            if parent.wd == nil, let path = node.path, !event.has(Bits.attrib) {
                watchTree(node.owner, path, force: false)
                emit(.subtree(root: node.owner.spec.name, path: path), for: node.owner)
            }
        }
    }

    private func aboutFile(_ event: KernelEvent, _ watched: Watched) {
        if event.has(Bits.movedFrom) {
            park(event, watched, folder: false)
            return
        }
        guard event.has(Bits.create | Bits.closeWrite | Bits.movedTo | Bits.attrib | Bits.delete) else { return }
        let places = self.places(event, watched)
        for place in places {
            // A file has replaced a folder: everything below is gone.
            if event.has(Bits.create | Bits.movedTo), let node = place.root.find(place.path) {
                drop(node)
                emit(.subtree(root: place.root.spec.name, path: place.path), for: place.root)
            }
        }
        guard event.has(Bits.movedTo) else {
            for place in places { emit(.file(root: place.root.spec.name, path: place.path), for: place.root) }
            return
        }
        let from = unpark(event.cookie)
        if let from {
            paired(from, places)
        } else {
            for place in places { movedIn(place, isFolder: false) }
        }
    }

    private func aboutFolder(_ event: KernelEvent, _ watched: Watched) {
        if event.has(Bits.movedFrom) {
            park(event, watched, folder: true)
            return
        }
        let places = self.places(event, watched)
        if event.has(Bits.movedTo) {
            arrived(places, unpark(event.cookie))
        } else if event.has(Bits.create) {
            for place in places where watchTree(place.root, place.path, force: false) {
                emit(.subtree(root: place.root.spec.name, path: place.path), for: place.root)
            }
        } else if event.has(Bits.delete) {
            for place in places {
                // The event may be older than a known folder of the same name.
                watchTree(place.root, place.path, force: false)
                emit(.subtree(root: place.root.spec.name, path: place.path), for: place.root)
            }
        } else if event.has(Bits.attrib) {
            for place in places where place.root.find(place.path)?.wd == nil {
                if watchTree(place.root, place.path, force: false) {
                    emit(.subtree(root: place.root.spec.name, path: place.path), for: place.root)
                }
            }
        }
    }

    /// A folder was moved in. Its contents may have changed, so it is walked even if it is known.
    private func arrived(_ places: [(root: RootWatch, path: BytePath)], _ from: ParkedRename?) {
        if let node = from?.node {
            if let place = places.first, let parent = place.root.find(place.path.parent) {
                if let old = parent.children[place.path.name] { drop(old) }
                node.put(place.path.name, in: parent)
            } else {
                drop(node)
            }
        }
        for place in places { watchTree(place.root, place.path, force: true) }
        if let from {
            paired(from, places)
        } else {
            for place in places { movedIn(place, isFolder: true) }
        }
    }

    /// There was no first half: it came from outside the watched folders.
    private func movedIn(_ place: (root: RootWatch, path: BytePath), isFolder: Bool) {
        let name = place.root.spec.name
        let mark: DirtyMark =
            isFolder ? .subtree(root: name, path: place.path) : .file(root: name, path: place.path)
        if seesAll(of: place.root) {
            emit(.movedIn(root: name, path: place.path, isFolder: isFolder), mark, for: place.root)
        } else {
            emit(mark, for: place.root)
        }
    }

    /// Whether the first half of a rename within the root would have been seen: no folder of the root is polled or
    /// unreadable, no event was lost, and its watches are older than the rename.
    private func seesAll(of root: RootWatch) -> Bool {
        !rescanWanted && !justPlaced.contains(root) && root.pollers.isEmpty && root.unreadable.isEmpty
            && (unwatched.isEmpty || !unwatched.contains { $0.owner === root })
    }

    /// The places of an event's name, without ignored names and subtrees of other places.
    private func places(_ event: KernelEvent, _ watched: Watched) -> [(root: RootWatch, path: BytePath)] {
        guard !watched.nodes.isEmpty else { return [] }
        if options.ignore.ignores(event.name) {
            if options.ignore.isMissed(event.name) { notePassedOver(event, watched) }
            // A finished or abandoned download may be all that the file next to it was waiting for.
            guard event.has(Bits.delete), PartialDownload.isPartial(event.name) else { return [] }
        }
        return watched.nodes.compactMap { node in
            guard let folder = node.path else { return nil }
            let path = folder.appending(name: event.name)
            return node.owner.excluded.contains(path) ? nil : (node.owner, path)
        }
    }

    private func notePassedOver(_ event: KernelEvent, _ watched: Watched) {
        let isThere = event.has(Bits.closeWrite | Bits.movedTo)
        guard !event.has(Bits.isDirectory), isThere || event.has(Bits.delete | Bits.movedFrom) else { return }
        for node in watched.nodes where node.owner.onChange == nil {
            guard let folder = node.path else { continue }
            let (root, path) = (node.owner.spec.name, folder.appending(name: event.name))
            numbers.passedOver.removeAll { $0.root == root && $0.path == path }
            numbers.passedOver.append(PassedOver(root: root, path: path, isThere: isThere))
        }
        if numbers.passedOver.count > 200 { numbers.passedOver.removeFirst(numbers.passedOver.count - 200) }
    }

    private func park(_ event: KernelEvent, _ watched: Watched, folder: Bool) {
        let places = self.places(event, watched)
        // A file renamed from an ignored name did not come from elsewhere.
        let isIgnored = !watched.nodes.isEmpty && options.ignore.ignores(event.name)
        guard !places.isEmpty || isIgnored else { return }
        var detached: FolderNode?
        if folder {
            for place in places {
                guard let node = place.root.find(place.path) else { continue }
                stopPollers(place.root, within: place.path)
                if detached == nil {
                    node.detach()
                    node.forEach { unwatched.remove($0) }
                    detached = node
                } else {
                    drop(node)
                }
            }
        }
        let due = Self.now() + Self.nanoseconds(options.renameWait)
        parked.append(
            ParkedRename(cookie: event.cookie, due: due, places: places, isFolder: folder, node: detached))
        if parked.count > 10_000 { abandon(parked.removeFirst()) }
    }

    private func unpark(_ cookie: UInt32) -> ParkedRename? {
        // The other half is nearly always the next event.
        guard let at = parked.lastIndex(where: { $0.cookie == cookie }) else { return nil }
        return parked.remove(at: at)
    }

    /// The second half never came: it was moved outside the watched folders.
    func abandon(_ rename: ParkedRename) {
        if let node = rename.node { drop(node) }
        markSources(rename)
    }

    private func markSources(_ rename: ParkedRename) {
        for place in rename.places {
            let name = place.root.spec.name
            emit(
                rename.isFolder ? .subtree(root: name, path: place.path) : .file(root: name, path: place.path),
                for: place.root)
        }
    }

    private func paired(_ from: ParkedRename, _ places: [(root: RootWatch, path: BytePath)]) {
        if let old = from.places.first, let new = places.first, old.root.onChange == nil, new.root.onChange == nil {
            dirty.insert(
                .renamed(root: old.root.spec.name, from: old.path, toRoot: new.root.spec.name, to: new.path))
        }
        for place in places {
            let name = place.root.spec.name
            if !from.places.isEmpty, !from.places.contains(where: { $0.root === place.root }) {
                emit(.movedIn(root: name, path: place.path, isFolder: from.isFolder), for: place.root)
            }
            emit(
                from.isFolder ? .subtree(root: name, path: place.path) : .file(root: name, path: place.path),
                for: place.root)
        }
        // After the new names: files found there count as renamed, so that only the rest is gone from the old ones.
        markSources(from)
    }
}

import Glibc
import Ledger
import Logging
import Platform
import Rules
import Watching

/// Learns the names of the hidden files present, so that the ledger's entries for them have names again.
extension AgentCore {
    /// Learns them in every place where rules hide names, and in every place with hidden names in the ledger, whose
    /// rule may have been removed or may be in an invalid file. If a place is missing or does not answer, they are
    /// learned when it is scanned; until then, work on its hidden files waits.
    ///
    /// - Throws: `Fault` if the ledger cannot be read or the key for the names cannot be created.
    package func learnHiddenNames() async throws {
        let all = places.places
        let known = try await ledger.read { transaction in
            try transaction.placesWithTokens(all.map { ($0.name, $0.root) })
        }
        let rules = planner.ruleSet.rules
        let names = Set(known + rules.filter(\.hidesNames).flatMap(\.places).map(\.name))
        // Until rules say which names to hide, hide them all, so that no hidden name gets into the ledger meanwhile.
        if rules.isEmpty, !names.isEmpty { ledger.names.hide { place, _ in names.contains(place) } }
        for name in names { ledger.names.expect(in: name) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for place in all where names.contains(place.name) {
                group.addTask { try await self.learnHiddenNamesUnlessHung(of: place) }
            }
            try await group.waitForAll()
        }
    }

    private func learnHiddenNamesUnlessHung(of place: PlaceInfo) async throws {
        let pool = BlockingPool("names", threads: 1, perBulkhead: true)
        let whose = Bulkhead.place(place.name)
        let learned: Void? = try await outcome(unlessHung: whose) {
            try await Bulkhead.$current.withValue(whose) {
                try await pool.run { try self.learnHiddenNames(of: place) }
            }
        }
        guard learned == nil else { return }
        log.warning("\(StatusReport.silent(place.root, place.name)). Its hidden files wait until it responds")
    }

    /// Scans the parts of the place not yet seen. Blocks. A missing place or an unreadable folder is reported by the
    /// regular scan.
    ///
    /// - Throws: `Fault` if the key for the names cannot be created.
    func learnHiddenNames(of place: PlaceInfo) throws {
        let root: Root
        var isOwn = true
        switch try? journal.presence.look(at: place) {
        case .here(let folder)?:
            root = Root(folder, links: place.links)
        case .other(let folder)?:
            root = Root(folder, links: place.links)
            isOwn = false
        case .missing?, .inUse?, nil: return
        }
        let others = Set(places.nested(in: place).compactMap { $0.relative(to: place.root) })
        let ignore = IgnoreList(extra: configuration.ignore)
        var folders = Array(ledger.names.unseen(in: place.name))
        var unread: Set<BytePath> = []
        while let path = folders.popLast() {
            let found: [(path: BytePath, isFolder: Bool)]
            do {
                let folder = try root.folder(path)
                found = try folder.entries().map { entry in
                    let isFolder = try entry.isDirectory ?? (folder[entry.name].status()?.kind == .directory)
                    return (path.appending(name: entry.name), isFolder)
                }
            } catch let fault as Fault where fault.errno != nil {
                // The ledger holds nothing from ignored folders, so an unreadable one is no reason to wait.
                if path.isEmpty || !Self.passes.contains(fault.errno ?? 0), !ignore.ignores(anyPartOf: path) {
                    unread.insert(path)
                }
                continue
            }
            for (below, isFolder) in found {
                try ledger.names.learn(place.name, below)
                if isFolder, !others.contains(below) { folders.append(below) }
            }
        }
        if isOwn { ledger.names.setLearned(place.name, except: unread) }
    }

    /// Errors for paths that are gone or behind a symlink, and so not part of the place.
    private static let passes: Set<Int32> = [ENOENT, ENOTDIR, ELOOP, EXDEV]
}

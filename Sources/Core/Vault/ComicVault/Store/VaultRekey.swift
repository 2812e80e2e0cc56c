import Glibc
import OwnFiles
import Platform

/// The progress of a rekey.
package enum RekeyProgress: Sendable {
    /// This host's deposits, ingested first.
    case ingesting(done: Int, total: Int)
    case copying(done: UInt64, total: UInt64)
    case verifying(done: UInt64, total: UInt64)
    case removingOld
}

extension SealedVault {
    /// Ingests this host's deposits, copies everything into a new vault with new keys, and puts it in place of the old
    /// one, which is then removed: the response to a compromised password or key. Needs twice the space. An interrupted
    /// rekey resumes if it is called again with the same new credentials. Old backups still open with the old password.
    ///
    /// - Parameters:
    ///   - old: opens the existing vault.
    ///   - new: a slot for each in the new vault; the first one resumes.
    ///   - judge: validates the deposits; nil ingests none.
    ///   - progress: called often; throwing from it interrupts.
    /// - Throws: `Fault(.refused)` if this host does not know the vault to be complete (see ``requireWhole(_:)``), its
    ///   folder is a mount point, foreign or refused deposits are pending, or the old vault does not verify. Deposits
    ///   ingested before that stay comics.
    package static func rekey(
        at path: BytePath, host: HostState, old: Credential, new: [Credential], judge: (any DepositJudge)? = nil,
        progress: (RekeyProgress) throws -> Void = { _ in }
    ) throws {
        guard let first = new.first else { throw Fault(.usage, "the new vault needs a password or key file") }
        try requireRoomBeside(path)
        let source = try SealedVault(at: path, host: host)
        if try finishedBefore(source, host, with: first) { return }
        // Examined read-only, before an unlock cleans up.
        try source.requireWhole(source.examine(old))
        source.lock()
        try source.requireWhole(source.unlock(old))
        let keyFile = try source.folder.open(VaultLayout.publicKey, O_RDWR)
        guard try FileLock.acquireSoon(.exclusive, on: keyFile) else {
            throw VaultError.inUse(path, holder: Openers.describe(keyFile.path))
        }
        try source.emptyDrops(judge, progress)
        let nextHost = try HostState(nextFolder(host))
        let next = try sibling(of: path, nextHost, new, first)
        try RekeyCopy(source, next).run(progress)
        let report = try next.verify { done, total in
            try progress(.verifying(done: done, total: total))
            return true
        }
        guard report.findings.isEmpty, try next.holdsAll(of: source) else {
            throw Fault(
                .failed, "the new vault does not verify; the old one is unchanged, call rekey again", path: path)
        }
        try host.replacePins([try source.ownPin(), try next.ownPin()])
        try Durable.exchange(path, siblingPath(path))
        try progress(.removingOld)
        source.lock()
        if let mark = try nextHost.mark() { try host.replaceMark(mark) }
        try host.replaceSlots(nextHost.slots())
        try removeOld(next.id, at: path, host)
        next.lock()
        withExtendedLifetime(keyFile) {}
    }

    /// Depositors wait for the lock held in the meantime, so that no deposit arrives after this.
    private func emptyDrops(_ judge: (any DepositJudge)?, _ progress: (RekeyProgress) throws -> Void) throws {
        if let judge {
            let own = try drops().waiting.filter { $0.origin == .ownDeposit }
            for (index, drop) in own.enumerated() {
                try progress(.ingesting(done: index, total: own.count))
                do {
                    _ = try ingest(drop.id, judge: judge)
                } catch let fault as Fault {
                    throw Fault(
                        fault.kind,
                        "the deposit \(drop.id) was not ingested: \(fault.message); ingest or discard it with `steward "
                            + "vault quarantine`, and call rekey again", path: fault.path, code: fault.code)
                }
            }
        }
        let left = try folder.names(in: VaultLayout.drops)
        guard left.isEmpty else {
            throw Fault(
                .refused,
                "in \(folder.path) wait deposits not made by this host (\(left.count)); ingest or discard them "
                    + "with `steward vault quarantine`, and call rekey again", path: folder.path)
        }
    }

    /// Whether this vault has every comic of the other unchanged, and both are on disk up to the last change that this
    /// host knows of.
    private func holdsAll(of source: SealedVault) throws -> Bool {
        for vault in [source, self] { try vault.unlocked().withManifest { try $0.requireOnDisk() } }
        let (own, other) = (try state(), try source.state())
        return own.progress == other.progress && own.bookmarks == other.bookmarks
            && own.comics.mapValues(Kept.init) == other.comics.mapValues(Kept.init)
    }

    /// The part of a comic that is the same in both vaults.
    private struct Kept: Equatable {
        let name: BytePath
        let summary: ComicSummary
        let source: String
        let key: [UInt8]
        let added: Timestamp
        let parts: [ObjectKind: UInt64]

        init(_ entry: ComicEntry) {
            (name, summary, source, key, added) = (entry.name, entry.summary, entry.source, entry.key, entry.added)
            parts = Dictionary(entry.objects.map { ($0.kind, $0.length) }) { first, _ in first }
        }
    }

    /// After the folders were exchanged: the old vault is removed and forgotten.
    private static func removeOld(_ new: VaultID, at path: BytePath, _ host: HostState) throws {
        let pins = try host.pins()
        if let known = try? SealedVault(at: siblingPath(path), host: host).id, known == new {
            throw Fault(.failed, "the new vault is at \(siblingPath(path)), not at \(path); please report it")
        }
        try removeVaultFiles(siblingPath(path))
        try host.replacePins(pins.filter { $0.vault == new })
        try HostState(nextFolder(host)).removeAll()
    }

    /// Whether an earlier rekey had already exchanged the folders; if so, it is finished here.
    private static func finishedBefore(_ vault: SealedVault, _ host: HostState, with new: Credential) throws -> Bool {
        guard try host.pins().count == 2, try host.pins().last?.vault == vault.id else { return false }
        let report: UnlockReport
        do {
            report = try vault.unlock(new)
        } catch VaultError.incorrectPassword {
            throw Fault(
                .usage,
                "an earlier rekey has already given the vault new keys, and this is not its new password; "
                    + "unlock the vault with that one, and call rekey again", path: vault.folder.path)
        }
        vault.lock()
        if let old = report.keptOld {
            throw Fault(
                .refused,
                "an earlier rekey has given the vault new keys, but this host cannot confirm that it is complete; the old "
                    + "vault was kept at \(old), see `steward vault verify`", path: old)
        }
        return true
    }

    /// The mark to check this vault against: the rekey's, if this is the vault that a rekey made.
    func mark() throws -> HighWaterMark? {
        let mark = try host.mark()
        guard try isRekeyed(), mark?.vault != id else { return mark }
        return try HostState(Self.nextFolder(host)).mark()
    }

    /// Removes the notes of a rekey that died right before or after its work. Called while unlocking, with the lock
    /// held.
    func forgetRekey() throws {
        guard try !isRekeyed(), try FileStatus.of(Self.siblingPath(folder.path)) == nil else { return }
        try HostState.removeAll(at: Self.nextFolder(host))
    }

    private func isRekeyed() throws -> Bool {
        let pins = try host.pins()
        return pins.count == 2 && pins[1].vault == id
    }

    /// After the folders were exchanged: the new vault's mark becomes the host's. Called while unlocking, with the lock
    /// held.
    ///
    /// - Returns: whether a rekey has yet to be finished.
    func followRekey(_ secrets: VaultSecrets) throws -> Bool {
        guard try isRekeyed(), try isKnown(secrets) else { return false }
        if let mark = try mark(), try host.mark() != mark { try host.replaceMark(mark) }
        return true
    }

    /// Finishes a rekey that was interrupted after the exchange, unless this vault lacks anything.
    ///
    /// - Returns: the old vault's path, if it was kept.
    func finishRekey(_ report: UnlockReport) throws -> BytePath? {
        guard report.freshness == .known, report.recovery.missing.isEmpty else { return Self.siblingPath(folder.path) }
        try Self.removeOld(id, at: folder.path, host)
        return nil
    }

    static func siblingPath(_ path: BytePath) -> BytePath {
        path.parent.appending(name: path.name + Array(".rekey".utf8))
    }

    private static func nextFolder(_ host: HostState) -> BytePath { host.folder.appending("rekey") }

    private static func sibling(
        of path: BytePath, _ host: HostState, _ new: [Credential], _ first: Credential
    ) throws -> SealedVault {
        let place = siblingPath(path)
        guard try FileStatus.of(place.appending(VaultLayout.description)) != nil else {
            return try build(at: place, host: host, credentials: new)
        }
        let vault = try SealedVault(at: place, host: host)
        do {
            try vault.unlock(first)
        } catch VaultError.incorrectPassword {
            throw Fault(
                .usage,
                "a rekey was interrupted, and this is not its new password; give the correct one, or remove \(place) (the "
                    + "vault is complete without it), and call rekey again", path: place)
        }
        return vault
    }

    private func ownPin() throws -> HostPin {
        HostPin(vault: id, publicKey: try unlocked().publicKey)
    }
}

/// Copies everything that the new vault lacks.
private struct RekeyCopy {
    let source: SealedVault
    let target: SealedVault

    init(_ source: SealedVault, _ target: SealedVault) {
        self.source = source
        self.target = target
    }

    func run(_ progress: (RekeyProgress) throws -> Void) throws {
        let state = try source.state()
        let total = state.objects.reduce(0) { $0 + $1.length }
        var done: UInt64 = 0
        for entry in try source.list() {
            try progress(.copying(done: done, total: total))
            if try target.state().comics[entry.id] == nil { try copy(entry) }
            try copyReading(of: entry.id, state)
            done += entry.objects.reduce(0) { $0 + $1.length }
        }
        // Comics removed from the old vault since an interrupted rekey.
        for entry in try target.list() where state.comics[entry.id] == nil { _ = try target.remove(entry.id) }
        let renamed = try target.list().filter { state.comics[$0.id]?.name != $0.name }
        // Names may have been swapped: first move all out of the way.
        for entry in renamed { _ = try target.rename(entry.id, to: BytePath(entry.id.description)) }
        for entry in renamed {
            if let name = state.comics[entry.id]?.name { _ = try target.rename(entry.id, to: name) }
        }
        try target.consolidate()
    }

    private func copy(_ entry: ComicEntry) throws {
        let from = try source.unlocked()
        let to = try target.unlocked()
        var made: [UnnamedObject] = []
        var tag: [UInt8] = []
        for object in entry.objects {
            let reader = try source.objects.open(object, from)
            let content = ObjectContent(
                streamOf: source.folder.full(VaultLayout.object(object.id)), length: reader.length,
                identity: ContentHash(of: object.headerMAC + object.lastTag)
            ) { buffer, offset in
                let part = try reader.read(at: offset, count: buffer.count)
                part.withUnsafeBytes { buffer.copyMemory(from: $0) }
                return part.count
            }
            let unnamed = try target.objects.seal(object.kind, content, to)
            let sealed = unnamed.sealed
            if object.kind == .archive {
                guard try from.duplicateTag(sealed.hash) == entry.duplicateTag else {
                    throw VaultError.damagedObject(
                        source.folder.full(VaultLayout.object(object.id)), .content("it is another comic"))
                }
                tag = try to.duplicateTag(sealed.hash)
            }
            made.append(unnamed)
        }
        let copy = ComicEntry(
            id: entry.id, name: entry.name, objects: made.map(\.sealed.reference), summary: entry.summary,
            duplicateTag: tag, source: entry.source, key: entry.key, added: entry.added)
        try target.objects.name(made, target.host, to) { willName in
            try to.withManifest { manifest in
                var named = copy
                named.name = try manifest.state.freeName(entry.name)
                willName()
                try manifest.append(.added(named))
            }
            return ((), isNamed: true)
        }
    }

    private func copyReading(of id: ComicID, _ state: ManifestState) throws {
        let present = try target.state()
        if state.progress[id] != present.progress[id] { try target.setProgress(state.progress[id], of: id) }
        let (wanted, found) = (state.bookmarks[id] ?? [:], present.bookmarks[id] ?? [:])
        for bookmark in wanted.values where found[bookmark.page] != bookmark {
            try target.addBookmark(bookmark, to: id)
        }
        for page in found.keys where wanted[page] == nil { try target.removeBookmark(page: page, of: id) }
    }
}

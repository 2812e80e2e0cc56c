import Glibc
import Platform

/// A deposit that waits in `drop/`.
package struct DropInfo: Sendable {
    package enum Origin: Sendable {
        /// On this host's own list, and unchanged since.
        case ownDeposit
        /// Not made by this host: it is ingested only if a person approves.
        case unknown
        /// On the list, but the file has changed.
        case changed
    }

    package let id: ObjectID
    package let origin: Origin
    /// Bytes of the file.
    package let size: Int64
}

/// The deposits in `drop/`, and those that are missing.
package struct DropReport: Sendable {
    package let waiting: [DropInfo]
    /// Own deposits that are gone.
    package let missing: [HostDeposit]
    /// Names in `drop/` that are not a deposit's.
    package let strange: [BytePath]
}

/// An opened deposit, for the caller to validate: all of it is untrusted. Calls block; thread-safe.
package struct DropContent: Sendable {
    package let id: ObjectID
    package let envelope: DropEnvelope
    /// Bytes of the archive.
    package let length: Int64
    fileprivate let reader: ObjectReader
    fileprivate let start: Int64
    fileprivate let end: SessionEnd

    /// The archive's hash, as the envelope claims: the deposit is not ingested if it differs.
    package var hash: ContentHash { envelope.hash }

    /// Its name in messages.
    package var path: BytePath { BytePath("the deposit \(id)") }

    /// Fills `buffer` from `offset` in the archive, opening only the chunks it needs; fewer bytes only at its end.
    ///
    /// - Throws: ``VaultError/damagedObject(_:_:)``, ``VaultError/locked`` and other read errors.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try end.check()
        guard offset >= 0 else { return 0 }
        return try reader.read(into: buffer, at: start + offset)
    }

    /// Passes the archive on from its start, in parts valid during the call only, and checks every byte of the deposit.
    package func stream(_ sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        var skip = Int(start)
        try reader.stream { part in
            try end.check()
            let dropped = min(skip, part.count)
            skip -= dropped
            if dropped < part.count { try sink(UnsafeRawBufferPointer(rebasing: part.dropFirst(dropped))) }
        }
    }

    /// Its archive; the hash is proven when the sealed object is read back.
    fileprivate func content(_ path: BytePath) -> ObjectContent {
        ObjectContent(streamOf: path, length: length, identity: hash, hash: hash) { try read(into: $0, at: $1) }
    }

    fileprivate func hasItsHash() throws -> Bool {
        let found = BodyHash()
        try stream { found.update($0) }
        return found.finish() == hash
    }
}

/// The result of the caller's validation of a deposit.
package struct DropVerdict {
    package let name: BytePath
    package let parts: [(kind: ObjectKind, content: ObjectContent)]
    package let summary: ComicSummary

    package init(name: BytePath, parts: [(kind: ObjectKind, content: ObjectContent)], summary: ComicSummary) {
        self.name = name
        self.parts = parts
        self.summary = summary
    }
}

extension SealedVault {
    /// The pending deposits in `drop/`; also works while the vault is locked.
    package func drops() throws -> DropReport {
        let own = try host.deposits()
        var waiting: [DropInfo] = []
        var strange: [BytePath] = []
        for name in try folder.names(in: VaultLayout.drops) {
            let path = VaultLayout.drops.appending(name)
            guard let id = ObjectID(hex: name.text), let status = try folder.status(path), status.kind == .file else {
                strange.append(path)
                continue
            }
            waiting.append(DropInfo(id: id, origin: try origin(of: id, status.size, own), size: status.size))
        }
        let present = Set(waiting.map(\.id))
        let missing = own.values.filter { $0.stage != .making && !present.contains($0.drop) }.sorted {
            $0.drop < $1.drop
        }
        return DropReport(waiting: waiting, missing: missing, strange: strange)
    }

    private func origin(of id: ObjectID, _ size: Int64, _ own: [ObjectID: HostDeposit]) throws -> DropInfo.Origin {
        guard let deposit = own[id] else { return .unknown }
        guard let length = Int64(exactly: deposit.length), ObjectSize(content: length)?.file == size,
            let header = try? ObjectHeader(of: folder.open(VaultLayout.drop(id))), header.tag == deposit.headerMAC
        else { return .changed }
        return .ownDeposit
    }

    /// Ingests a deposit: validated by the caller, resealed as an object of the vault, recorded, and only then
    /// unlinked. Memory use does not depend on its size.
    ///
    /// An identical comic in the vault makes the deposit redundant only if that copy reads completely.
    ///
    /// - Parameters:
    ///   - isApproved: whether a person has approved; required for a deposit of unknown origin, or beyond the limit.
    ///   - limit: the maximum archive size in bytes; a larger deposit is refused before any of it is opened.
    ///   - validate: throws if it is not a comic; the deposit stays in place then.
    /// - Throws: `Fault(.refused)`, ``VaultError/damagedObject(_:_:)``, any error from `validate`.
    package func ingest(
        _ id: ObjectID, isApproved: Bool = false, limit: Int64 = VaultDeposit.archiveLimit,
        validate: (DropContent) throws -> DropVerdict
    ) throws -> AddOutcome {
        let session = try unlocked()
        let path = VaultLayout.drop(id)
        let file = try folder.open(path)
        let origin = try admit(id, file, isApproved, limit)
        let reader = try session.withSecrets {
            try ObjectReader(file, id, .deposit, with: .keyPair($0.keyPair, self.id))
        }
        guard let (envelope, start) = try DropEnvelope.read(reader) else {
            throw VaultError.damagedObject(file.path, .content("it does not begin with an envelope"))
        }
        let content = DropContent(
            id: id, envelope: envelope, length: reader.length - start, reader: reader, start: start, end: session.end)
        let verdict = try validate(content)
        func comic(_ key: [UInt8]) -> NewComic {
            NewComic(
                name: verdict.name, archive: content.content(file.path), hash: content.hash, parts: verdict.parts,
                summary: verdict.summary, source: envelope.source, key: key, drop: id)
        }
        let another = VaultError.damagedObject(
            file.path, .content("its archive differs from the one in its envelope"))
        do {
            var outcome = try add(comic(envelope.key), duplicates: origin == .ownDeposit ? envelope.duplicates : .skip)
            if !outcome.isNew {
                // Nothing was sealed, so the claimed hash has not been checked yet.
                guard try content.hasItsHash() else { throw another }
                if try wholeComic(content: content.hash) == nil {
                    let isKnown = try self.comic(key: envelope.key) != nil
                    outcome = try add(comic(isKnown ? [] : envelope.key), duplicates: .keep)
                }
            }
            try removeDrop(id)
            return outcome
        } catch VaultError.contentChanged(let changed) where changed == file.path {
            throw another
        }
    }

    /// Removes an unwanted deposit, or forgets a missing one.
    package func removeDrop(_ id: ObjectID) throws {
        try folder.requireStanding()
        // If the process dies between the two, the file is not reported as missing.
        if let deposit = try host.deposits()[id] { try host.remember(deposit.at(.resolved)) }
        try folder.remove(VaultLayout.drop(id))
        try folder.sync(VaultLayout.drops)
        try host.forget(id)
    }

    private func admit(
        _ id: ObjectID, _ file: Descriptor, _ isApproved: Bool, _ limit: Int64
    ) throws -> DropInfo.Origin {
        let size = try file.status().size
        // For the largest archive with the longest envelope.
        let most = ObjectSize(content: limit + Int64(4 + DropEnvelope.limit))?.file ?? .max
        guard isApproved || size <= most else {
            throw Fault(
                .refused,
                "the deposit \(id) has \(size) bytes, more than is ingested automatically; if it is a comic, ingest it "
                    + "with `steward vault quarantine take-in \(id)`",
                path: file.path, code: VaultDeposit.tooLarge)
        }
        let origin = try origin(of: id, size, host.deposits())
        switch origin {
        case .ownDeposit: break
        case .unknown where isApproved, .changed where isApproved: break
        case .unknown:
            throw Fault(
                .refused,
                "the deposit \(id) was not made by this host; it waits until `steward vault quarantine` approves it",
                path: file.path)
        case .changed:
            throw Fault(
                .refused, "the deposit \(id) differs from the one this host made; it waits for a person's decision",
                path: file.path)
        }
        return origin
    }
}

import Platform

/// An object that no comic has, set aside.
package struct QuarantinedObject: Sendable {
    package let id: ObjectID
    /// Bytes of the file.
    package let size: Int64
    /// nil if it does not open with the vault's keys.
    package let kind: ObjectKind?
}

extension SealedVault {
    package func quarantine() throws -> [QuarantinedObject] {
        let session = try unlocked()
        return try folder.names(in: VaultLayout.quarantine).compactMap { name in
            guard let id = ObjectID(hex: name.text), let status = try folder.status(VaultLayout.quarantined(id)) else {
                return nil
            }
            let kind = ObjectKind.allCases.first { (try? openQuarantined(id, $0, session)) != nil }
            try session.end.check()
            return QuarantinedObject(id: id, size: status.size, kind: kind)
        }
    }

    /// Makes a comic of an archive in the quarantine, after reading all of it.
    ///
    /// - Throws: ``VaultError/duplicate(_:_:)`` if its bytes are in the vault; ``VaultError/damagedObject(_:_:)``.
    package func adopt(
        _ id: ObjectID, as name: BytePath, summary: ComicSummary = ComicSummary()
    ) throws -> ComicEntry {
        let session = try unlocked()
        let reader = try openQuarantined(id, .archive, session)
        let hash = try reader.verify()
        let tag = try session.duplicateTag(hash)
        return try session.withManifest { manifest in
            try manifest.requireKnown()
            if let same = manifest.state.comics(duplicateTag: tag).first {
                throw VaultError.duplicate(same.id, same.name)
            }
            let entry = ComicEntry(
                id: try .random(), name: try manifest.state.freeName(name), objects: [reader.reference],
                summary: summary, duplicateTag: tag, source: "quarantine", added: .now())
            try folder.makeDirectory(VaultLayout.object(id).parent)
            guard try folder.renameNew(VaultLayout.quarantined(id), to: VaultLayout.object(id)) else {
                throw Fault(.failed, "object \(id) is in the vault already; the one in the quarantine was left there")
            }
            try manifest.append(.added(entry))
            return entry
        }
    }

    /// Destroys an object of the quarantine.
    ///
    /// - Returns: whether its header was overwritten as well; not if the file has other hard links.
    package func discardQuarantined(_ id: ObjectID) throws -> Bool {
        _ = try unlocked()
        return try objects.destroy(VaultLayout.quarantined(id))
    }

    private func openQuarantined(
        _ id: ObjectID, _ kind: ObjectKind, _ session: VaultSession
    ) throws -> ObjectReader {
        let file = try folder.open(VaultLayout.quarantined(id))
        return try session.withSecrets { try ObjectReader(file, id, kind, with: .vault($0.keys)) }
    }
}

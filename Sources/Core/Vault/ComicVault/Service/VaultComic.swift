import Platform

/// A validated comic for a vault, locked or unlocked.
package struct VaultComic: Sendable {
    /// Open for reading, as it was validated.
    package let archive: Descriptor
    /// SHA-256 of the archive, from the validating pass.
    package let hash: ContentHash
    /// A single file name.
    package let name: BytePath
    package let summary: ComicSummary
    /// A description of the source; at most 8,192 bytes.
    package let source: String
    /// The caller's idempotency key; see ``NewComic/key``.
    package let key: [UInt8]
    package let duplicates: DuplicatePolicy
    /// Makes metadata, thumbnails and page pack, at most one of each kind. Called only if the vault is unlocked; a
    /// deposit gets its parts when it is ingested.
    package let parts: @Sendable () throws -> [(kind: ObjectKind, content: ObjectContent)]

    package init(
        archive: Descriptor, hash: ContentHash, name: BytePath, summary: ComicSummary, source: String = "",
        key: [UInt8] = [], duplicates: DuplicatePolicy = .skip,
        parts: @Sendable @escaping () throws -> [(kind: ObjectKind, content: ObjectContent)] = { [] }
    ) {
        self.archive = archive
        self.hash = hash
        self.name = name
        self.summary = summary
        self.source = source
        self.key = key
        self.duplicates = duplicates
        self.parts = parts
    }
}

/// The result of an import. Either way the comic is durable, read back and verified, and its source may be removed.
package enum VaultImportOutcome: Sendable {
    /// The vault was unlocked.
    case sealed(AddOutcome)
    /// The vault is locked here: the comic is in `drop/`, sealed to the public key, and is ingested at the next unlock.
    case deposited(HostDeposit)
}

/// What an import has created in the vault's folder.
package enum VaultMade: Sendable, Equatable {
    /// The archive of a comic.
    case object(ObjectID)
    case deposit(ObjectID)
}

extension VaultService {
    /// Whether the vault at the configured folder, locked or unlocked, holds this. Checked before a source is removed.
    ///
    /// - Throws: `Fault`; `.transient` with the code ``StandingFolder/displaced`` if the vault is away.
    package nonisolated func holds(_ made: VaultMade) async throws -> Bool {
        let place = place
        do {
            return try await work.run {
                // By path, not through the folder opened when the vault was unlocked.
                let vault = try place.open()
                switch made {
                case .object(let id): return try vault.folder.status(VaultLayout.object(id))?.kind == .file
                case .deposit(let id):
                    if try vault.folder.status(VaultLayout.drop(id))?.kind == .file { return true }
                    // Ingested deposits are no longer on this host's list.
                    guard let deposit = try vault.host.deposits()[id] else { return true }
                    return deposit.stage == .resolved
                }
            }
        } catch let error as VaultError {
            throw error.fault
        }
    }

    /// Seals a comic: as an object if the vault is unlocked here, else as a deposit.
    ///
    /// - Throws: `Fault`: `.transient` during a rekey or if the content changed, `.refused` for an invalid name,
    ///   `.failed` if this host does not trust the vault, or the vault is not as this host left it.
    package func importComic(_ comic: VaultComic) async throws -> VaultImportOutcome {
        do {
            do {
                let outcome = try await use { vault in
                    try vault.add(
                        NewComic(
                            name: comic.name, archive: ObjectContent(comic.archive, hash: comic.hash), hash: comic.hash,
                            parts: comic.parts(), summary: comic.summary, source: comic.source, key: comic.key),
                        duplicates: comic.duplicates)
                }
                return .sealed(outcome)
            } catch VaultError.locked {
                return .deposited(try await deposit(comic))
            }
        } catch let error as VaultError {
            throw error.fault
        }
    }

    private nonisolated func deposit(_ comic: VaultComic) async throws -> HostDeposit {
        let place = place
        return try await work.run {
            // Throws if the vault is away, so that the import is retried later.
            _ = try place.open()
            return try VaultDeposit.seal(
                comic.archive,
                DropEnvelope(
                    name: comic.name, source: comic.source, hash: comic.hash, time: .now(), key: comic.key,
                    duplicates: comic.duplicates),
                into: place.path, host: place.hostState())
        }
    }

    /// The comic that was imported under this key, for a caller that does not know whether its import completed.
    ///
    /// - Returns: nil if there is none, and also while the vault is locked: a repeated deposit is merged with the
    ///   first.
    package func comic(key: [UInt8]) async throws -> ComicEntry? {
        do {
            return try await use { try $0.comic(key: key) }
        } catch VaultError.locked {
            return nil
        } catch let error as VaultError {
            throw error.fault
        }
    }
}

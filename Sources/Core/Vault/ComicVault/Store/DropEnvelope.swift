import OwnFiles
import Platform

/// A deposit's description of its archive. Anyone who knows the public key could have written it, so only claims that
/// the archive itself confirms are trusted.
package struct DropEnvelope: Hashable, Sendable {
    package let name: BytePath
    package let source: String
    /// Of the archive.
    package let hash: ContentHash
    package let time: Timestamp
    /// The depositor's idempotency key; see ``NewComic/key``.
    package let key: [UInt8]
    /// The policy if the vault has the same bytes. Trusted for this host's own deposits only.
    package let duplicates: DuplicatePolicy

    /// Bytes.
    static let limit = 65_536

    package init(
        name: BytePath, source: String, hash: ContentHash, time: Timestamp, key: [UInt8] = [],
        duplicates: DuplicatePolicy = .skip
    ) {
        self.name = name
        self.source = source
        self.hash = hash
        self.time = time
        self.key = key
        self.duplicates = duplicates
    }

    /// `be32 n ‖ n bytes`, in front of the archive.
    var encoded: [UInt8] {
        var encoder = RecordEncoder()
        encoder.counted(name.bytes)
        encoder.text(source)
        encoder.fixed(hash.bytes)
        encoder.integer(time.nanoseconds)
        encoder.counted(key)
        // A byte absent from older envelopes and from those that skip, so that both read the same everywhere.
        if duplicates == .keep { encoder.integer(Self.keeps) }
        return UInt32(encoder.bytes.count).bigEndianBytes + encoder.bytes
    }

    /// Reads the envelope in front of a deposit's content.
    ///
    /// - Returns: nil if there is none; else the envelope and the offset of the archive.
    static func read(_ reader: ObjectReader) throws -> (DropEnvelope, archive: Int64)? {
        let count = try reader.read(at: 0, count: 4).reduce(0) { $0 << 8 | Int($1) }
        guard reader.length >= 4, count <= limit, Int64(4 + count) <= reader.length else { return nil }
        var decoder = RecordDecoder(try reader.read(at: 4, count: count))
        do {
            let envelope = try DropEnvelope(from: &decoder)
            try decoder.end()
            try ComicEntry.check(name: envelope.name)
            return (envelope, Int64(4 + count))
        } catch is RecordDecoder.Mismatch {
            return nil
        }
    }

    private init(from decoder: inout RecordDecoder) throws {
        name = BytePath(bytes: try decoder.counted("name"))
        source = try decoder.text("source")
        guard let hash = ContentHash(bytes: try decoder.fixed("hash", 32)) else {
            throw RecordDecoder.Mismatch(field: "hash")
        }
        self.hash = hash
        time = Timestamp(nanoseconds: try decoder.integer("time"))
        key = try decoder.counted("key")
        duplicates = decoder.isAtEnd ? .skip : .keep
        guard try decoder.isAtEnd || decoder.integer("duplicates") == Self.keeps else {
            throw RecordDecoder.Mismatch(field: "duplicates")
        }
    }

    private static let keeps: UInt8 = 1

    fileprivate func check() throws {
        try ComicEntry.check(name: name)
        guard source.utf8.count <= 8192, key.count <= 8192 else {
            throw Fault(.refused, "the source of \(name) is longer than 8,192 bytes")
        }
    }
}

/// Sealing to a locked vault: with its public key alone, which this host must trust.
package enum VaultDeposit {
    /// The largest archive, in bytes, that is sealed while the vault is locked: a larger one would not be ingested at
    /// the unlock, with its source gone.
    package static let archiveLimit: Int64 = 2 << 30

    /// The ``Fault/code`` for an archive beyond ``archiveLimit``.
    package static let tooLarge = "too-large"

    /// Seals a validated archive into the vault's `drop/`. When this returns, the deposit is durable, read back,
    /// verified and on the host's list, and its source may be removed. Blocks.
    ///
    /// - Parameters:
    ///   - path: the vault's folder; opened each time, because a rekey replaces it.
    ///   - archive: open for reading, as it was validated.
    /// - Throws: `Fault(.refused)` for an archive of more than ``archiveLimit``, and ``VaultError/notTrusted(_:why:)``,
    ///   both with nothing sealed; ``VaultError/inUse(_:holder:)`` during a rekey; ``VaultError/contentChanged(_:)``;
    ///   `Fault`.
    package static func seal(
        _ archive: Descriptor, _ envelope: DropEnvelope, into path: BytePath, host: HostState
    ) throws -> HostDeposit {
        try envelope.check()
        let size = try archive.status().size
        guard size <= archiveLimit else {
            throw Fault(
                .refused,
                "it has \(size) bytes, more than the \(archiveLimit >> 30) GiB accepted while the vault is locked; "
                    + "unlock the vault and import it again", code: tooLarge)
        }
        let vault = try SealedVault(at: path, host: host)
        let folder = vault.folder
        let keyFile = try folder.open(VaultLayout.publicKey)
        guard try FileLock.acquireSoon(.shared, on: keyFile) else {
            throw VaultError.inUse(path, holder: Openers.describe(keyFile.path))
        }
        let pin = HostPin(vault: vault.id, publicKey: try keyFile.read(at: 0, count: X25519.size + 1))
        try check(pin, host, path)
        return try withExtendedLifetime(keyFile) {
            let temporary = try VaultTemporary(folder)
            let content = try ObjectContent(archive, hash: envelope.hash, prefix: envelope.encoded)
            let sealed = try ObjectWriter.seal(
                .deposit, content, for: .publicKey(pin.publicKey, pin.vault), into: temporary.file)
            FaultPoint.reach("sealed")
            try sealed.verify()
            FaultPoint.reach("verified")
            let deposit = HostDeposit(
                drop: sealed.id, vault: pin.vault, length: UInt64(sealed.length), headerMAC: sealed.headerMAC)
            // Before it is renamed into place: a deposit not on this host's list counts as foreign.
            try host.remember(deposit.at(.making))
            try temporary.become(VaultLayout.drop(sealed.id))
            try host.remember(deposit)
            return deposit
        }
    }

    /// Makes this host trust the vault at `path` for deposits. Done once, by a person who has compared
    /// ``HostPin/fingerprint`` with the one shown by the vault's own host.
    package static func trust(_ pin: HostPin, host: HostState) throws { try host.replacePins([pin]) }

    /// The vault and key at `path`, trusted or not.
    package static func offered(at path: BytePath, host: HostState) throws -> HostPin {
        let vault = try SealedVault(at: path, host: host)
        let key = try vault.folder.open(VaultLayout.publicKey).read(at: 0, count: X25519.size + 1)
        guard key.count == X25519.size else {
            throw VaultError.notAVault(path, why: "vault.pub has \(key.count) bytes instead of \(X25519.size)")
        }
        return HostPin(vault: vault.id, publicKey: key)
    }

    private static func check(_ pin: HostPin, _ host: HostState, _ path: BytePath) throws {
        let pins = try host.pins()
        if pins.contains(pin) { return }
        guard let known = pins.first else {
            throw VaultError.notTrusted(path, why: "this host does not trust the vault's key yet")
        }
        throw VaultError.notTrusted(
            path,
            why: known.vault == pin.vault
                ? "its public key differs from the one this host trusts"
                : "it is the vault \(pin.vault), and this host trusts \(known.vault)")
    }
}

extension HostPin {
    /// For comparison by people: 128 bits of a hash over vault and key, in four groups.
    package var fingerprint: String {
        let digits = ContentHash(of: vault.bytes + publicKey).description.prefix(32)
        return stride(from: 0, to: 32, by: 8).map { start in
            String(digits.dropFirst(start).prefix(8))
        }.joined(separator: "-")
    }
}

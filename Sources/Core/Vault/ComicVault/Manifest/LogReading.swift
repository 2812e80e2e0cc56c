import Platform

/// One log as found on disk.
struct LogContents: Sendable {
    let name: LogName
    /// In order; the first is ``ManifestRecord/follows(log:_:)``. Empty if not even that one is complete.
    let records: [ManifestRecord]
    /// The head after each record.
    let heads: [ManifestHead]
    /// The head before the first record.
    let start: ManifestHead
    /// The bytes after the last good record, if any.
    let rest: Rest?

    var end: ManifestHead { heads.last ?? start }

    struct Rest: Sendable {
        let damage: ManifestDamage
        let bytes: Int
        /// Whether a single torn write explains them: at most one record long, with nothing good after it.
        let mayBeTorn: Bool
    }

    /// Reads consecutive records from `start` while they verify.
    ///
    /// - Throws: ``ManifestDamage/contradiction(_:)`` if records verify but are not allowed there.
    init(_ bytes: [UInt8], name: LogName, keys: VaultKeys, after start: ManifestHead) throws {
        self.name = name
        self.start = start
        guard let header = LogHeader(bytes, name: name, vault: keys.id) else {
            records = []
            heads = []
            let limit = LogHeader.size + RecordCipher.prefixSize + RecordCipher.lengths.upperBound
            rest = Rest(damage: .header(name), bytes: bytes.count, mayBeTorn: bytes.count <= limit)
            return
        }
        let cipher = try RecordCipher(keys, log: name, salt: header.salt, form: header.form)
        var records: [ManifestRecord] = []
        var heads: [ManifestHead] = []
        var head = start
        var offset = LogHeader.size
        while let found = try cipher.open(bytes, at: offset, seq: head.seq + 1, previous: head.tag) {
            records.append(
                try Self.decode(found.plaintext, name, seq: head.seq + 1, isFirst: offset == LogHeader.size, start))
            head = ManifestHead(gen: name.gen, seq: head.seq + 1, tag: found.tag)
            heads.append(head)
            offset = found.end
        }
        self.records = records
        self.heads = heads
        rest =
            offset == bytes.count && !records.isEmpty
            ? nil
            : Rest(
                damage: .record(name, seq: head.seq + 1), bytes: bytes.count - offset,
                mayBeTorn: try !Self.goesOn(bytes, at: offset, cipher, after: head))
    }

    private static func decode(
        _ plaintext: [UInt8], _ name: LogName, seq: UInt64, isFirst: Bool, _ start: ManifestHead
    ) throws -> ManifestRecord {
        let record: ManifestRecord
        do {
            record = try ManifestRecord(decoding: plaintext)
        } catch let mismatch as RecordDecoder.Mismatch {
            throw ManifestDamage.contradiction(
                "this version cannot read the field “\(mismatch.field)” of record \(seq) in \(name)")
        }
        switch record {
        case .follows(let log, let head):
            guard isFirst, head == start, log == (name.n == 0 ? nil : name.n - 1) else {
                throw ManifestDamage.contradiction("record \(seq) in \(name) names another predecessor than it has")
            }
        default:
            guard !isFirst else {
                throw ManifestDamage.contradiction("the first record in \(name) does not name its predecessor")
            }
        }
        return record
    }

    /// Whether good records, or more bytes than a single write can leave, follow the bad one at `offset`.
    private static func goesOn(
        _ bytes: [UInt8], at offset: Int, _ cipher: RecordCipher, after head: ManifestHead
    ) throws -> Bool {
        if bytes.count - offset > RecordCipher.prefixSize + RecordCipher.lengths.upperBound { return true }
        if let end = RecordCipher.end(of: bytes, at: offset), end < bytes.count { return true }
        // The bad record's length may itself be wrong, so search: a good record after it is sealed with the 16 bytes
        // before it.
        let first = offset + RecordCipher.prefixSize + RecordCipher.lengths.lowerBound
        guard first < bytes.count else { return false }
        return try (first..<bytes.count).contains { next in
            // Most offsets have no valid length.
            guard RecordCipher.end(of: bytes, at: next) != nil else { return false }
            return try cipher.open(bytes, at: next, seq: head.seq + 2, previous: Array(bytes[(next - 16)..<next]))
                != nil
        }
    }

    /// The one of `heads` that the log in `bytes` continues from, if it does not continue this chain's end.
    static func origin(
        of bytes: [UInt8], name: LogName, keys: VaultKeys, among heads: some Sequence<ManifestHead>
    ) throws -> ManifestHead? {
        guard let header = LogHeader(bytes, name: name, vault: keys.id) else { return nil }
        let cipher = try RecordCipher(keys, log: name, salt: header.salt, form: header.form)
        return try heads.first(where: {
            try cipher.open(bytes, at: LogHeader.size, seq: $0.seq + 1, previous: $0.tag) != nil
        })
    }
}

/// The first 72 bytes of a log: magic, vault, gen, n, salt. They are authenticated by every record's key.
struct LogHeader: Sendable {
    static let size = 8 + 16 + 8 + 8 + 32

    /// 32 bytes.
    let salt: [UInt8]
    let form: LogForm

    private static func fixed(_ form: LogForm, _ name: LogName, _ vault: VaultID) -> [UInt8] {
        form.magic + vault.bytes + name.gen.bigEndianBytes + name.n.bigEndianBytes
    }

    /// nil if `bytes` do not begin like the log of this name.
    init?(_ bytes: [UInt8], name: LogName, vault: VaultID) {
        guard bytes.count >= Self.size,
            let form = LogForm.allCases.first(where: { bytes.starts(with: Self.fixed($0, name, vault)) })
        else { return nil }
        self.form = form
        salt = Array(bytes[(Self.size - 32)..<Self.size])
    }

    init(salt: [UInt8], form: LogForm = .padded) {
        self.salt = salt
        self.form = form
    }

    func encoded(_ name: LogName, _ vault: VaultID) -> [UInt8] { Self.fixed(form, name, vault) + salt }
}

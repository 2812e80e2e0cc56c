import Glibc
import Platform

/// A log that this process has begun and appends to; a log read from disk is never appended to. Not thread-safe;
/// everything blocks.
final class RecordLog {
    let name: LogName
    private(set) var head: ManifestHead
    /// Bytes.
    private(set) var size: Int64
    /// After a failed write or sync the file's end is unknown, and nothing more is written to it.
    private(set) var isBroken = false

    private let folder: SealedVaultFolder
    private let file: Descriptor
    private let cipher: RecordCipher

    /// Creates the file with its first record, and syncs file and folder.
    ///
    /// - Parameter head: of the previous log, or of the snapshot.
    /// - Throws: `Fault` with errno EEXIST if the log exists.
    init(_ name: LogName, in folder: SealedVaultFolder, keys: VaultKeys, after head: ManifestHead) throws {
        let header = LogHeader(salt: try SecureRandom.bytes(32))
        let cipher = try RecordCipher(keys, log: name, salt: header.salt)
        let first = ManifestRecord.follows(log: name.n == 0 ? nil : name.n - 1, head)
        let sealed = try cipher.seal(first.encoded, seq: head.seq + 1, previous: head.tag)
        let bytes = header.encoded(name, keys.id) + sealed
        file = try folder.create(VaultLayout.log(name))
        do {
            try file.write(bytes, at: 0)
            try file.sync()
            try folder.sync(VaultLayout.manifest)
        } catch {
            // Nothing depends on it yet; its name stays free for the next attempt.
            try? folder.withdraw(VaultLayout.log(name))
            throw error
        }
        self.folder = folder
        self.name = name
        self.head = ManifestHead(gen: name.gen, seq: head.seq + 1, tag: Array(sealed.suffix(AESGCM.tagSize)))
        self.cipher = cipher
        size = Int64(bytes.count)
    }

    /// Appends one record durably.
    ///
    /// - Throws: `Fault`. Unless the record is too long, the log is broken then: the record may or may not be there.
    func append(_ record: ManifestRecord) throws {
        guard !isBroken else {
            throw Fault(.failed, "the manifest's \(name) could not be written before; please report this")
        }
        let sealed = try cipher.seal(record.encoded, seq: head.seq + 1, previous: head.tag)
        try folder.requireStanding()
        do {
            try file.write(sealed, at: size)
            try file.sync()
            // Before the host's mark advances: a record in a folder that was moved away does not count.
            try folder.requireStanding()
        } catch {
            isBroken = true
            // Only cleanup: the next reader drops any remains of the record beyond the mark.
            ftruncate(file.raw, Int(size))
            throw error
        }
        head = ManifestHead(gen: name.gen, seq: head.seq + 1, tag: Array(sealed.suffix(AESGCM.tagSize)))
        size += Int64(sealed.count)
    }
}

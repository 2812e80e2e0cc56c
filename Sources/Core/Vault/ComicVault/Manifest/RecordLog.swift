import Glibc
import Platform

/// A log that this process has begun and appends to; nobody ever appends to one that was read from the disk.
/// For one thread at a time; everything here blocks.
final class RecordLog {
    let name: LogName
    private(set) var head: ManifestHead
    /// Bytes.
    private(set) var size: Int64
    /// After a failed write or sync the file's end is unknown, and no more is written to it.
    private(set) var isBroken = false

    private let folder: SealedVaultFolder
    private let file: Descriptor
    private let cipher: RecordCipher

    /// Makes the file, with its first record; file and folder are synced.
    ///
    /// - Parameter head: of the log before, or of the snapshot.
    /// - Throws: `Fault` with errno EEXIST where the log exists.
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
            // Nothing rests on it yet; its name stays free for the next attempt.
            try? folder.withdraw(VaultLayout.log(name))
            throw error
        }
        self.folder = folder
        self.name = name
        self.head = ManifestHead(gen: name.gen, seq: head.seq + 1, tag: Array(sealed.suffix(AESGCM.tagSize)))
        self.cipher = cipher
        size = Int64(bytes.count)
    }

    /// Appends one record; it is on the disk when this returns.
    ///
    /// - Throws: `Fault`. Unless the record is too long the log is broken then: the record may or may not be there.
    func append(_ record: ManifestRecord) throws {
        guard !isBroken else {
            throw Fault(.failed, "the manifest's \(name) could not be written before; please report this")
        }
        let sealed = try cipher.seal(record.encoded, seq: head.seq + 1, previous: head.tag)
        try folder.requireStanding()
        do {
            try file.write(sealed, at: size)
            try file.sync()
            // Before the host's mark follows it: a record in a folder that was moved away does not count.
            try folder.requireStanding()
        } catch {
            isBroken = true
            // Only tidiness: what is left of the record beyond the mark is dropped by the next reader.
            ftruncate(file.raw, Int(size))
            throw error
        }
        head = ManifestHead(gen: name.gen, seq: head.seq + 1, tag: Array(sealed.suffix(AESGCM.tagSize)))
        size += Int64(sealed.count)
    }
}

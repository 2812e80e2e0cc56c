import Glibc
import Platform

/// What a full check of a vault has found.
package struct VerifyReport: Sendable {
    package struct Finding: Sendable {
        package let entry: ComicEntry
        package let object: ObjectReference
        package let error: VaultError
    }

    package internal(set) var objects = 0
    /// Bytes of content that verified.
    package internal(set) var bytes: UInt64 = 0
    package internal(set) var findings: [Finding] = []
    /// Objects that no comic has: the next start moves them to the quarantine.
    package internal(set) var unknown: [ObjectID] = []
    package internal(set) var strange: [BytePath] = []
    /// The check was ended before its end.
    package internal(set) var isPartial = false
}

extension Vault {
    /// Opens one of a comic's objects for reading at any place.
    ///
    /// - Throws: ``VaultError/noSuchComic(_:)`` also where the comic has none of that kind.
    package func open(_ kind: ObjectKind, of id: ComicID) throws -> ObjectReader {
        let session = try unlocked()
        guard let reference = try comic(id).object(kind) else {
            throw VaultError.noSuchComic("\(id) with \(kind)")
        }
        return try objects.open(reference, session)
    }

    /// Writes a comic's archive out of the vault, in the clear; durable and verified when it returns.
    ///
    /// - Parameter target: where it exists already, the file is called `name (1).cbz` and so on.
    /// - Returns: where it is.
    package func extract(_ id: ComicID, to target: BytePath) throws -> BytePath {
        let reader = try open(.archive, of: id)
        let temporary = try Durable.stage([], for: target, mode: 0o600)
        do {
            let file = try Descriptor(temporary, O_WRONLY)
            var offset: Int64 = 0
            try reader.stream { part in
                try file.write(part, at: offset)
                offset += Int64(part.count)
            }
            try file.sync()
            for name in Mover.alternatives(target) where try Durable.renameNew(temporary, to: name) { return name }
            throw Fault(.failed, "no free name for \(target)", path: target)
        } catch {
            try? Durable.remove(temporary)
            throw error
        }
    }

    /// Reads every byte of every object and compares it with the manifest.
    ///
    /// - Parameter progress: called before each object with the bytes done and those in all; false ends the check.
    package func verify(progress: (_ done: UInt64, _ total: UInt64) throws -> Bool = { _, _ in true }) throws
        -> VerifyReport
    {
        let session = try unlocked()
        let entries = try list()
        let total = entries.flatMap(\.objects).reduce(0) { $0 + $1.length }
        var report = VerifyReport()
        var done: UInt64 = 0
        for entry in entries {
            for object in entry.objects {
                guard try progress(done, total) else {
                    report.isPartial = true
                    return report
                }
                do {
                    let hash = try objects.open(object, session).verify()
                    if object.kind == .archive, try session.duplicateTag(hash) != entry.duplicateTag {
                        throw VaultError.damagedObject(
                            folder.full(VaultLayout.object(object.id)), .content("it is another comic"))
                    }
                    report.bytes += object.length
                } catch let error as VaultError {
                    // A comic that was removed meanwhile is not damaged.
                    if try session.withManifest({ $0.state.comics[entry.id] }) != nil {
                        report.findings.append(.init(entry: entry, object: object, error: error))
                    }
                }
                report.objects += 1
                done += object.length
            }
        }
        _ = try progress(done, total)
        // What is added meanwhile has its name before it has its record.
        let (present, strange) = try objects.present()
        let known = Set(entries.flatMap(\.objects).map(\.id))
        let state = try state()
        report.unknown = present.subtracting(known).filter { state.comic(owning: $0) == nil }.sorted()
        report.strange = strange
        return report
    }
}

import Glibc
import Platform

/// The result of a full check of a vault.
package struct VerifyReport: Sendable {
    package struct Finding: Sendable {
        package let entry: ComicEntry
        package let object: ObjectReference
        package let error: VaultError
    }

    /// Problems other than damaged objects of comics.
    package enum Problem: Sendable {
        /// An older copy of the vault, or another branch of its history.
        case rolledBack(mark: ManifestHead, disk: ManifestHead)
        /// This host has no mark of the vault: whether it is the newest copy is unknown.
        case unknownAge
        /// A log ends in an incomplete record.
        case tornTail(LogName, bytes: Int)
        /// An earlier log ends in bytes that are not a record.
        case junk(LogName)
        /// The manifest now on disk cannot be read.
        case manifest(VaultError)
        case slot(VaultError)
        /// `vault.pub` does not hold the vault's key.
        case publicKey
        case deposit(ObjectID, VaultError)
        /// Differs from what this host sealed.
        case changedDeposit(ObjectID)
        /// This host's, and missing.
        case missingDeposit(ObjectID)
        /// It belongs to no comic, and waits in the quarantine.
        case quarantined(ObjectID)
    }

    package internal(set) var objects = 0
    /// Bytes of content that verified.
    package internal(set) var bytes: UInt64 = 0
    package internal(set) var findings: [Finding] = []
    package internal(set) var problems: [Problem] = []
    /// Objects of no comic: the next start moves them to the quarantine.
    package internal(set) var unknown: [ObjectID] = []
    /// Names that the vault does not use.
    package internal(set) var strange: [BytePath] = []
    /// The check was ended early.
    package internal(set) var isPartial = false
}

extension SealedVault {
    /// Reads every byte of every object and deposit, and checks manifest, slots and public key against this host's
    /// records. Nothing is changed.
    ///
    /// - Parameter progress: called before each object with the bytes done and the total; false ends the check.
    package func verify(progress: (_ done: UInt64, _ total: UInt64) throws -> Bool = { _, _ in true }) throws
        -> VerifyReport
    {
        let session = try unlocked()
        let entries = try list()
        let drops = try drops()
        let total =
            entries.flatMap(\.objects).reduce(0) { $0 + $1.length }
            + drops.waiting.reduce(0) { $0 + UInt64(clamping: $1.size) }
        var report = VerifyReport()
        report.problems = try manifestProblems(session) + keyProblems(session)
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
                    // A comic removed in the meantime is not damaged.
                    if try session.withManifest({ $0.state.comics[entry.id] }) != nil {
                        report.findings.append(.init(entry: entry, object: object, error: error))
                    }
                }
                report.objects += 1
                done += object.length
            }
        }
        for drop in drops.waiting {
            guard try progress(done, total) else {
                report.isPartial = true
                return report
            }
            if let problem = try depositProblem(drop, session, &report) { report.problems.append(problem) }
            done += UInt64(clamping: drop.size)
        }
        report.problems += drops.missing.map { .missingDeposit($0.drop) }
        _ = try progress(done, total)
        try lookAround(entries, &report)
        report.strange += drops.strange
        return report
    }

    private func manifestProblems(_ session: VaultSession) throws -> [VerifyReport.Problem] {
        let mark = try mark()
        do {
            return try session.withManifest { manifest in
                let reading = try manifest.onDisk(mark)
                let uneven =
                    reading.junk.map(VerifyReport.Problem.junk)
                    + (reading.tornTail.map { [.tornTail($0.log, bytes: $0.bytes)] } ?? [])
                switch reading.freshness {
                case .known where reading.head == manifest.head: return uneven
                case .known: return [.rolledBack(mark: manifest.head, disk: reading.head)] + uneven
                case .firstUse: return [.unknownAge] + uneven
                case .rolledBack(let mark, let disk): return [.rolledBack(mark: mark, disk: disk)] + uneven
                }
            }
        } catch VaultError.locked {
            throw VaultError.locked
        } catch let error as VaultError {
            return [.manifest(error)]
        }
    }

    private func keyProblems(_ session: VaultSession) throws -> [VerifyReport.Problem] {
        let slots: [VerifyReport.Problem] = try slots().compactMap { $0.damage.map { .slot($0) } }
        return slots + (isPublicKeyRight(session.publicKey) ? [] : [.publicKey])
    }

    private func depositProblem(
        _ drop: DropInfo, _ session: VaultSession, _ report: inout VerifyReport
    ) throws -> VerifyReport.Problem? {
        if drop.origin == .changed { return .changedDeposit(drop.id) }
        do {
            let file = try folder.open(VaultLayout.drop(drop.id))
            let reader = try session.withSecrets {
                try ObjectReader(file, drop.id, .deposit, with: .keyPair($0.keyPair, id))
            }
            _ = try reader.verify()
            report.objects += 1
            report.bytes += UInt64(clamping: reader.length)
            return nil
        } catch VaultError.locked {
            throw VaultError.locked
        } catch let error as VaultError {
            return .deposit(drop.id, error)
        } catch let fault as Fault where fault.errno == ENOENT {
            // Ingested in the meantime.
            return nil
        } catch {
            return .deposit(drop.id, .decryptionFailed(underlying: error))
        }
    }

    /// Finds files that belong to no comic.
    private func lookAround(_ entries: [ComicEntry], _ report: inout VerifyReport) throws {
        // Additions in flight are renamed into place before they are recorded.
        let (present, strange) = try objects.present()
        let known = Set(entries.flatMap(\.objects).map(\.id) + (try host.sealing().values.joined()))
        let state = try state()
        report.unknown = present.subtracting(known).filter { state.comic(owning: $0) == nil }.sorted()
        report.strange = strange
        for name in try folder.names(in: VaultLayout.quarantine) {
            if let id = ObjectID(hex: name.text) {
                report.problems.append(.quarantined(id))
            } else {
                report.strange.append(VaultLayout.quarantine.appending(name))
            }
        }
    }
}

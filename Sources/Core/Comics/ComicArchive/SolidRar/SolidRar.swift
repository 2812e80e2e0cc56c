import OwnFiles
import Platform
import Sandbox

/// A solid RAR 4, which libarchive cannot read, as a ZIP in memory.
///
/// It takes three processes, none of which can write a file: the worker reports the headers' claims, `unar` outputs the
/// concatenated contents of all files, and the worker reads the ZIP as it would the archive. The code between them, in
/// the agent, parses nothing: it counts bytes and inserts the headers' claims between them. These include the
/// checksums, so that reading the ZIP finds any error in the contents.
struct SolidRar {
    let worker: ArchiveWorker
    let file: Descriptor
    /// If they are withheld, the ZIP has placeholders for them.
    let names: EntryNames

    private var path: BytePath { file.path }

    /// Blocks.
    ///
    /// - Throws: ``ComicRefusal``; `Fault` for a problem of the machine, such as too little memory.
    func unpacked() throws -> UnpackedRar {
        let (claims, end) = try claims()
        let zip = try MemoryFile.filled(claims.total, path) { put in
            var contents = RarContents(claims.entries)
            try contents.begin(put)
            let outcome = try unar(file).stream { try contents.consume($0, put) }
            if let refusal = try refusal(outcome, contents, claims) { throw refusal }
            try contents.finish(put)
        }
        return UnpackedRar(zip: zip, structure: Self.plain(claims.structure), end: end)
    }

    private func claims() throws -> (RarClaims, WorkerEnd) {
        var claims = RarClaims()
        let outcome = try worker.process(.file(file), ["claims"] + names.words).run { claims.consume($0) }
        if let obstacle = try worker.obstacle(outcome, path) { throw obstacle }
        let isEncrypted = claims.entries.contains(where: \.header.isEncrypted)
        // Whether further volumes follow is checked once this one has been read.
        guard case .finished(let end) = outcome, end.reason == .complete || end.message == ArchiveStructure.noEnd,
            !isEncrypted
        else {
            let encrypted = WorkerProcess.Outcome.finished(WorkerEnd(reason: .unreadable, message: "encrypted"))
            throw ComicRefusal(isEncrypted ? encrypted : outcome, Self.plain(claims.structure))
        }
        guard claims.total <= ArchiveLimits.maxSolidRarSize else {
            throw ComicRefusal(.tooManyBytes, Self.tooLarge)
        }
        if claims.total > ArchiveLimits.ratioFloor, claims.total / ArchiveLimits.maxRatio > (try file.status().size) {
            throw ComicRefusal(.ratio, ArchiveJudge.message(.ratio))
        }
        return (claims, end)
    }

    private func unar(_ file: Descriptor) throws -> WorkerProcess {
        let size = try file.status().size
        return WorkerProcess(
            program: worker.executable, archive: .file(file), arguments: ["unar"] + worker.unar,
            timeout: 2 * worker.limits.timeout(for: size), limits: worker.limits.sized(for: size), pass: worker.pass)
    }

    /// Why the contents do not match the headers' claims.
    private func refusal(
        _ outcome: WorkerProcess.Outcome, _ contents: RarContents, _ claims: RarClaims
    ) throws -> ComicRefusal? {
        switch outcome {
        case .vanished(WorkerStatus.notInstalled): return ComicRefusal(.solid, Self.notInstalled)
        case .vanished(WorkerStatus.notCaged):
            throw Fault(.failed, "\(path) was not examined: \(Self.notCaged)", path: path)
        // It also complains about checksums, which are compared when the contents are read.
        case .vanished where contents.isWhole: return nil
        case .vanished:
            let text = "only \(contents.count) of its \(claims.total) bytes can be unpacked; fetch the file again"
            return ComicRefusal(.damagedArchive, text)
        case .stopped:
            return ComicRefusal(.damagedArchive, "it unpacks to more than its headers say; fetch the file again")
        default:
            if let obstacle = try outcome.obstacle(path, works: works) { throw obstacle }
            return ComicRefusal(outcome, Self.plain(claims.structure))
        }
    }

    /// Whether the program, given nothing, exits normally.
    private func works() throws -> Bool {
        let outcome = try unar(Descriptor("/dev/null")).stream { _ in true }
        return if case .vanished = outcome { true } else { false }
    }

    /// As for a readable archive: being solid is no reason for a refusal.
    private static func plain(_ structure: ArchiveStructure) -> ArchiveStructure {
        ArchiveStructure(format: structure.format, traits: structure.traits.subtracting(.solid))
    }

    static let notInstalled =
        "it is a solid RAR 4 archive, which is unpacked with unar, which is not installed; install it (Debian, Ubuntu: "
        + "`apt install unar`) and put the file in again, or pack its pages again as CBZ"
    static let notCaged =
        "the program that unpacks solid RAR archives could not be locked down, which takes a kernel with Landlock and "
        + "seccomp; `steward doctor` says more"
    private static let tooLarge =
        "it is a solid RAR 4 archive that unpacks to more than \(ArchiveLimits.maxSolidRarSize >> 20) MiB; pack its pages "
        + "again as CBZ"
}

/// A solid RAR 4 that was unpacked.
struct UnpackedRar {
    /// Sealed; one entry for each of the archive's, in its order.
    let zip: Descriptor
    /// The structure of the archive itself.
    let structure: ArchiveStructure
    /// How reading the archive ended.
    let end: WorkerEnd

    /// Translates the worker's record about the ZIP into one about the archive.
    func told(_ record: WorkerRecord) -> WorkerRecord {
        switch record {
        case .structure: return .structure(structure)
        case .header(var header):
            header.place = nil
            return .header(header)
        case .content(var content):
            // Entries are stored: their bytes can have no other defect.
            if content.state == .damaged { content.message = "its checksum differs from the one in its header" }
            return .content(content)
        case .bytes, .order, .end: return record
        }
    }

    func ended(_ outcome: WorkerProcess.Outcome) -> WorkerProcess.Outcome {
        outcome.isComplete ? .finished(end) : outcome
    }
}

extension Verdict {
    /// An accepted archive is reported as a solid one.
    var ofSolid: Verdict {
        guard case .accepted(var report) = self else { return self }
        report.isSolid = true
        return .accepted(report)
    }
}

extension ArchiveWorker {
    /// A solid RAR 4 as a ZIP in memory; nil if the archive is not one. Blocks.
    ///
    /// - Throws: like ``SolidRar/unpacked()``.
    func unpackedRar(_ archive: ArchiveSource, _ names: EntryNames = .told) throws -> UnpackedRar? {
        guard try archive.isSolidRar() else { return nil }
        // unar reads the file itself.
        let file =
            switch archive {
            case .file(let file): file
            case .asked(let asked): try asked.inMemory()
            }
        return try SolidRar(worker: self, file: file, names: names).unpacked()
    }

    /// The archive in a form that the worker can read: itself, or the ZIP unpacked from a solid RAR 4, which can be
    /// reused. Positions are those of the archive. Blocks.
    ///
    /// - Throws: `Fault` (`.refused` if it cannot be unpacked).
    package func readable(_ archive: ArchiveSource) throws -> ArchiveSource {
        do {
            return try unpackedRar(archive).map { .file($0.zip) } ?? archive
        } catch let refusal as ComicRefusal {
            throw Fault(
                .refused, "\(archive.path): \(refusal.message)", path: archive.path, code: refusal.reason.rawValue)
        }
    }

    /// Whether the program that unpacks solid RAR 4 archives is installed.
    package static var unpacksSolidRar: Bool { SolidUnpacker.isInstalled }
}

import Glibc
import Platform
import Sandbox

/// How a damaged page is treated.
package enum ValidationMode: String, Sendable, Codable, CaseIterable {
    /// The archive is refused, and the page named.
    case strict
    /// The archive is accepted, and the damage recorded.
    case lenient
}

/// Makes a verdict from a worker's records. It recounts everything: the worker read hostile bytes.
struct ArchiveJudge {
    let mode: ValidationMode
    let path: BytePath
    let fingerprint: Fingerprint

    private var structure = ArchiveStructure(format: .unknown, traits: [])
    private var headers = 0
    private var namesLength = 0
    private var totalSize: Int64 = 0
    /// The page or metadata file whose content must come next.
    private var awaited: (header: EntryHeader, role: EntryRole)?
    /// The position of a damaged header, whose defect must be reported next.
    private var unreadable: Int?
    private var pages: [(header: EntryHeader, content: EntryContent)] = []
    private var pagePaths: Set<[UInt8]> = []
    private var metadata: [FoundMetadata] = []
    private var metadataBytes: [UInt8] = []
    private var skipped: [SkippedEntry] = []
    private var damage: [String] = []
    /// The reading order of an EPUB.
    private var order: EpubOrder?
    private var refusal: (RefusalReason, String)?

    init(mode: ValidationMode, path: BytePath, fingerprint: Fingerprint) {
        self.mode = mode
        self.path = path
        self.fingerprint = fingerprint
    }

    /// - Returns: false once the verdict is final; the worker is then stopped.
    mutating func consume(_ record: WorkerRecord) -> Bool {
        switch record {
        case .structure(let found): structure = found
        case .header(let header): consume(header)
        case .content(let content): consume(content)
        case .bytes(let position, let bytes): consume(bytes, at: position)
        case .order(let found):
            let fits = order == nil && awaited == nil && unreadable == nil && found.fits(headers)
            if !fits { refuse(.workerNonsense, "the unpacking process lost count of the entries") }
            order = found
        case .end: break
        }
        return refusal == nil
    }

    private mutating func refuse(_ reason: RefusalReason, _ message: String) {
        if refusal == nil { refusal = (reason, message) }
    }

    private mutating func consume(_ header: EntryHeader) {
        guard header.position == headers, awaited == nil, unreadable == nil, order == nil else {
            return refuse(.workerNonsense, "the unpacking process lost count of the entries")
        }
        headers += 1
        namesLength += header.path.count
        if headers > ArchiveLimits.maxHeaderCount { return refuse(.tooManyHeaders, Self.message(.tooManyHeaders)) }
        if namesLength > ArchiveLimits.maxNamesLength { return refuse(.badName, Self.message(.tooManyNames)) }
        let name = BytePath(bytes: header.path)
        let role = EntryRole(of: header)
        unreadable = header.kind == .unreadable ? header.position : nil
        switch role {
        case .refused(let reason, let what):
            return refuse(reason, EntryRole.refusal(name, what))
        case .skipped(let reason):
            if unreadable == nil { skipped.append(SkippedEntry(path: name, reason: reason)) }
        case .page, .metadata:
            if header.isEncrypted {
                return refuse(.encrypted, "\(name) is encrypted; unpack it with its password and pack it again without")
            }
            awaited = (header, role)
            metadataBytes = []
        }
    }

    private mutating func consume(_ bytes: [UInt8], at position: Int) {
        guard let awaited, awaited.header.position == position, awaited.role == .metadata else {
            return refuse(.workerNonsense, "the unpacking process sent bytes that were not asked for")
        }
        metadataBytes += bytes
        // The worker stops one buffer past the limit.
        if Int64(metadataBytes.count) > ArchiveLimits.maxMetadataSize + 262_144 {
            refuse(
                .workerNonsense,
                "the unpacking process sent more of \(BytePath(bytes: awaited.header.path)) than it may")
        }
    }

    private mutating func consume(_ content: EntryContent) {
        guard let (header, role) = awaited else {
            guard content.position == unreadable else {
                return refuse(.workerNonsense, "the unpacking process answered for what was not asked for")
            }
            unreadable = nil
            damage.append("entry \(content.position + 1) cannot be read: \(content.message)")
            return
        }
        awaited = nil
        let name = BytePath(bytes: header.path)
        guard content.position == header.position, content.size >= 0 else {
            return refuse(.workerNonsense, "the unpacking process lost count of the entries")
        }
        let (sum, overflow) = totalSize.addingReportingOverflow(content.size)
        totalSize = sum
        if overflow || totalSize > ArchiveLimits.maxTotalUncompressedSize {
            return refuse(.tooManyBytes, Self.message(.tooManyBytes))
        }
        if role == .page ? header.claimsTooMuch : content.state == .oversize {
            skipped.append(SkippedEntry(path: name, reason: .oversize))
            if content.state != .oversize {
                damage.append("\(name) has \(content.size) bytes where its header claims \(header.declaredSize)")
            }
            return
        }
        if role == .metadata {
            if content.state == .damaged {
                damage.append("\(name) is damaged: \(content.message)")
            } else if content.size != Int64(metadataBytes.count) {
                refuse(.workerNonsense, "the unpacking process lost count of the bytes of \(name)")
            } else if metadata.count < ArchiveLimits.maxMetadataFiles {
                metadata.append(FoundMetadata(path: name, bytes: metadataBytes))
            }
            return
        }
        guard pagePaths.insert(header.path).inserted else {
            skipped.append(SkippedEntry(path: name, reason: .duplicateName))
            return
        }
        var content = content
        if content.state == .oversize {
            (content.state, content.message) = (
                .damaged, "it has more bytes than its header claims and a page may have"
            )
        } else if content.size > ArchiveLimits.maxUncompressedEntrySize {
            return refuse(.workerNonsense, "the unpacking process let \(name) pass its limit")
        }
        pages.append((header, content))
        if pages.count > ArchiveLimits.maxEntryCount { refuse(.tooManyPages, Self.message(.tooManyPages)) }
        if content.state == .damaged || !content.message.isEmpty {
            let text =
                "the page \(name) is damaged: \(content.message.isEmpty ? "its bytes are not what was packed" : content.message)"
            damage.append(text)
            guard mode == .strict else { return }
            if UnsupportedPacking.isNamed(in: content.message) {
                refuse(.unsupported, "the page \(name) \(UnsupportedPacking.text(content.message))")
            } else {
                refuse(.damagedPage, "\(text); fetch the file again, or import it leniently")
            }
        }
    }
}

extension ArchiveJudge {
    /// The final verdict, once the worker has exited.
    func verdict(_ outcome: WorkerProcess.Outcome) -> Verdict {
        if let (reason, message) = refusal { return .refused(reason: reason, message: "\(path): \(message)") }
        if outcome.isComplete, awaited != nil || unreadable != nil {
            let text = "\(path): the unpacking process left an entry out"
            return .refused(reason: .workerNonsense, message: text)
        }
        if order?.isEncrypted == true {
            return .refused(reason: .encrypted, message: "\(path): \(Self.encryptedMessage)")
        }
        var damage = damage
        if outcome != .finished(WorkerEnd(reason: .complete, message: "")) {
            var (reason, message) = Self.reason(of: outcome, structure)
            if [.damagedArchive, .notAnArchive].contains(reason), Self.isPart(path.name) {
                (reason, message) = (.multiVolume, Self.multiVolumeMessage)
            }
            guard mode == .lenient, [.damagedArchive, .unsupported].contains(reason), !pages.isEmpty else {
                return .refused(reason: reason, message: "\(path): \(message)")
            }
            damage.append(message)
        }
        if mode == .strict, let foreign = damage.first(where: UnsupportedPacking.isNamed) {
            return .refused(reason: .unsupported, message: "\(path): \(foreign); pack its pages again as CBZ")
        }
        if mode == .strict, let first = damage.first {
            return .refused(reason: .damagedArchive, message: "\(path): \(first); fetch the file again")
        }
        guard pages.contains(where: { $0.content.state == .whole && $0.content.message.isEmpty }) else {
            let text = "\(path): it holds no page that can be shown (JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF)"
            return .refused(reason: .noPages, message: text)
        }
        if mode == .strict, let first = order?.damage.first {
            let text = "\(path): \(first); fetch the file again, or import it leniently"
            return .refused(reason: .damagedArchive, message: text)
        }
        return .accepted(report(damage, suspicion: Self.suspicion(outcome)))
    }

    /// The suspected damage of every page without a message of its own, if the archive's stream is damaged.
    private static func suspicion(_ outcome: WorkerProcess.Outcome) -> String? {
        guard case .finished(let end) = outcome, end.reason == .damagedStream else { return nil }
        return message(.damagedStream)
    }

    private func report(_ damage: [String], suspicion: String?) -> ComicReport {
        let natural = PageOrder.sorted(pages) { $0.header.path }
        let ordered = order?.sorted(natural) { $0.header.position } ?? natural
        let shown = Set(ordered.map(\.header.position))
        let unshown = natural.filter { !shown.contains($0.header.position) }.map {
            SkippedEntry(path: BytePath(bytes: $0.header.path), reason: .notInSpine)
        }
        let reports = ordered.enumerated().map { index, page in
            let content = page.content
            let entry = ArchiveEntry(header: page.header, size: content.size, index: index)
            let isDamaged = content.state == .damaged || !content.message.isEmpty
            let hash = isDamaged && content.state == .damaged ? nil : content.hash
            return PageReport(
                entry: entry, hash: hash, image: content.image,
                damage: isDamaged ? (content.message.isEmpty ? "damaged" : content.message) : suspicion,
                place: page.header.place)
        }
        return ComicReport(
            format: order == nil ? structure.format : .epub, isSolid: structure.traits.contains(.solid), pages: reports,
            metadata: metadata, skipped: skipped + unshown, damage: damage + (order?.damage ?? []),
            headerCount: headers, totalSize: totalSize, fingerprint: fingerprint)
    }

    /// The reason to refuse the archive after a failed run.
    static func reason(of outcome: WorkerProcess.Outcome, _ structure: ArchiveStructure) -> (RefusalReason, String) {
        switch outcome {
        case .finished(let end): return reason(of: end, structure)
        case .killed(let signal) where signal == SIGXCPU || signal == SIGKILL:
            return (.workerLimit, "unpacking it took more time or memory than any comic needs; pack it again as CBZ")
        case .killed(SIGSYS):
            return (.workerCrashed, "it made the unpacking process do what it must not; do not open it elsewhere")
        case .killed(let signal):
            return (.workerCrashed, "it made the unpacking process crash (signal \(signal)); pack it again as CBZ")
        case .timedOut, .stalled, .halted: return (.workerLimit, "unpacking it took too long; pack it again as CBZ")
        case .vanished, .mute, .stopped, .nonsense:
            return (.workerNonsense, "the unpacking process gave no sensible answer; pack it again as CBZ")
        }
    }

    private static func reason(of end: WorkerEnd, _ structure: ArchiveStructure) -> (RefusalReason, String) {
        let traits = structure.traits
        switch end.reason {
        case .overlap: return (.overlap, message(.overlap))
        case .ratio: return (.ratio, message(.ratio))
        case .tooManyHeaders: return (.tooManyHeaders, message(.tooManyHeaders))
        case .tooManyNames: return (.badName, message(.tooManyNames))
        case .tooManyPages: return (.tooManyPages, message(.tooManyPages))
        case .tooManyBytes: return (.tooManyBytes, message(.tooManyBytes))
        case .noCage: return (.workerCrashed, "the unpacking process could not be locked down: \(end.message)")
        case .complete: return (.noPages, "it holds no such entry")
        case .damagedStream where UnsupportedPacking.isNamed(in: end.message):
            return (.unsupported, "it \(UnsupportedPacking.text(end.message))")
        case .damagedStream: return (.damagedArchive, message(.damagedStream) + "; fetch the file again")
        case .unreadable: break
        }
        if traits.contains(.multiVolume) {
            return (.multiVolume, multiVolumeMessage)
        }
        if !traits.isDisjoint(with: [.encrypted, .encryptedHeaders]) || end.message == "encrypted"
            || end.message.lowercased().contains("encrypt")
        {
            return (.encrypted, "it is encrypted; unpack it with its password and pack it again without")
        }
        if structure.format == .unknown {
            let names = ArchiveFormat.archiveNames.alternatives
            return (.notAnArchive, "it is no \(names) archive, or its beginning is damaged")
        }
        if structure.format == .rar, traits.contains(.solid) {
            return (.solid, "it is a solid RAR 4 archive, which cannot be read here; pack its pages again as CBZ")
        }
        if end.message == ArchiveStructure.noEnd {
            let advice = "fetch it again; if it is the same, its program wrote none: pack its pages again as CBZ"
            return (.unsupported, "\(end.message); \(advice)")
        }
        if UnsupportedPacking.isNamed(in: end.message) {
            return (.unsupported, "it \(UnsupportedPacking.text(end.message))")
        }
        let detail = end.message.isEmpty ? "" : " (\(end.message))"
        return (.damagedArchive, "the archive cannot be read to its end\(detail); fetch the file again")
    }

    private static let encryptedMessage =
        "its pages are encrypted by the shop that sold it (DRM), so that only the shop's own program shows them; get "
        + "it without"
    private static let multiVolumeMessage = "it is one part of several; join the parts and pack the pages again as CBZ"

    /// Whether it is named like a part of a multi-volume archive whose bytes do not show that: `.7z.001`, `.z01`,
    /// `.r00`.
    private static func isPart(_ name: [UInt8]) -> Bool {
        let ending = name.suffix(4).map { $0 }
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        guard ending.count == 4, ending[0] == UInt8(ascii: "."), isDigit(ending[2]), isDigit(ending[3]) else {
            return false
        }
        return isDigit(ending[1]) || [0x7A, 0x5A, 0x72, 0x52].contains(ending[1])
    }

    static func message(_ reason: WorkerEnd.Reason) -> String {
        switch reason {
        case .tooManyHeaders: "it has more than \(ArchiveLimits.maxHeaderCount) entries; split it"
        case .tooManyNames: "its names take more than \(ArchiveLimits.maxNamesLength >> 20) MiB; rename what is in it"
        case .tooManyPages: "it has more than \(ArchiveLimits.maxEntryCount) pages; split it"
        case .tooManyBytes: "it unpacks to more than \(ArchiveLimits.maxTotalUncompressedSize >> 30) GiB; split it"
        case .ratio: "it unpacks to more than \(ArchiveLimits.maxRatio) times its size, as a bomb does"
        case .overlap: "its entries share bytes, as in a bomb; no honest program packs so"
        case .damagedStream: "its compressed bytes are damaged or cut short, so that any of its pages may be wrong"
        case .complete, .unreadable, .noCage: "it cannot be read"
        }
    }
}

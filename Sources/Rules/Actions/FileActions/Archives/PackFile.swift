import ComicArchive
import Glibc
import Platform
import Rules

/// Packs the file, or the whole folder, into an archive. The archive is read back before it counts.
struct PackFile: DecidingAction {
    enum Source: String, Sendable, CaseIterable {
        case keep, trash
    }

    struct Intent: Codable, Sendable, Equatable {
        let placement: FilePlacement
        let format: PackFormat
        /// Seconds since 1970 and permission bits, as the archive records them.
        let modified: Int64
        let mode: UInt32
        /// nil if the source stays.
        let trashed: TrashedFile?
    }

    static let declaration = ActionDeclaration(
        name: "pack",
        summary:
            "Packs the file, or the whole folder with its hidden names, into an archive of its own. What was packed is "
            + "unpacked again and compared before the archive gets its name. The same file gives the same bytes. A folder "
            + "that holds links or devices, or more than \(ArchiveLimits.maxHeaderCount) names, is not packed. Names are kept "
            + "byte for byte; one that is not UTF-8 goes into a `\(PackFormat.forAnyName)` only.",
        guarantee: .exactlyOnce, work: .cpu, canUndo: true, takes: .both,
        parameters: [
            ParameterSpec(
                "format", .choice(PackFormat.allCases.map(\.rawValue)), default: "zip",
                PackFormat.allCases.map { "`\($0.rawValue)` \($0.advantage)" }.joined(separator: ", ")),
            DestinationParameters.place, DestinationParameters.folder,
            ParameterSpec(
                "name", .template, "the archive's name; the file's own with the format's ending where it is not given"),
            ParameterSpec(
                "exists", .choice(["rename", "skip", "replace"]), default: "rename",
                "what to do where the name is taken: `rename` takes `name (1).zip`, `skip` packs nothing, `replace` puts "
                    + "the old one in the trash"),
            ParameterSpec(
                "source", .choice(Source.allCases.map(\.rawValue)), default: Source.keep.rawValue,
                "`keep` leaves the file; `trash` puts it into the trash once the archive is on the disk and compared"),
        ],
        provides: PlacementValues.specs, example: "pack: { format: tar.zst, place: archive, source: trash }")

    private let arguments: Arguments
    private let services: ArchiveServices

    init(_ arguments: Arguments, _ services: ArchiveServices) throws {
        try arguments.checkDestination()
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        let format = try arguments.choice("format", as: PackFormat.self)
        var name = try arguments.name(input)
        if !arguments.has("name") { name = Mover.cut(name, 240) + Array(".\(format.rawValue)".utf8) }
        let placement = try await FilePlacement.decide(
            input, root: arguments.root(input), folder: arguments.folder(input), name: name,
            isFixed: arguments.fixedParts(), exists: arguments.choice("exists", as: ExistsPolicy.self),
            pool: services.placing.files)
        let isTrashed = try arguments.choice("source", as: Source.self) == .trash
        return try await services.placing.files.run { [trash = services.trash] in
            let status =
                placement.isFolder == true
                ? try input.files.folder(placement.source).status() : try input.files.file(placement.source).status()
            return Intent(
                placement: placement, format: format,
                modified: Timestamp(nanoseconds: status.fingerprint.modified).wholeSeconds,
                mode: UInt32(status.mode & 0o777),
                trashed: isTrashed ? try TrashedFile(of: input, in: trash) : nil)
        }
    }

    func work(for intent: Intent) -> any Primitive {
        let (services, placement) = (services, intent.placement)
        return MadeFile(
            placement, services.placing, on: services.pool, nothing: "packed nothing", trashed: intent.trashed
        ) {
            "packed \(placement.source) into \($0)"
        } verifier: {
            try Self.packing(intent, services, $0.files).verify
        } stage: { context in
            try await services.pool.run {
                let packing = try Self.packing(intent, services, context.files)
                let staged = try Durable.stage(
                    for: context.files.entry(placement.destination.target), mode: mode_t(intent.mode & 0o666 | 0o600),
                    record: services.journal.staging(context.stepID)
                ) { put in
                    try packing.pack(put)
                }
                return (staged, packing.verify)
            }
        }
    }

    func summary(of intent: Intent) -> String {
        "pack \(intent.placement.source) into \(intent.placement.destination.target)"
            + (intent.trashed == nil ? "" : ", then put it into the trash")
    }

    // MARK: Packing

    /// Writes the archive and verifies it.
    private struct Packing {
        let pack: (_ put: ([UInt8]) throws -> Void) throws -> Void
        let verify: MadeFile.Verify
    }

    private static func packing(
        _ intent: Intent, _ services: ArchiveServices, _ files: HeldFiles
    ) throws -> Packing {
        let (placement, format) = (intent.placement, intent.format)
        if placement.isFolder == true {
            let move = FolderMove(
                source: placement.source, fingerprint: placement.fingerprint, contents: placement.hash)
            let (_, folder) = try move.found(files)
            let tree = try PackedTree(folder, at: placement.source)
            try tree.check(for: format)
            let (worker, rawNames) = (try services.worker(for: tree.size), tree.hasRewrittenNames)
            return Packing(
                pack: { try worker.pack(tree: tree.asked(files), as: format, rawNames: rawNames, $0) },
                verify: { try tree.verify($0, worker, folder, files) })
        }
        if let obstacle = format.obstacle(to: placement.source.name) {
            throw PackedTree.unkept(placement.source, obstacle, format)
        }
        _ = try files.judged(placement.source)
        let file = try files.present(placement.source)
        let worker = try services.worker(for: file.status().size)
        let entry = PackedEntry(name: placement.source.name, modified: intent.modified, mode: intent.mode)
        return Packing(
            pack: { try worker.pack(file, as: format, entry, $0) },
            verify: { try verify($0, entry, placement, worker) })
    }

    /// Unpacks the archive again: it must hold this one file with the judged bytes.
    private static func verify(
        _ archive: Descriptor, _ entry: PackedEntry, _ placement: FilePlacement, _ worker: ArchiveWorker
    ) throws {
        var names: [[UInt8]] = []
        var hasher = StreamingHash()
        try worker.unpack(archive, isOwn: true) { part in
            switch part {
            case .entry(let header): names.append(header.path)
            case .bytes(let bytes): hasher.update(bytes)
            case .end: break
            }
        }
        let hash = hasher.finish()
        guard names == [entry.name], hash == placement.hash else {
            let isNamed = names == [entry.name]
            let found = names.map { BytePath(bytes: $0).description }.joined(separator: ", ")
            throw Fault(
                isNamed ? .superseded : .failed,
                "the packed copy of \(placement.source) differs from the examined file, so it was not kept"
                    + (isNamed ? "" : ": it is called \(found) in it"), path: placement.source)
        }
    }
}

extension Timestamp {
    /// Seconds since 1970, the resolution of archives.
    fileprivate var wholeSeconds: Int64 { nanoseconds / 1_000_000_000 }
}

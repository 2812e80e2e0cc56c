import ComicArchive
import Glibc
import Platform
import Rules

/// Unpacks an archive into a new folder. The locked-down worker decodes it; the agent writes the output.
struct UnpackArchive: DecidingAction {
    struct Intent: Codable, Sendable, Equatable {
        let placement: FilePlacement
    }

    static let declaration = ActionDeclaration(
        name: "unpack",
        summary:
            "Unpacks an archive (\(ArchiveFormat.archiveNames.alternatives); a TAR also with gzip, bzip2, xz or Zstandard) "
            + "into a new folder. It is read in a locked-down process. The folder appears whole, or not at all. Refused are "
            + "archives that are encrypted or damaged, that hold links, devices, or names which lead elsewhere, more than "
            + "\(ArchiveLimits.maxHeaderCount) entries or \(ArchiveLimits.maxTotalUncompressedSize >> 30) GiB, or that "
            + "grow more than \(ArchiveLimits.maxRatio)-fold. Modes and times of the entries do not come along. The "
            + "archive stays; a step `trash` after it takes it away.",
        guarantee: .exactlyOnce, work: .cpu, canUndo: true,
        parameters: [
            DestinationParameters.place, DestinationParameters.folder,
            ParameterSpec(
                "name", .template, "the new folder's name; the archive's own without its ending where it is not given"),
            ParameterSpec(
                "exists", .choice([ExistsPolicy.rename.rawValue, ExistsPolicy.skip.rawValue]), default: "rename",
                "what to do where the name is taken: `rename` takes `name (1)`, `skip` unpacks nothing"),
            ParameterSpec(
                "unwrap", .boolean, default: "true",
                "whether a single folder that holds all the rest is left out"),
        ],
        provides: PlacementValues.specs + [ValueSpec("unpack.files", "how many files there are in it")],
        example: "unpack: { folder: unpacked }")

    private let arguments: Arguments
    private let services: ArchiveServices
    private let unwraps: Bool

    init(_ arguments: Arguments, _ services: ArchiveServices) throws {
        try arguments.checkDestination()
        self.arguments = arguments
        self.services = services
        unwraps = try arguments.bool("unwrap")
    }

    func intent(for input: StepInput) async throws -> Intent {
        var name = try arguments.name(input)
        if !arguments.has("name") { name = Self.stem(of: BytePath(bytes: name)) }
        let placement = try await FilePlacement.decide(
            input, root: arguments.root(input), folder: arguments.folder(input), name: name,
            isFixed: arguments.fixedParts(), exists: arguments.choice("exists", as: ExistsPolicy.self),
            pool: services.placing.files)
        return Intent(placement: placement)
    }

    func work(for intent: Intent) -> any Primitive {
        let source = intent.placement.source
        return MadeFolder(
            intent.placement, services.placing, on: services.pool, by: "unpack",
            skipped: { Receipt("unpacked nothing: \($0) is there already", values: Self.values($0, 0)) },
            receipt: { path, count in
                Receipt(
                    "unpacked \(count) \(count == 1 ? "file" : "files") of \(source) into \(path)",
                    values: Self.values(path, count))
            }, nothing: "nothing had been unpacked", fill: fill)
    }

    func summary(of intent: Intent) -> String {
        "unpack \(intent.placement.source) into \(intent.placement.destination.target)"
    }

    private static func values(_ path: BytePath, _ count: Int) -> Values {
        PlacementValues.of(path).merging(["unpack.files": .integer(count)]) { $1 }
    }

    /// Unpacks into a new staging folder.
    ///
    /// - Returns: the entry to become the new folder: the staging folder, or the only folder in it.
    private func fill(_ staging: DirectoryEntry, _ archive: Descriptor) throws -> DirectoryEntry {
        let modes = TreeWriter.Modes(of: try archive.status().mode)
        guard try staging.makeDirectory(mode: modes.folder) else {
            throw Fault(.transient, "\(staging.path) is in the way", path: staging.path)
        }
        let folder = try staging.open(O_RDONLY | O_DIRECTORY)
        var writer = TreeWriter(folder, of: archive.path, modes)
        try services.worker(for: archive.status().size).unpack(archive) { try writer.take($0) }
        guard writer.count > 0 else {
            throw Fault(
                .refused, "\(archive.path) holds no file, so that there is nothing to unpack", path: archive.path)
        }
        try writer.finish()
        let names = try Folder(folder).entries().map(\.name)
        guard unwraps, names.count == 1, let only = names.first else { return staging }
        let inner = Folder(folder)[only]
        return try inner.status()?.kind == .directory ? inner : staging
    }

    /// The name without its endings: `a.tar.gz` becomes `a`.
    private static func stem(of name: BytePath) -> [UInt8] {
        let stem = BytePath(bytes: name.stemAndExtension.stem)
        let (inner, ending) = stem.stemAndExtension
        return ending.map { String(decoding: $0, as: UTF8.self).lowercased() } == "tar" ? inner : stem.bytes
    }
}

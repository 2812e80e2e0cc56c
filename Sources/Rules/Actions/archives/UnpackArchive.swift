import ComicArchive
import FilePlacing
import Glibc
import Platform
import Rules

/// Unpacks an archive into a new folder, in the locked-down worker: the agent writes what it hands over.
struct UnpackArchive: RuleAction {
    struct Intent: Codable, Sendable, Equatable {
        let placement: FilePlacement
    }

    static let declaration = ActionDeclaration(
        name: "unpack",
        summary:
            "Unpacks an archive (ZIP, 7z, RAR, TAR with gzip, bzip2, xz or Zstandard) into a new folder. It is read in a "
            + "locked-down process. The folder appears whole, or not at all. Refused are archives that are encrypted or "
            + "damaged, that hold links, devices, or names which lead elsewhere, more than "
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
            lanes: services.placing.files)
        return Intent(placement: placement)
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        if intent.placement.destination.skips { return Self.skipped(intent) }
        return try await services.lanes.run { try unpack(intent.placement, context) }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        if intent.placement.destination.skips { return .done(Self.skipped(intent)) }
        return try await services.lanes.run {
            try services.journal.presence.require(intent.placement.destination.target)
            return try finished(intent.placement, context).map { .done($0) } ?? .notDone
        }
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let parent = intent.placement.destination.target.parent
        guard case .created(let first, _, _)? = receipt.effects.first,
            let name = first.relative(to: parent)?.components.first
        else { return Receipt("nothing had been unpacked") }
        let path = parent.appending(name: name)
        return try await services.lanes.run {
            let spot = try context.files.spotIfAny(path)
            if context.resumesUndo, try spot?.status() == nil { return Self.trashed(path, receipt) }
            guard let folder = try spot?.openFolder(), try Self.isUnchanged(folder, receipt, path) else {
                throw Fault(.failed, "\(path) is gone or has been changed since; it was left as it is", path: path)
            }
            try services.trash.putFolder(path, mark: intent.placement.hash.description.prefix(8), context.files)
            return Self.trashed(path, receipt)
        }
    }

    func targets(of intent: Intent) -> [BytePath] { [intent.placement.destination.target] }

    func summary(of intent: Intent) -> String {
        "unpack \(intent.placement.source) into \(intent.placement.destination.target)"
    }

    // MARK: Unpacking

    private func unpack(_ placement: FilePlacement, _ context: StepContext) throws -> Receipt {
        let (target, files) = (placement.destination.target, context.files)
        try services.journal.makeFolders(for: target, files)
        if let done = try finished(placement, context) { return done }
        let archive = try placement.opened(files)
        let staging = try Self.staging(placement, context)
        // What a step that was cut off has left: its name is that of this step alone.
        try FolderTree.remove(staging)
        do {
            let product = try fill(staging, archive)
            return try place(product, staging, placement, context)
        } catch {
            // What went wrong is the news; what stays has a name of the agent's own.
            try? FolderTree.remove(staging)
            throw error
        }
    }

    /// Unpacks into a new folder of the agent's own.
    ///
    /// - Returns: what is to become the new folder: that one, or the one that holds all the rest.
    private func fill(_ staging: Spot, _ archive: Descriptor) throws -> Spot {
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

    private func place(
        _ product: Spot, _ staging: Spot, _ placement: FilePlacement, _ context: StepContext
    ) throws -> Receipt {
        let folder = try product.open(O_RDONLY | O_DIRECTORY)
        // Not under its own name: a file of such a name would be taken for a leftover, and removed.
        let name = staging.path.appending("product")
        try services.journal.recordStaged(name, folder.identity(), step: context.stepID)
        do {
            for path in placement.destination.candidates {
                guard try Durable.renameNew(product, to: context.files.spot(path)) else { continue }
                try FolderTree.remove(staging)
                return try Self.receipt(placement, path, Folder(folder))
            }
        } catch {
            // One that got its name, and could not be synced, is still the step's.
            if (try? product.status()) != nil { try? forget(staging, name, context) }
            throw error
        }
        try forget(staging, name, context)
        throw placement.destination.taken(
            .noFreeName(for: placement.destination.target.description, path: placement.source))
    }

    /// Removes what got no name, and forgets it then.
    private func forget(_ staging: Spot, _ name: BytePath, _ context: StepContext) throws {
        try FolderTree.remove(staging)
        try services.journal.recordStaged(name, nil, step: context.stepID)
    }

    /// The receipt, if the folder is there: the very one that this step has filled.
    private func finished(_ placement: FilePlacement, _ context: StepContext) throws -> Receipt? {
        let found = try placement.destination.product(services.journal, context)
        guard let (path, status) = found, status.kind == .directory,
            let folder = try context.files.spot(path).openFolder()
        else { return nil }
        // Its wrapper may have stayed, when the agent was stopped just then.
        try FolderTree.remove(Self.staging(placement, context))
        return try Self.receipt(placement, path, folder)
    }

    /// Where the archive is unpacked, beside its destination: the same name each time for one step.
    private static func staging(_ placement: FilePlacement, _ context: StepContext) throws -> Spot {
        let name = Durable.temporaryName(for: ContentHash(of: Array("unpack \(context.stepID)".utf8)))
        return try context.files.spot(placement.destination.target.parent.appending(name))
    }

    private static func receipt(_ placement: FilePlacement, _ path: BytePath, _ folder: Folder) throws -> Receipt {
        let files = try FolderTree.files(folder)
        return Receipt(
            "unpacked \(files.count) \(files.count == 1 ? "file" : "files") of \(placement.source) into \(path)",
            values: PlacementValues.of(path).merging(["unpack.files": .integer(files.count)]) { $1 },
            effects: files.map { .created(path.appending($0.path), $0.fingerprint, $0.hash) })
    }

    private static func skipped(_ intent: Intent) -> Receipt {
        let target = intent.placement.destination.target
        return Receipt(
            "unpacked nothing: \(target) is there already",
            values: PlacementValues.of(target).merging(["unpack.files": .integer(0)]) { $1 })
    }

    // MARK: Taking back

    private static func isUnchanged(_ folder: Folder, _ receipt: Receipt, _ path: BytePath) throws -> Bool {
        let made = receipt.effects.compactMap { effect -> FolderTree.File? in
            guard case .created(let file, let fingerprint, let hash) = effect, let below = file.relative(to: path)
            else {
                return nil
            }
            return FolderTree.File(path: below, fingerprint: fingerprint, hash: hash)
        }
        let now = try FolderTree.files(folder)
        return now.map(\.path) == made.map(\.path) && now.map(\.hash) == made.map(\.hash)
    }

    private static func trashed(_ path: BytePath, _ receipt: Receipt) -> Receipt {
        let files = receipt.effects.compactMap { effect -> FileEffect? in
            if case .created(let file, _, _) = effect { .removed(file) } else { nil }
        }
        return Receipt("put \(path) into the trash", effects: files)
    }

    /// The name without its endings: `a.tar.gz` is `a`.
    private static func stem(of name: BytePath) -> [UInt8] {
        let stem = BytePath(bytes: name.stemAndExtension.stem)
        let (inner, ending) = stem.stemAndExtension
        return ending.map { String(decoding: $0, as: UTF8.self).lowercased() } == "tar" ? inner : stem.bytes
    }
}

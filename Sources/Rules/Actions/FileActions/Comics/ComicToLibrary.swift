import ComicArchive
import Platform
import Rules

/// Intent to import a comic into a library folder.
struct LibraryImport: Codable, Sendable, Equatable {
    let placement: FilePlacement
    /// The folder to search for copies.
    let library: BytePath
    let keepsSource: Bool
    let skipsCopies: Bool
    /// The same comic in the library, as seen at decision time. The search is repeated when the import is carried out.
    let copy: BytePath?
    /// The source's place in the trash if the library already has the comic.
    let trashed: TrashedFile
    let values: Values

    var summary: String {
        let source = placement.source
        if let copy { return "import nothing: \(copy) is the same comic as \(source)" }
        return "import \(source) as \(placement.destination.target)"
    }
}

/// `import-comic` with a `place`: a template decides where a judged comic goes.
struct ComicToLibrary: Sendable {
    typealias Intent = LibraryImport

    private let arguments: Arguments
    private let services: ComicServices

    /// - Throws: ``ArgumentFault``.
    init(_ arguments: Arguments, _ services: ComicServices) throws {
        for name in ["folder", "name"] where arguments.has(name) {
            if try arguments.template(name).text.split(separator: "/").contains("..") {
                throw ArgumentFault(name, "`..` would lead out of the library; give a path within it")
            }
        }
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        let report = try await ComicExaminer(services, arguments).examine(input)
        guard let hash = input.file.hash else { throw ComicExaminer.gone(input) }
        let place = try arguments.place("place")
        let type = ComicNames.type(of: report.format, claimed: input.file.path.name)
        let values = ComicValues(
            report, KnownMetadata(report.metadata, of: input.file.path), hash: hash, format: type
        ).values
        let known = input.values.merging(values) { $1 }
        let asked = try arguments.has("name") ? ComicNames.name(arguments.pathText("name", values: known)) : nil
        var target = (
            folder: ComicNames.folder(try arguments.pathText("folder", values: known)),
            name: ComicNames.name(asked ?? input.file.path.name, as: type)
        )
        // Jobs planned before `portable` existed lack the argument.
        if arguments.has("portable"), try arguments.bool("portable") {
            let wanted = target
            let shelf = PortableShelf(root: place.root, files: input.files)
            // A comic that is already in its place stays there.
            if place.root.appending(wanted.folder).appending(name: wanted.name) != input.file.absolute {
                target = try await services.files.run { try shelf.fit(wanted.folder, wanted.name) }
            }
        }
        let placement = try await FilePlacement.decide(
            input, root: place.root, folder: target.folder, name: target.name, isFixed: arguments.fixedParts(),
            exists: .rename, pool: services.files)
        let skipsCopies = try arguments.choice("duplicates") == "skip"
        let copies = ComicCopies(services, in: place.root, input.files)
        let trash = services.trash
        let size = report.fingerprint.size
        return try await services.files.run {
            Intent(
                placement: placement, library: place.root,
                keepsSource: try arguments.choice("source") == "keep", skipsCopies: skipsCopies,
                copy: skipsCopies ? try copies.find(hash, size: size, besides: placement.source) : nil,
                trashed: try TrashedFile(of: input, in: trash), values: values)
        }
    }
}

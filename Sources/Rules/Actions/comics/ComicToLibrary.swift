import ComicArchive
import FilePlacing
import Platform
import Rules

/// A comic that goes into a library folder, decided.
struct LibraryImport: Codable, Sendable, Equatable {
    let placement: FilePlacement
    /// The folder in which copies are looked for.
    let library: BytePath
    let keepsSource: Bool
    let skipsCopies: Bool
    /// The same comic in the library, seen when this was decided; looked for again when it is carried out.
    let copy: BytePath?
    /// Where the source goes if the library has the comic already.
    let trashed: TrashedFile
    let values: Values
}

/// `import-comic` with a `place`: puts a judged comic where a template says, once.
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
        // Jobs that were planned before there was a choice have none.
        if arguments.has("portable"), try arguments.bool("portable") {
            let wanted = target
            let shelf = PortableShelf(root: place.root, files: input.files)
            // Where the comic lies in its place already, it stays.
            if place.root.appending(wanted.folder).appending(name: wanted.name) != input.file.absolute {
                target = try await services.files.run { try shelf.fit(wanted.folder, wanted.name) }
            }
        }
        let placement = try await FilePlacement.decide(
            input, root: place.root, folder: target.folder, name: target.name, isFixed: arguments.fixedParts(),
            exists: .rename, lanes: services.files)
        let skipsCopies = try arguments.choice("duplicates") == "skip"
        let copies = copies(in: place.root, input.files)
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

    // MARK: Carrying it out

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        try await services.comics.shelving(in: intent.library) {
            if let done = try finished(intent, context) { return done }
            if let copy = try copy(intent, context.files) {
                return skipped(
                    intent, copy, intent.keepsSource ? nil : try intent.trashed.put(services.placing, context))
            }
            let receipt = try placing(intent).carryOut(context)
            switch receipt.effects.first {
            case .created(let path, let print, let hash), .moved(_, let path, let print, let hash):
                services.comics.placed.add(hash, path)
                services.comics.read.add(hash, print)
            default: break
            }
            return receipt
        }
    }

    private func copies(in library: BytePath, _ files: HeldFiles) -> ComicCopies {
        ComicCopies(
            library: library, files: files, journal: services.journal, placed: services.comics.placed,
            read: services.comics.read)
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        try await services.comics.shelving(in: intent.library) {
            if let done = try finished(intent, context) { return .done(done) }
            return .notDone
        }
    }

    /// Takes the comic back to where it came from, or a duplicate out of the trash.
    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .moved(_, let to, _, _)? = receipt.effects.first else {
            return try await ProductRemoval(services: services.placing).undo(receipt, context)
        }
        let back = PuttingBack(services: services.placing, context: context)
        return try await services.files.run {
            to == intent.trashed.slot
                ? try back.restoreFromTrash(receipt.effects.first) : try back.move(receipt.effects.first)
        }
    }

    static func summary(of intent: Intent) -> String {
        let source = intent.placement.source
        if let copy = intent.copy { return "import nothing: \(copy) is the same comic as \(source)" }
        return "import \(source) as \(intent.placement.destination.target)"
    }

    static func forecast(of intent: Intent) -> Forecast {
        if intent.copy != nil { return Forecast(intent.keepsSource ? [] : [.trashes]) }
        return intent.keepsSource ? intent.placement.copying : intent.placement.moving
    }

    private func finished(_ intent: Intent, _ context: StepContext) throws -> Receipt? {
        if !intent.keepsSource, let there = try intent.trashed.found(services.placing, context) {
            return skipped(intent, try copy(intent, context.files) ?? intent.copy ?? intent.library, there)
        }
        return try placing(intent).finished(context)
    }

    private func copy(_ intent: Intent, _ files: HeldFiles) throws -> BytePath? {
        guard intent.skipsCopies else { return nil }
        return try copies(in: intent.library, files).find(
            intent.placement.hash, size: intent.placement.fingerprint?.size ?? 0, besides: intent.placement.source)
    }

    private func placing(_ intent: Intent) -> Placing {
        let source = intent.placement.source
        let keeps = intent.keepsSource
        let receipt = { @Sendable (placed: Mover.Placed) in
            Receipt(
                "imported \(source) as \(placed.path)\(placed.losses)", values: values(intent, placed.path, "imported"),
                effects: [
                    keeps
                        ? .created(placed.path, placed.fingerprint, placed.hash)
                        : .moved(source, to: placed.path, placed.fingerprint, placed.hash)
                ])
        }
        let there = { @Sendable in
            Receipt("left \(source) where it is: it is in its place", values: values(intent, source, "there already"))
        }
        return keeps
            ? intent.placement.copying(services.placing, .forGood, receipt: receipt, skipped: there)
            : intent.placement.moving(services.placing, .forGood, receipt: receipt, skipped: there)
    }

    private func skipped(_ intent: Intent, _ copy: BytePath, _ placed: Mover.Placed?) -> Receipt {
        let source = intent.placement.source
        return Receipt(
            "\(copy) is the same comic; \(source) was \(placed == nil ? "left where it is" : "put into the trash")",
            values: values(intent, copy, "there already"),
            effects: placed.map { [.moved(source, to: $0.path, $0.fingerprint, $0.hash)] } ?? [])
    }

    private func values(_ intent: Intent, _ path: BytePath, _ outcome: String) -> Values {
        let more: Values = [
            "comic.outcome": .text(outcome), "comic.path": .text((path.relative(to: intent.library) ?? path).text),
        ]
        return intent.values.merging(more) { $1 }.merging(PlacementValues.of(path)) { $1 }
    }
}

import ComicArchive
import Glibc
import Platform
import Rules

/// Takes a comic into a library: judged in the locked-down worker first, then put where a template says, once.
struct ImportComic: RuleAction {
    struct Intent: Codable, Sendable, Equatable {
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

    static let declaration = ActionDeclaration(
        name: "import-comic",
        summary: "Judges a comic archive in a locked-down process, then takes it into a folder of a library. "
            + "What is harmful, damaged or no comic is refused.",
        guarantee: .exactlyOnce, work: .cpu, canUndo: true,
        parameters: [
            ParameterSpec("place", .place, default: "library", "the place that is the library"),
            ParameterSpec(
                "folder", .template, default: "{{ comic.series | default: \"Unknown series\" }}",
                "a folder of that place, made if missing; parts that are empty are left out, values cannot lead out of it"
            ),
            ParameterSpec(
                "name", .template,
                "the new name; the file's own where it is not given. It gets the ending that the content has: a RAR that "
                    + "is called `.cbz` becomes `.cbr`. Where it is taken, the comic becomes `name (1).cbz`"),
            ParameterSpec(
                "damaged", .choice(["refuse", "keep"]), default: "refuse",
                "a comic of which pages are damaged: `refuse` it, or `keep` it and say so in `comic.damage`"),
            ParameterSpec(
                "duplicates", .choice(["skip", "keep"]), default: "skip",
                "a comic whose very content the library holds already: `skip` it, whatever it is called, or `keep` both"
            ),
            ParameterSpec(
                "source", .choice(["remove", "keep"]), default: "remove",
                "`remove` moves the file, and puts a duplicate into the trash; `keep` copies it, and leaves a duplicate"
            ),
        ],
        provides: ComicValues.specs + [
            ValueSpec("comic.outcome", "`imported`, or `there already` for a duplicate that was skipped"),
            ValueSpec("comic.path", "where it lies, below the library"),
        ] + PlacementValues.specs,
        example: "import-comic: { place: library, folder: \"{{ comic.publisher }}/{{ comic.series }}\" }")

    private let arguments: Arguments
    private let services: ActionServices

    init(_ arguments: Arguments, _ services: ActionServices) throws {
        for name in ["folder", "name"] where arguments.has(name) {
            if try arguments.template(name).text.split(separator: "/").contains("..") {
                throw ArgumentFault(name, "`..` would lead out of the library; give a path within it")
            }
        }
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> Intent {
        let report = try await validated(input)
        guard let hash = input.file.hash else { throw Self.gone(input) }
        let place = try arguments.place("place")
        let type = ComicNames.type(of: report.format, claimed: input.file.path.name)
        let values = ComicValues(report, path: input.file.path, hash: hash, format: type).values
        let known = input.values.merging(values) { $1 }
        let asked = try arguments.has("name") ? ComicNames.name(arguments.pathText("name", values: known)) : nil
        let placement = try await FilePlacement.decide(
            input, root: place.root, folder: ComicNames.folder(arguments.pathText("folder", values: known)),
            name: ComicNames.name(asked ?? input.file.path.name, as: type), exists: .rename, files: services.files)
        let skipsCopies = try arguments.choice("duplicates") == "skip"
        let copies = ComicCopies(library: place.root, without: services.journal.places.nested(in: place))
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

    /// What the worker says of the very bytes that the rules have seen.
    ///
    /// - Throws: `Fault(.refused)` with the verdict.
    private func validated(_ input: StepInput) async throws -> ComicReport {
        let path = input.file.absolute
        let mode: ValidationMode = try arguments.choice("damaged") == "keep" ? .lenient : .strict
        let verdict: Verdict
        do {
            verdict = try await services.comics.verdict(on: path, mode: mode)
        } catch let fault as Fault where fault.kind == .superseded || fault.errno == ENOENT {
            // A touch is no news: nobody would judge the file again.
            guard try await isUnchanged(input) else { throw Self.gone(input) }
            throw Fault(.transient, "\(path) was touched while it was looked into", path: path)
        }
        switch verdict {
        case .accepted(let report):
            if report.fingerprint == input.file.fingerprint { return report }
            guard try await isUnchanged(input, report) else { throw Self.gone(input) }
            return report
        case .refused(let reason, let message):
            let other = reason == .notAnArchive ? try await unsupported(path) : nil
            throw Fault(.refused, other ?? message, path: path, code: (other == nil ? reason : .unsupported).rawValue)
        }
    }

    /// Whether the file still holds what the rules have seen, and, where a report is given, since before it was read.
    private func isUnchanged(_ input: StepInput, _ report: ComicReport? = nil) async throws -> Bool {
        try await services.files.run {
            guard try FileStatus.of(input.file.absolute)?.kind == .file else { return false }
            let file = try Descriptor(input.file.absolute)
            guard try ContentHash.of(file) == input.file.hash else { return false }
            return try report == nil || file.status().fingerprint == report?.fingerprint
        }
    }

    private static func gone(_ input: StepInput) -> Fault {
        Fault(
            .superseded, "\(input.file.absolute) is gone or has changed since it was looked at",
            path: input.file.absolute)
    }

    /// What the file is that no archive can be, if its first bytes tell.
    private func unsupported(_ path: BytePath) async throws -> String? {
        let head = try await services.files.run {
            try Descriptor(path).read(at: 0, count: ComicFileType.headLength)
        }
        let what: String? =
            switch ComicFileType.family(of: head) {
            case .ace: "an ACE archive"
            case .image: "a single picture"
            default: nil
            }
        return what.map { "\(path): it is \($0), which is not imported; pack its pages as CBZ" }
    }

    // MARK: Carrying it out

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        try await services.comics.shelf.run {
            if let done = try finished(intent, context) { return done }
            if let copy = try copy(intent) {
                return skipped(intent, copy, intent.keepsSource ? nil : try intent.trashed.put(in: services.trash))
            }
            return try placing(intent).carryOut(context)
        }
    }

    func settle(_ intent: Intent, _ context: StepContext) async throws -> Settlement {
        try await services.comics.shelf.run {
            if let done = try finished(intent, context) { return .done(done) }
            return .notDone
        }
    }

    /// Takes the comic back to where it came from, or a duplicate out of the trash.
    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .moved(let from, let to, _, let hash)? = receipt.effects.first else {
            return try await ProductRemoval(services: services).undo(receipt)
        }
        guard to == intent.trashed.slot else {
            return try await FileMoving(services: services, verb: "moved").undo(receipt, context)
        }
        let trash = services.trash
        let placed = try await services.files.run { try trash.takeOut(to, expecting: hash, to: from) }
        return Receipt(
            "took \(placed.path) out of the trash",
            effects: [.moved(to, to: placed.path, placed.fingerprint, placed.hash)])
    }

    func targets(of intent: Intent) -> [BytePath] { intent.placement.targets + [intent.trashed.slot] }

    func summary(of intent: Intent) -> String {
        let source = intent.placement.source
        if let copy = intent.copy { return "import nothing: \(copy) is the same comic as \(source)" }
        return "import \(source) as \(intent.placement.destination.target)"
    }

    private func finished(_ intent: Intent, _ context: StepContext) throws -> Receipt? {
        if !intent.keepsSource, let there = try intent.trashed.found() {
            return skipped(intent, try copy(intent) ?? intent.copy ?? intent.library, there)
        }
        return try placing(intent).finished(context)
    }

    private func copy(_ intent: Intent) throws -> BytePath? {
        guard intent.skipsCopies else { return nil }
        let places = services.journal.places
        let nested = places.places.first { $0.root == intent.library }.map { places.nested(in: $0) } ?? []
        return try ComicCopies(library: intent.library, without: nested).find(
            intent.placement.hash, size: intent.placement.fingerprint?.size ?? 0, besides: intent.placement.source)
    }

    private func placing(_ intent: Intent) -> Placing {
        let source = intent.placement.source
        let keeps = intent.keepsSource
        let receipt = { @Sendable (placed: Mover.Placed) in
            Receipt(
                "imported \(source) as \(placed.path)", values: values(intent, placed.path, "imported"),
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
            ? intent.placement.copying(services, receipt: receipt, skipped: there)
            : intent.placement.moving(services, receipt: receipt, skipped: there)
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

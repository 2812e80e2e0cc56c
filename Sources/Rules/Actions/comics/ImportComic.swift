import ComicArchive
import FilePlacing
import Platform
import Rules

/// Imports a comic into a library or a vault: judged in the locked-down worker first, then put there, once.
struct ImportComic: RuleAction {
    enum Intent: Codable, Sendable, Equatable {
        case library(LibraryImport)
        case vault(VaultImport)
    }

    static let declaration = ActionDeclaration(
        name: "import-comic",
        summary:
            "Judges a comic archive in a locked-down process, then takes it into a folder of a library, or seals it "
            + "in a vault. What is harmful, damaged or no comic is refused.",
        guarantee: .exactlyOnce, work: .cpu, canUndo: true,
        parameters: [
            ParameterSpec("place", .place, default: "library", unless: "vault", "the place that is the library"),
            ParameterSpec(
                "vault", .literal,
                "instead of a place the vault, by its name in `vaults:` of steward.yaml: the comic is sealed there under "
                    + "its file's name. While the vault is locked it is sealed to the vault's public key, and taken in at "
                    + "the next unlock. Excludes `place`, `folder` and `name`"),
            ParameterSpec(
                "folder", .template, default: "{{ comic.series | default: \"Unknown series\" }}",
                "a folder of that place, made if missing; parts that are empty are left out, values cannot lead out of it"
            ),
            ParameterSpec(
                "name", .template,
                "the new name; the file's own where it is not given. It gets the ending that the content has: a RAR that "
                    + "is called `.cbz` becomes `.cbr`. Where it is taken, the comic becomes `name (1).cbz`"),
            ParameterSpec(
                "portable", .boolean, default: "true",
                "whether folder and name become such as Windows, exFAT and their shares can hold: `A: B` is `A - B`, "
                    + "`What?` is `What_`, and no two differ by case alone"),
            ParameterSpec(
                "damaged", .choice(["refuse", "keep"]), default: "refuse",
                "a comic of which pages are damaged: `refuse` it, or `keep` it and say so in `comic.damage`"),
            ParameterSpec(
                "pages", .choice(PageExamination.allCases.map(\.rawValue)), default: "headers",
                "how far pages are looked into: with `headers` their bytes are what was packed and begin as a picture does; "
                    + "`decode` decodes each pixel as well, which takes libvips and many times as long. Then a page that "
                    + "shows nothing is damaged, and one that shows in part is named in `comic.damage`"),
            ParameterSpec(
                "duplicates", .choice(["skip", "keep"]), default: "skip",
                "a comic whose very content the library or vault holds already: `skip` it, whatever it is called, or "
                    + "`keep` both"
            ),
            ParameterSpec(
                "source", .choice(["remove", "keep", "trash"]), default: "remove",
                "`remove` moves the file into the library, and puts a duplicate into the trash; `keep` copies it, and "
                    + "leaves a duplicate. With `vault` it is removed once the vault has it durably and verified, kept, or "
                    + "put into the `trash`, where it lies in the clear"
            ),
            ParameterSpec(
                "names", .choice(["hide", "keep"]), default: "hide",
                "with `vault` only: `hide` keeps the names of files that the rule could want out of ledger, logs and "
                    + "reasons of refusals, `keep` writes them there as for any other file"),
        ],
        provides: ComicValues.specs + [
            ValueSpec("comic.outcome", "`imported`, or `there already` for a duplicate that was skipped"),
            ValueSpec("comic.path", "where it lies, below the library; not with `vault`"),
            ValueSpec("comic.vault", "the vault's name; empty without `vault`"),
            ValueSpec(
                "comic.state",
                "with `vault`: `sealed`, `deposited` (the vault was locked) or `duplicate`; else empty"),
            ValueSpec("comic.sealed", "with `vault`: the id of the sealed comic, or of the deposit"),
        ] + PlacementValues.specs,
        example: "import-comic: { place: library, folder: \"{{ comic.publisher }}/{{ comic.series }}\" }")

    private enum Way: Sendable {
        case library(ComicToLibrary)
        case vault(ComicToVault)
    }

    private let way: Way
    private let services: ComicServices

    init(_ arguments: Arguments, _ services: ComicServices) throws {
        self.services = services
        way =
            arguments.has("vault")
            ? .vault(try ComicToVault(arguments, services)) : .library(try ComicToLibrary(arguments, services))
        guard case .library = way else { return }
        if arguments.given.contains("names") {
            throw ArgumentFault("names", "it goes with `vault` only: a library shows names anyway")
        }
        if try arguments.choice("source") == "trash" {
            throw ArgumentFault("source", "`trash` goes with `vault` only; here say `remove` or `keep`")
        }
    }

    func intent(for input: StepInput) async throws -> Intent {
        switch way {
        case .library(let library): .library(try await library.intent(for: input))
        case .vault(let vault): .vault(try await vault.intent(for: input))
        }
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        switch try carrier(intent) {
        case .library(let library, let intent): try await library.perform(intent, context)
        case .vault(let vault, let intent): try await vault.perform(intent, context)
        }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        switch try carrier(intent) {
        case .library(let library, let intent): try await library.recover(intent, context)
        case .vault(let vault, let intent): try await vault.recover(intent, context)
        }
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        switch try carrier(intent) {
        case .library(let library, let intent): try await library.undo(intent, receipt, context)
        case .vault(let vault, let intent): try await vault.undo(intent, receipt, context)
        }
    }

    func targets(of intent: Intent) -> [BytePath] {
        switch intent {
        case .library(let intent): intent.placement.targets + [intent.trashed.slot]
        case .vault(let intent): [intent.source] + (intent.trashed.map { [$0.slot] } ?? [])
        }
    }

    func summary(of intent: Intent) -> String {
        switch intent {
        case .library(let intent): ComicToLibrary.summary(of: intent)
        case .vault(let intent): "seal \(intent.source) in the vault \(intent.vault)"
        }
    }

    func forecast(of intent: Intent) -> Forecast? {
        guard case .library(let intent) = intent else { return nil }
        return ComicToLibrary.forecast(of: intent)
    }

    var hidesNames: Bool {
        if case .vault(let vault) = way { return vault.hidesNames }
        return false
    }

    private enum Carrier {
        case library(ComicToLibrary, LibraryImport)
        case vault(ComicToVault, VaultImport)
    }

    /// The intent with what carries it out; both come of the same arguments.
    private func carrier(_ intent: Intent) throws -> Carrier {
        switch (way, intent) {
        case (.library(let library), .library(let intent)): return .library(library, intent)
        case (.vault(let vault), .vault(let intent)): return .vault(vault, intent)
        default:
            throw Fault(.failed, "the ledger's intent of `import-comic` does not belong to its step; please report it")
        }
    }
}

extension ImportComic.Intent {
    init(from decoder: any Decoder) throws {
        // The library's came first, and stands in ledgers without a mark.
        self =
            try decoder.container(keyedBy: VaultImport.CodingKeys.self).contains(.vault)
            ? .vault(try VaultImport(from: decoder)) : .library(try LibraryImport(from: decoder))
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .library(let intent): try intent.encode(to: encoder)
        case .vault(let intent): try intent.encode(to: encoder)
        }
    }
}

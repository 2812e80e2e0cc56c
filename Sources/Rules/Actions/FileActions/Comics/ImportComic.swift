import ComicArchive
import Platform
import Rules

/// Imports a comic into a library or a vault, exactly once. The locked-down worker judges it first.
struct ImportComic: DecidingAction {
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
    private let mode: ValidationMode

    init(_ arguments: Arguments, _ services: ComicServices) throws {
        self.services = services
        mode = try ComicExaminer.mode(arguments)
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

    func work(for intent: Intent) -> any Primitive {
        switch intent {
        case .library(let intent): LibraryShelving(services: services, intent: intent)
        case .vault(let intent): VaultSealing(services: services, intent: intent, mode: mode, hidesNames: hidesNames)
        }
    }

    func summary(of intent: Intent) -> String {
        switch intent {
        case .library(let intent): intent.summary
        case .vault(let intent): "seal \(intent.source) in the vault \(intent.vault)"
        }
    }

    var hidesNames: Bool {
        if case .vault(let vault) = way { return vault.hidesNames }
        return false
    }
}

extension ImportComic.Intent {
    init(from decoder: any Decoder) throws {
        // Library intents came first, so ledgers hold them without a discriminator.
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

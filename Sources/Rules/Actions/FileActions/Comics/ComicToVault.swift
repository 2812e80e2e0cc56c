import ComicArchive
import ComicVault
import Ledger
import Platform
import Rules

/// `import-comic` with a `vault`: decides how a judged comic is sealed.
struct ComicToVault: Sendable {
    private let arguments: Arguments
    private let services: ComicServices
    private let vault: String
    let hidesNames: Bool

    /// - Throws: ``ArgumentFault``.
    init(_ arguments: Arguments, _ services: ComicServices) throws {
        for name in ["place", "folder", "name"] where arguments.given.contains(name) {
            throw ArgumentFault(
                name, "a comic in a vault has no place on the disk and keeps its file's name; give `\(name)` or `vault`"
            )
        }
        vault = try arguments.literal("vault")
        do {
            _ = try services.vaults.service(vault)
        } catch {
            throw ArgumentFault("vault", explain(error), isLack: true)
        }
        hidesNames = try arguments.choice("names") == "hide"
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> VaultImport {
        let service = try services.vaults.service(vault)
        let isUnlocked = await service.isUnlocked
        let names: EntryNames = hidesNames && !isUnlocked && !wantsWords(input) ? .withheld : .told
        let report = try await examined(input, names)
        guard let hash = input.file.hash else { throw ComicExaminer.gone(input) }
        let disposition = try arguments.choice("source", as: VaultImport.SourceDisposition.self)
        let trash = services.trash
        let trashed = try await services.files.run {
            disposition == .trash ? try TrashedFile(of: input, in: trash) : nil
        }
        if isUnlocked { await service.keep(report, of: hash) }
        var values = values(report, input.file.path, hash, names)
        if hidesNames, let wanted = input.namesUsedLater { values = values.filter { wanted.contains($0.key) } }
        return VaultImport(
            vault: vault, source: input.file.absolute, hash: hash, disposition: disposition,
            keepsCopies: try arguments.choice("duplicates") == "keep", trashed: trashed, values: values,
            format: report.format)
    }

    /// Whether a later step uses values that only the archive's own text provides.
    private func wantsWords(_ input: StepInput) -> Bool {
        guard let wanted = input.namesUsedLater else { return true }
        return ComicValues.specs.contains { wanted.contains($0.name) && !ComicValues.nameless.contains($0.name) }
    }

    private func values(
        _ report: ComicReport, _ path: BytePath, _ hash: ContentHash, _ names: EntryNames
    ) -> Values {
        switch names {
        case .told: SealedComic(report, path: path, hash: hash).values
        case .withheld:
            ComicValues(
                nameless: report, hash: hash, format: ComicNames.type(of: report.format, claimed: path.name)
            ).values
        }
    }

    private func examined(_ input: StepInput, _ names: EntryNames) async throws -> ComicReport {
        do {
            return try await ComicExaminer(services, arguments).examine(input, names: names)
        } catch let fault as Fault where fault.kind == .refused && hidesNames {
            // The verdict names entries of the archive.
            throw Fault(.refused, RefusedComic.text(fault.code), code: fault.code)
        }
    }
}

/// Reasons for refusing a comic that do not reveal its content.
enum RefusedComic {
    static func text(_ code: String?) -> String {
        let why: String =
            switch code.flatMap(RefusalReason.init(rawValue:)) {
            case .notAnArchive: "its archive format is unknown"
            case .unsupported: "it is in a form that is not imported"
            case .noPages: "it contains no page that can be shown"
            case .encrypted: "it is encrypted"
            case .multiVolume: "it is one part of several"
            case .solid: "it is packed so that no single page can be read"
            case .traversal, .absolutePath: "an entry would be written outside of its folder"
            case .badName: "an entry's name is harmful"
            case .tooManyHeaders, .tooManyPages, .tooManyBytes, .ratio, .overlap: "it exceeds the limits of a comic"
            case .damagedArchive: "it is damaged"
            case .damagedPage: "a page is damaged"
            case .workerCrashed, .workerLimit, .workerNonsense: "the examining process did not finish"
            case nil: "it cannot be imported"
            }
        return "\(why); `steward comics inspect` on the file says more"
    }
}

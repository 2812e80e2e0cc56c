import ComicVault
import Platform

/// `steward vault verify`: reads every byte and changes nothing.
package struct VerifyVault: VaultCommand {
    package static let name = "vault-verify"

    package init() {}

    package func run(on vault: VaultContext) throws -> VaultVerification {
        VaultVerification(
            try vault.sealed.verify { done, total in
                try vault.outlet.progress(Int64(clamping: done), Int64(clamping: total), "verifying")
                return true
            })
    }

    package func lines(_ answer: VaultVerification, on screen: Screen) -> [String] { answer.lines }
}

/// The result of `steward vault verify`.
package struct VaultVerification: Codable, Sendable {
    package struct Finding: Codable, Sendable {
        package let comic: ComicID
        package let name: BytePath
        package let object: ObjectID
        package let problem: String
    }

    package let objects: Int
    package let bytes: UInt64
    package let findings: [Finding]
    /// Problems other than with the comics' objects.
    package let problems: [String]
    /// Objects that belong to no comic.
    package let unknown: [ObjectID]
    package let strange: [BytePath]

    package var isWell: Bool { findings.isEmpty && problems.isEmpty && unknown.isEmpty && strange.isEmpty }

    init(_ report: VerifyReport) {
        (objects, bytes, unknown, strange) = (report.objects, report.bytes, report.unknown, report.strange)
        problems = report.problems.map(\.text)
        findings = report.findings.map {
            Finding(comic: $0.entry.id, name: $0.entry.name, object: $0.object.id, problem: $0.error.description)
        }
    }

    fileprivate var lines: [String] {
        findings.map { "! \($0.name): \($0.problem)" } + problems.map { "! \($0)" }
            + unknown.map { "! no comic uses the object \($0); the next unlock moves it to the quarantine" }
            + strange.map { "! \($0) was not made by the vault; inspect it, and move it away" }
            + [
                "\(ComicText.count(objects, "object")), \(ComicText.bytes(Int64(clamping: bytes))) verified"
                    + (isWell ? ", no problems" : "")
            ]
    }
}

extension VerifyReport.Problem {
    /// In words, with the remedy.
    fileprivate var text: String {
        switch self {
        case .rolledBack(let mark, let disk):
            "the vault is an older copy or another branch: it is at \(disk), and this host remembers \(mark); put the "
                + "newer copy back, or run `steward vault accept-rollback`"
        case .unknownAge:
            "this host does not know the vault, so it cannot check that this is the newest copy; any other command "
                + "treats it as such"
        case .tornTail(let log, let bytes):
            "the manifest's \(log) ends in \(bytes) bytes of an incomplete record; the next unlock drops them"
        case .junk(let log):
            "the manifest's \(log) ends in unknown bytes, though others follow it: the vault did not write them; "
                + "the next unlock drops them"
        case .manifest(let error), .slot(let error): "\(error)"
        case .publicKey:
            "vault.pub does not contain the vault's key: other hosts may seal deposits to a foreign key; the next unlock puts "
                + "it right"
        case .deposit(let id, let error): "the deposit \(id): \(error)"
        case .changedDeposit(let id):
            "the deposit \(id) differs from what this host made; see `steward vault quarantine`"
        case .missingDeposit(let id):
            "the deposit \(id) of this host is gone; restore drop/ from a backup, or forget it with `steward vault "
                + "quarantine discard`"
        case .quarantined(let id):
            "no comic uses the object \(id), which waits in the quarantine: adopt or discard it with `steward vault "
                + "quarantine`"
        }
    }
}

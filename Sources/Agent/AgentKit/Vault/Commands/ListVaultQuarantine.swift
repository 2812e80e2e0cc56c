import ComicVault
import Platform

/// `steward vault quarantine`: lists the items that need a decision, with the reasons.
package struct ListVaultQuarantine: VaultCommand {
    package static let name = "vault-quarantine"

    package init() {}

    package func run(on vault: VaultContext) throws -> VaultQuarantineListing {
        VaultQuarantineListing(try vault.sealed.quarantine(), try vault.sealed.drops(), vault.refusals)
    }

    package func lines(_ answer: VaultQuarantineListing, on screen: Screen) -> [String] { answer.lines }
}

/// The answer of `steward vault quarantine`.
package struct VaultQuarantineListing: Codable, Sendable {
    package struct Object: Codable, Sendable {
        package let id: ObjectID
        /// nil if the vault's keys do not open it.
        package let kind: String?
        /// The file's size in bytes.
        package let size: Int64
    }

    package struct Deposit: Codable, Sendable {
        package let id: ObjectID
        /// `own`, `unknown` or `changed`.
        package let origin: String
        package let size: Int64
        /// Why the last attempt to take it in failed.
        package let problem: String?
    }

    package let objects: [Object]
    package let deposits: [Deposit]
    package let missing: [ObjectID]
    package let strange: [BytePath]

    fileprivate init(_ objects: [QuarantinedObject], _ drops: DropReport, _ refusals: [ObjectID: String]) {
        self.objects = objects.map { Object(id: $0.id, kind: $0.kind.map { "\($0)" }, size: $0.size) }
        deposits = drops.waiting.map {
            Deposit(id: $0.id, origin: $0.origin.word, size: $0.size, problem: refusals[$0.id])
        }
        missing = drops.missing.map(\.drop)
        strange = drops.strange
    }

    fileprivate var lines: [String] {
        if objects.isEmpty, deposits.isEmpty, missing.isEmpty, strange.isEmpty { return ["nothing waits"] }
        var out: [String] = []
        for object in objects {
            let what = object.kind.map { "belongs to no comic; \($0)" } ?? "cannot be opened with this vault's keys"
            out.append("object   \(object.id)  \(ComicText.bytes(object.size))  \(what)")
        }
        for deposit in deposits {
            let what =
                switch deposit.origin {
                case "own": "made by this host"
                case "changed": "not as this host made it"
                default: "not made by this host"
                }
            out.append("deposit  \(deposit.id)  \(ComicText.bytes(deposit.size))  \(what)")
            if let problem = deposit.problem { out.append("         \(problem)") }
        }
        out += missing.map { "missing  \($0)  was deposited by this host, and is gone" }
        out += strange.map { "strange  \($0)" }
        return out
    }
}

extension DropInfo.Origin {
    fileprivate var word: String {
        switch self {
        case .ownDeposit: "own"
        case .unknown: "unknown"
        case .changed: "changed"
        }
    }
}

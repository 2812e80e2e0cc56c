import ComicVault
import Platform

/// `steward vault quarantine take-in`: turns deposits into comics.
package struct TakeInDeposits: VaultCommand {
    package static let name = "vault-take-in"
    /// The beginnings of their ids, from any host; if empty, all deposits of this host.
    private let deposits: [String]

    package init(_ deposits: [String]) { self.deposits = deposits }

    package func run(on vault: VaultContext) throws -> VaultChange {
        let waiting = try vault.sealed.drops().waiting
        let named = try deposits.map { try VaultContext.object($0, among: waiting.map(\.id)) }
        let wanted = named.isEmpty ? waiting.filter { $0.origin == .ownDeposit }.map(\.id) : named
        let judge = ArchiveDepositJudge()
        var items: [VaultChange.Item] = []
        for (index, id) in wanted.enumerated() {
            try vault.outlet.progress(Int64(index), Int64(wanted.count), "ingesting")
            let outcome = try vault.sealed.ingest(id, isApproved: !named.isEmpty, judge: judge)
            var note: String?
            if case .duplicate = outcome { note = "it was already in the vault" }
            items.append(.init(outcome.entry.id, name: outcome.entry.name, note: note))
        }
        return VaultChange(done: "ingested", items: items)
    }

    package func lines(_ answer: VaultChange, on screen: Screen) -> [String] {
        answer.items.isEmpty ? ["no deposit waits"] : answer.lines
    }
}

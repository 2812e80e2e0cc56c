import ComicVault
import Foundation
import Logging
import Platform

/// Does what is asked of an unlocked vault: in the daemon, or in a command that has opened it itself.
package struct VaultOperations: Sendable {
    package let place: VaultPlace
    private let judge: ArchiveDepositJudge

    package init(_ place: VaultPlace) {
        self.place = place
        judge = ArchiveDepositJudge()
    }

    /// The daemon's vault, whose notices go to the log.
    static func service(_ place: VaultPlace, _ log: Logger) -> VaultService {
        let environment = ProcessInfo.processInfo.environment
        return VaultService(
            place, judge: ArchiveDepositJudge(),
            notice: { notice in
                for (level, text) in notice.logLines(place.name) { log.log(level: level, "\(text)") }
            }, key: { try PasswordSource.credential(place.name, environment)?.read("") })
    }

    /// Blocks for as long as it takes.
    ///
    /// - Parameter secrets: as many as the operation takes, the old one first.
    /// - Returns: one of the reports of `VaultReports.swift`.
    package func carryOut(
        _ request: VaultRequest, _ secrets: [Credential], on vault: SealedVault, _ outlet: VaultOutlet
    ) throws -> any Encodable & Sendable {
        let outlet = outlet.ending { if !vault.isUnlocked { throw Self.lockedMeanwhile } }
        switch request.operation {
        case .list: return VaultListing(vault: place.name, comics: try vault.list().map(VaultComicLine.init))
        case .show: return VaultComicDetails(try find(request, vault), try vault.state())
        case .extract: return try extract(try find(request, vault), vault, outlet)
        case .page: return try page(request, try find(request, vault), vault, outlet)
        case .thumbnail: return try thumbnail(request, try find(request, vault), vault, outlet)
        case .progress: return try progress(request, try find(request, vault), vault)
        case .bookmark: return try bookmark(request, try find(request, vault), vault)
        case .rename: return try rename(request, vault)
        case .remove: return try remove(request, vault)
        case .verify:
            let report = try vault.verify { done, total in
                try outlet.progress(Int64(clamping: done), Int64(clamping: total), "verifying")
                return true
            }
            return VaultVerification(report)
        case .passwd:
            guard secrets.count == 2 else { throw Fault(.usage, "an old and a new password are needed") }
            let slot = try vault.change(secrets[0], to: secrets[1])
            return VaultChange(slot: slot, done: "changed the slot")
        case .addSlot:
            guard let new = secrets.first else { throw Fault(.usage, "a password or key file is needed") }
            let slot = try vault.addSlot(new)
            return VaultChange(slot: slot, done: "added the slot")
        case .removeSlot:
            let slot = try Self.slot(request.ids.first ?? "", vault)
            if request.isDryRun { return VaultChange(slot: slot, done: "would remove the slot") }
            try vault.removeSlot(slot)
            return VaultChange(slot: slot, done: "removed the slot")
        case .quarantine: return VaultQuarantineListing(try vault.quarantine(), try vault.drops())
        case .adopt: return try adopt(request, vault)
        case .discard: return try discard(request, vault)
        case .ingest: return try ingest(request, vault, outlet)
        case .acceptRollback: return try acceptRollback(request, vault)
        case .unlock, .lock, .status: throw Fault(.usage, "only the agent can do that; see whether it runs")
        }
    }

    /// Not ``VaultError/locked``: a part of the answer is out already, and what asks must not begin anew by itself.
    static let lockedMeanwhile = Fault(
        .failed, "the vault was locked before this was done; unlock it, and try again")

    private func acceptRollback(_ request: VaultRequest, _ vault: SealedVault) throws -> VaultChange {
        guard case .rolledBack(let mark, let disk) = try vault.freshness() else {
            return VaultChange(done: "nothing to accept: the vault is as this host left it", items: [])
        }
        if request.isDryRun {
            let note = "it stands at \(disk), and this host remembers \(mark)"
            return VaultChange(
                done: "would take this copy for the vault", items: [.init(id: place.name, name: nil, note: note)])
        }
        let objects = ComicText.count(try vault.acceptRollback().quarantined.count, "object")
        return VaultChange(
            done: "took this copy for the vault",
            items: [.init(id: place.name, name: nil, note: "\(objects) went to the quarantine")])
    }

    // MARK: Comics

    /// The comic of a name, an id, or the beginning of one.
    private func find(_ request: VaultRequest, _ vault: SealedVault) throws -> ComicEntry {
        try Self.find(request.comic ?? "", vault)
    }

    private static func find(_ text: String, _ vault: SealedVault) throws -> ComicEntry {
        for name in [BytePath(text), BytePath(bytes: BytePath.unescape(text))] {
            if let entry = try vault.comic(named: name) { return entry }
        }
        let found =
            text.count >= 4 ? try vault.list().filter { $0.id.description.hasPrefix(text.lowercased()) } : []
        guard let first = found.first else { throw VaultError.noSuchComic(SafeQuote.of(text)) }
        guard found.count == 1 else {
            throw Fault(.usage, "\(found.count) comics have ids that begin with \(text); give more of it")
        }
        return first
    }

    private func extract(_ entry: ComicEntry, _ vault: SealedVault, _ outlet: VaultOutlet) throws -> VaultSent {
        let reader = try vault.open(.archive, of: entry.id)
        var done: Int64 = 0
        try reader.stream { part in
            try outlet.bytes(part)
            done += Int64(part.count)
            try outlet.progress(done, reader.length, "extracting")
        }
        return VaultSent(id: entry.id, name: entry.name, size: done)
    }

    private func rename(_ request: VaultRequest, _ vault: SealedVault) throws -> VaultChange {
        guard let name = request.name else { throw Fault(.usage, "say what the comic is to be called") }
        let entry = try find(request, vault)
        let renamed = try vault.rename(entry.id, to: name)
        return VaultChange(
            done: "renamed \(entry.name) to",
            items: [.init(id: renamed.id.description, name: renamed.name, note: nil)])
    }

    private func remove(_ request: VaultRequest, _ vault: SealedVault) throws -> VaultChange {
        var entries: [ComicEntry] = []
        for text in request.ids {
            let entry = try Self.find(text, vault)
            if !entries.contains(where: { $0.id == entry.id }) { entries.append(entry) }
        }
        if request.isDryRun {
            return VaultChange(
                done: "would remove",
                items: entries.map {
                    .init(id: $0.id.description, name: $0.name, note: ComicText.bytes(Int64(clamping: $0.size)))
                })
        }
        return VaultChange(
            done: "removed",
            items: try entries.map { entry in
                let report = try vault.remove(entry.id)
                return .init(
                    id: entry.id.description, name: entry.name,
                    note: report.shared.isEmpty
                        ? nil
                        : "\(ComicText.count(report.shared.count, "object")) had other hard links and can be read there still"
                )
            })
    }

    // MARK: Quarantine

    private static func object(_ text: String, among ids: [ObjectID]) throws -> ObjectID {
        try ids.filter { text.count >= 4 && $0.description.hasPrefix(text.lowercased()) }
            .only("deposit", beginning: SafeQuote.of(text), shownBy: "steward vault quarantine")
    }

    private static func slot(_ text: String, _ vault: SealedVault) throws -> SlotID {
        let found = try vault.slots().map(\.id).filter {
            text.count >= 4 && $0.description.hasPrefix(text.lowercased())
        }
        guard let only = found.first, found.count == 1 else {
            throw Fault(
                .usage, "no one slot has an id that begins with \(SafeQuote.of(text)); see `steward vault slots`")
        }
        return only
    }

    private func adopt(_ request: VaultRequest, _ vault: SealedVault) throws -> VaultChange {
        let id = try Self.object(request.ids.first ?? "", among: vault.quarantine().map(\.id))
        let name = request.name ?? BytePath("recovered-\(id.description.prefix(8))")
        let entry = try vault.adopt(id, as: name)
        return VaultChange(
            done: "adopted", items: [.init(id: entry.id.description, name: entry.name, note: nil)])
    }

    private func discard(_ request: VaultRequest, _ vault: SealedVault) throws -> VaultChange {
        let objects = try vault.quarantine().map(\.id)
        let drops = try vault.drops()
        let deposits = drops.waiting.map(\.id) + drops.missing.map(\.drop)
        let ids = try request.ids.map { try Self.object($0, among: objects + deposits) }
        if request.isDryRun {
            return VaultChange(
                done: "would discard",
                items: ids.map { id in
                    let what =
                        objects.contains(id)
                        ? "an object that no comic has"
                        : drops.missing.contains { $0.drop == id } ? "a deposit that is gone" : "a deposit"
                    return .init(id: id.description, name: nil, note: what)
                })
        }
        return VaultChange(
            done: "discarded",
            items: try ids.map { id in
                var note: String?
                if deposits.contains(id) {
                    try vault.removeDrop(id)
                } else if try !vault.discardQuarantined(id) {
                    note = "its file has other hard links and can be read there still"
                }
                return .init(id: id.description, name: nil, note: note)
            })
    }

    /// Those that are named, whoever made them; else all that this host has made.
    private func ingest(_ request: VaultRequest, _ vault: SealedVault, _ outlet: VaultOutlet) throws -> VaultChange {
        let waiting = try vault.drops().waiting
        let named = try request.ids.map { try Self.object($0, among: waiting.map(\.id)) }
        let wanted = named.isEmpty ? waiting.filter { $0.origin == .ownDeposit }.map(\.id) : named
        var items: [VaultChange.Item] = []
        for (index, id) in wanted.enumerated() {
            try outlet.progress(Int64(index), Int64(wanted.count), "taking in")
            let outcome = try vault.ingest(id, isApproved: !named.isEmpty, judge: judge)
            var note: String?
            if case .duplicate = outcome { note = "it was there already" }
            items.append(.init(id: outcome.entry.id.description, name: outcome.entry.name, note: note))
        }
        return VaultChange(done: "took in", items: items)
    }
}

/// What a person typed, fit to be shown again.
enum SafeQuote {
    static func of(_ text: String) -> String { BytePath(text).description }
}

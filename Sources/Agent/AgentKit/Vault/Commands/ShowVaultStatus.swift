import ComicVault
import OwnFiles
import Platform

/// `steward vault status` from an agent; ``VaultStatus/init(_:)`` uses only the disk.
package struct ShowVaultStatus: VaultRequest {
    package static let name = "vault-status"

    package init() {}

    package func answer(_ call: VaultCall) async throws -> VaultStatus { try await .live(call.service) }
}

/// What is known of a vault without its keys, plus the daemon's state if there is one.
package struct VaultStatus: Codable, Sendable {
    package let name: String
    package let path: BytePath
    package var id: VaultID?
    package var isThere = false
    /// Whether its file system hangs; nil if not.
    package var isSilent: Bool?
    /// Whether its disk has not answered yet, for instance because it is spinning up; nil if it has, or hangs.
    package var isLate: Bool?
    package var isUnlocked = false
    package var since: Timestamp?
    /// Seconds; nil for never.
    package let lockAfter: Double?
    /// nil while it is locked.
    package var comics: Int?
    /// To be compared with other hosts and by people; nil if this host trusts no vault here.
    package var fingerprint: String?
    package var slots: [String] = []
    /// Waiting deposits, and missing deposits of this host.
    package var deposits = 0
    package var missing = 0
    package var isTakingIn = false
    package var problems: [String] = []

    /// Reads the disk. Blocks.
    package init(_ place: VaultPlace) throws {
        (name, path, lockAfter) = (place.name, place.path, place.idle)
        guard try FileStatus.of(place.path) != nil else {
            // A vault that existed once is missed; one that was never created is not.
            if try FileStatus.of(place.host.appending("pin")) != nil {
                problems.append("\(path) is gone; mount its disk, or restore it from a backup")
            }
            return
        }
        do {
            try look(place)
        } catch let error as VaultError {
            problems.append(error.description)
        } catch let fault as Fault {
            problems.append(fault.message)
        }
    }

    private mutating func look(_ place: VaultPlace) throws {
        let vault = try place.open()
        (isThere, id) = (true, vault.id)
        if let mode = try FileStatus.of(place.path)?.mode, mode & 0o077 != 0 {
            problems.append("others may enter \(path); run `chmod 700 \(path)`")
        }
        let slots = try vault.slots()
        self.slots = slots.compactMap { $0.kind?.description }
        problems += slots.compactMap { $0.damage?.description }
        if slots.isEmpty { problems.append("\(path)/keys holds no key slot; restore it from a backup") }
        let drops = try vault.drops()
        (deposits, missing) = (drops.waiting.count, drops.missing.count)
        if missing > 0 {
            problems.append(
                "\(ComicText.count(missing, "deposit")) of this host gone; `steward vault quarantine` names them")
        }
        let pins = try vault.host.pins()
        let offered = try VaultDeposit.offered(at: place.path, host: vault.host)
        fingerprint = pins.last?.fingerprint
        if pins.isEmpty {
            problems.append(
                "this host does not trust the vault yet, and deposits nothing; unlock it, or see `steward vault trust`")
        } else if !pins.contains(offered) {
            problems.append("its key differs from the one this host trusts; unlock it, or see `steward vault trust`")
        }
        if let remains = try vault.rekeyRemains() { problems.append(remains.advice) }
    }

    /// For a vault whose file system has not answered.
    private init(silent place: VaultPlace) {
        (name, path, lockAfter) = (place.name, place.path, place.idle)
        guard HangWatch.shared.hangs(for: .vault(place.name)) else {
            isLate = true
            return
        }
        isSilent = true
        problems = ["no response at \(path); check whether its disk, server or program is still running"]
    }

    /// Includes the daemon's state. Leaves out the disk's part if the disk is slow or hangs.
    ///
    /// - Parameter seconds: the timeout for the disk.
    static func live(_ service: VaultService, within seconds: Double = 3) async throws -> VaultStatus {
        do {
            if let status = try await outcome(within: seconds, { try await Self.found(service) }) { return status }
        } catch let fault as Fault where fault.code == Fault.hanging {
            // Earlier calls have not returned.
        }
        var status = VaultStatus(silent: service.place)
        (status.isUnlocked, status.since) = (await service.isUnlocked, await service.unlockedSince)
        return status
    }

    private static func found(_ service: VaultService) async throws -> VaultStatus {
        let place = service.place
        try await service.endIfDisplaced()
        var status = try await service.look { try VaultStatus(place) }
        if let time = await service.displacedSince {
            status.problems.insert(
                "it was locked at \(time): \(LockReason.displaced.text); if a credential is available it is unlocked again "
                    + "when it is back, otherwise unlock it", at: 0)
        }
        status.isUnlocked = await service.isUnlocked
        status.since = await service.unlockedSince
        status.isTakingIn = await service.isIngesting
        guard status.isUnlocked else { return status }
        do {
            status.comics = try await service.count()
            if case .rolledBack(let mark, let disk) = try await service.freshness() {
                status.problems.insert(VaultError.rolledBack(mark: mark, disk: disk).description, at: 0)
            }
        } catch VaultError.locked {
            (status.isUnlocked, status.comics) = (false, nil)
        }
        let refusals = await service.refusals
        let waiting = try await refusals.isEmpty ? [] : service.look { try place.open().drops().waiting.map(\.id) }
        status.add(refusals.filter { waiting.contains($0.key) })
        return status
    }

    /// Deposits that were not taken in, with the reasons.
    private mutating func add(_ refusals: [ObjectID: String]) {
        if let (id, reason) = refusals.first, refusals.count == 1 {
            let isNamed = reason.contains(id.description)
            problems.append(isNamed ? reason : "the deposit \(id) was not ingested: \(reason)")
        } else if !refusals.isEmpty {
            problems.append("\(refusals.count) deposits were not ingested; `steward vault quarantine` says why")
        }
    }

    /// The daemon's status if it is running and knows the vault, otherwise the disk's. Blocks.
    package static func asked(_ place: VaultPlace, _ socket: BytePath) throws -> VaultStatus {
        do {
            if let status = try VaultClient.ask(ShowVaultStatus(), of: place.name, at: socket) { return status }
        } catch let fault as Fault where fault.code == VaultKeeper.unknown {
            var status = try VaultStatus(place)
            if status.isThere { status.problems.append(fault.message) }
            return status
        }
        return try VaultStatus(place)
    }

    package var lines: [String] {
        var out = ["\(name)  \(path)"]
        if isLate == true {
            out.append("  its disk has not responded yet; try again")
        } else if !isThere && problems.isEmpty {
            out.append(
                "  there is no vault yet; `steward vault init"
                    + "\(name == VaultPlace.standardName ? "" : " --vault \(name)")` makes it")
        }
        if isThere || isUnlocked {
            if isUnlocked {
                let since = since.map { " since \($0)" } ?? ""
                let comics = comics.map { ", \(ComicText.count($0, "comic"))" } ?? ""
                out.append(
                    "  unlocked\(since)\(comics)"
                        + (lockAfter.map { "; locked after \(Self.minutes($0)) without use" } ?? ""))
            } else {
                out.append("  locked")
            }
            if isThere { out.append("  slots: \(slots.isEmpty ? "none" : slots.joined(separator: ", "))") }
            if let fingerprint { out.append("  fingerprint: \(fingerprint)") }
            if deposits > 0 {
                out.append("  \(ComicText.count(deposits, "deposit")) \(isTakingIn ? "being ingested" : "waiting")")
            }
        }
        return out + problems.map { "  ! \($0)" }
    }

    private static func minutes(_ seconds: Double) -> String {
        seconds < 120 ? "\(Int(seconds)) s" : "\(Int(seconds / 60)) min"
    }
}

import ComicVault
import Glibc
import OwnFiles
import Platform
import Rules

/// `steward doctor`, the part about the configured vaults and the memory for their keys.
package struct VaultExamination: Sendable {
    private let places: [VaultPlace]
    private let socket: BytePath

    package init(_ configuration: Configuration, _ directories: Directories) {
        places = configuration.vaults
        socket = directories.socket
    }

    /// Blocks.
    package func findings() throws -> [Examination.Finding] {
        var found: [Examination.Finding] = []
        for place in places {
            let status = try status(place)
            if status.isThere || !status.problems.isEmpty { found.append(finding(status)) }
        }
        return found.isEmpty ? [] : found + [Self.memory()]
    }

    /// From the daemon if possible: only it knows the state of an unlocked vault.
    private func status(_ place: VaultPlace) throws -> VaultStatus {
        do {
            return try .asked(place, socket)
        } catch is Fault {
            // Problems with the daemon are reported separately.
            return try VaultStatus(place)
        }
    }

    private func finding(_ status: VaultStatus) -> Examination.Finding {
        let subject = "vault \(status.name)"
        guard let problem = status.problems.first else {
            let deposits = status.deposits == 0 ? "" : ", \(ComicText.count(status.deposits, "deposit")) waiting"
            return .init(
                subject,
                "\(status.path), \(isHeld(status) ? "unlocked" : "locked"), trusted here\(deposits)")
        }
        let rest = status.problems.count - 1
        return .init(
            subject, problem + (rest > 0 ? " (and \(rest) more)" : ""),
            remedy: "`steward vault status` shows all; docs/vault.md says what to do with each")
    }

    /// Whether the daemon or another process has it unlocked.
    private func isHeld(_ status: VaultStatus) -> Bool {
        if status.isUnlocked { return true }
        guard let file = try? Descriptor(status.path.appending(VaultLayout.description), O_RDWR) else { return false }
        return (try? FileLock.acquire(.exclusive, on: file)) == false
    }

    /// Keys are kept in locked memory that is never swapped; checks how much this process may lock.
    static func memory() -> Examination.Finding {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit)
        if limit.rlim_cur >= 64 << 10 {
            let text = limit.rlim_cur > 1 << 40 ? "without limit" : "\(limit.rlim_cur >> 10) KiB"
            return .init("locked memory", "\(text) for keys")
        }
        return .init(
            "locked memory", "only \(limit.rlim_cur) bytes may be locked for keys",
            remedy: "`LimitMEMLOCK=8M` in the unit, `ulimit -l 8192` in a shell: without it no vault is unlocked")
    }
}

extension Configuration {
    /// `steward check`, the part about vaults: problems that are not visible in the file.
    package func vaultDiagnostics() throws -> [Diagnostic] {
        try vaults.flatMap { place in
            try VaultStatus(place).problems.map { problem in
                Diagnostic(
                    file: place.path.description, at: .start, "the vault `\(place.name)`: \(problem)",
                    severity: .warning)
            }
        }
    }
}

import Foundation
import OwnFiles
import Platform
import Rules

/// `steward doctor`, the part that only the daemon can check: what its unit, container or user allows it to do. It
/// performs the same operations as jobs, so nothing passes here that would fail there.
package struct CageExamination: Sendable {
    private let agent: Agent
    private var core: AgentCore { agent.core }

    init(_ agent: Agent) { self.agent = agent }

    /// Call this in the daemon. Writes and removes a few bytes in places and in the state directory.
    func findings() async -> [Examination.Finding] {
        var all: [Examination.Finding] = []
        do {
            let state = core.directories.state
            all =
                try await answer(within: 10) {
                    [folder(state, "state directory", needsLeases: false), landlock(), filters()]
                } ?? [Examination.silent("state directory", state)]
            let claims = core.journal.presence.claims
            for place in core.places.places {
                let subject = "place \(place.name)"
                if let holder = claims?.inUse[place.name] {
                    all.append(
                        Examination.Finding(
                            subject,
                            "\(place.root) is in use by \(holder); nothing is done there until that agent ends",
                            remedy: Examination.inUseRemedy))
                } else if let reason = claims?.unlockable[place.name] {
                    all.append(
                        Examination.Finding(
                            subject, "it cannot be locked (\(reason)), so another agent on it would not be noticed"))
                }
                all +=
                    try await answer(within: 5) {
                        // A missing place is reported separately.
                        (try? FileStatus.of(place.root)) ?? nil == nil
                            ? [] : [folder(place.root, subject, needsLeases: true)]
                    } ?? [Examination.silent(subject, place.root)]
            }
        } catch {
            all = [Examination.Finding("examination", explain(error), remedy: "read the agent's log")]
        }
        all += await agent.warnings()
        all += await ComicExamination().findings()
        all += await ContentExamination().findings()
        if !core.configuration.vaults.isEmpty { all.append(VaultExamination.memory()) }
        return all.map(Self.told)
    }

    /// Marks the finding as the agent's, as opposed to the command's own.
    private static func told(_ finding: Examination.Finding) -> Examination.Finding {
        Examination.Finding("agent, \(finding.subject)", finding.message, remedy: finding.remedy)
    }

    private func folder(_ path: BytePath, _ subject: String, needsLeases: Bool) -> Examination.Finding {
        do {
            return try FolderProbe(path).finding(subject, needsLeases: needsLeases)
                ?? Examination.Finding(
                    subject, "\(path): opened below it, written, \(needsLeases ? "leased, " : "")removed")
        } catch {
            return Examination.Finding(
                subject, explain(error),
                remedy:
                    "check the permissions of \(path), and whether the unit allows the agent to write (ReadWritePaths=, BindPaths=)"
            )
        }
    }

    private func landlock() -> Examination.Finding {
        do {
            guard let version = try KernelOffers.landlock() else {
                return Examination.Finding(
                    "Landlock", "this kernel has none; the unpacking process is locked down by seccomp")
            }
            return Examination.Finding("Landlock", "version \(version)")
        } catch {
            return Examination.Finding(
                "Landlock", explain(error),
                remedy:
                    "allow landlock_create_ruleset, landlock_add_rule and landlock_restrict_self in the filter of the agent's "
                    + "system calls")
        }
    }

    private func filters() -> Examination.Finding {
        do {
            try KernelOffers.checkFilters()
            return Examination.Finding("seccomp", "filters can be set")
        } catch {
            return Examination.Finding(
                "seccomp", explain(error),
                remedy:
                    "no comic is imported like this; allow the system call seccomp in the filter of the agent's calls")
        }
    }
}

extension CageExamination {
    /// The daemon's findings, for a command; empty if no daemon is running. Blocks until the checks are done.
    package static func asked(_ socket: BytePath) -> [Examination.Finding] {
        do {
            return try ControlClient.ask(ExamineCage(), at: socket) ?? []
        } catch {
            return [
                told(
                    Examination.Finding(
                        "examination", "the running agent does not report its permissions: \(explain(error))",
                        remedy:
                            "ask as the agent's user, or as root; restart the agent if it is older than this program"
                    ))
            ]
        }
    }
}

import Foundation
import Platform
import TestSupport
import Testing

/// Two users: files, folders and targets are exchanged for links at full speed while each action is running.
///
/// 50 exchanges of each kind; 10,000 with `STEWARD_TEST_WHOLE=1` (`make campaign`). `Tests/Campaigns/README.md` says
/// how to read the table.
@Suite(
    "The race campaign", .serialized, .enabled(if: TestUser.areBothHere, Comment(rawValue: TestUser.comment)))
struct SwapCampaignTests {
    private static let swaps = Thoroughness.isWhole ? 10_000 : 50

    @Test(
        "Whatever is swapped for a link, nothing of the victim's is read, moved or written",
        arguments: AttackedAction.all)
    func campaign(_ action: AttackedAction) async throws {
        let users = try TwoUsers.attacked(by: [action], settle: "100ms")
        try users.guardVictim()
        try await users.steward.start()
        var rows: [String] = []
        var hasRested = true
        for kind in SwapStorm.kinds(for: action) {
            let before = try dealtWith(users)
            let figures = try SwapStorm(users, action, kind, swaps: Self.swaps).run()
            // A storm that does not settle is reported at the end; the other kinds are still tested.
            if hasRested { hasRested = try users.steward.rest() }
            rows.append(
                row(
                    action.name, kind.rawValue, "\(figures.swaps)", "\(figures.files)",
                    "\(try dealtWith(users) - before)"))
        }
        let head = row("action", "exchanged", "swaps", "dropped", "jobs")
        print(([head] + rows).joined(separator: "\n"))
        try await users.expectNoDamage()
    }

    /// How many jobs have finished, successfully or not.
    private func dealtWith(_ users: TwoUsers) throws -> Int {
        let jobs = try users.steward.json(["status"])["jobs"]
        return jobs.keys.reduce(0) { $0 + Int(jobs[$1].number ?? 0) }
    }

    private func row(_ cells: String...) -> String {
        cells.map { $0.padding(toLength: 14, withPad: " ", startingAt: 0) }.joined(separator: " ")
    }
}

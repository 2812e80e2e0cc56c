import Platform
import Testing

@testable import AgentKit

@Suite("Finding the last backup old")
struct LastBackupTests {
    private let now = Timestamp(seconds: 1_800_000_000)

    private func findings(_ last: LastBackup?) -> [HealthReport.Finding] {
        var report = StatusReport(
            isRunning: true, process: 1, since: nil, isPaused: false, rules: 0, files: 0, jobs: [:], places: [],
            settling: [], waiting: [], parked: [], quarantined: 0, overflows: 0, watchLimitHit: false, warnings: [])
        report.lastBackup = last
        return HealthReport(report, now: now).findings
    }

    private func findings(days: Double) -> [HealthReport.Finding] {
        findings(LastBackup(time: now.adding(seconds: -days * 86_400), path: "/mnt/backups/steward-20261123T180447Z"))
    }

    @Test("One from a week ago is not old, one over eight days is; without any backup none is missed")
    func old() {
        #expect(findings(nil).isEmpty)
        for days in [-400, 0, 7, 7.9] { #expect(findings(days: days).isEmpty, "\(days) days") }
        for days in [8.1, 400] {
            let found = findings(days: days)
            #expect(found.map(\.subject) == ["backup"], "\(days) days")
            #expect(found.first?.message.contains("run `steward backup /mnt/backups`") == true)
        }
    }

    @Test("A user and a group have one number and one name; an unassigned number belongs to nobody")
    func names() {
        let owners = BackupOwners()
        #expect(owners.name(ofUser: 0) == "root" && owners.user(named: "root") == 0)
        #expect(owners.group(named: "root") == 0)
        for _ in 1...2 {
            #expect(owners.user(named: "no such user") == nil && owners.group(named: "no such group") == nil)
            #expect(owners.name(ofUser: 3_999_999_999) == nil)
        }
        #expect(owners.names(of: nil).owner == nil)
    }
}

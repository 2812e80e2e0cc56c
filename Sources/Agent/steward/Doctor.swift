import AgentKit
import ArgumentParser
import Foundation
import Platform

/// `steward doctor`
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the machine: watches, folders, leases, disk, clock, keys; say how to fix problems.",
        discussion: """
            Checks with your permissions, and lets the running agent check with its own, which a unit or another \
            user may restrict. Exits with 2 if something needs fixing.
            """)

    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let configuration = try options.configuration(directories)
            let examination = Examination(configuration: configuration, directories: directories)
            let findings =
                try await examination.findings() + ComicExamination().findings()
                + ContentExamination().findings()
                + VaultExamination(configuration, directories).findings() + AdvisorExamination().findings()
                + PublishExamination(configuration, directories).findings()
                + CageExamination.asked(directories.socket)
            try Output.show(findings, lines: findings.flatMap(\.lines), json: options.json)
            if findings.contains(where: { !$0.isWell }) { throw ExitCode(2) }
        }
    }
}

import AgentKit
import ArgumentParser
import OwnFiles
import Platform
import Rules

/// `steward check`
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Report all errors in the configuration and the rules.",
        discussion: "Exits with 2 if there are errors, and with 0 if there are none or only warnings.")

    @OptionGroup var options: CommonOptions

    struct Report: Encodable {
        let diagnostics: [Diagnostic]
        let rules: Int
        let files: [RuleFile]
    }

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let (configuration, found) = Configuration.load(directories)
            var report = Report(diagnostics: found, rules: 0, files: [])
            if let configuration {
                let core = try AgentCore.forPlanning(configuration, directories)
                let loaded = core.loadRules()
                let withheld =
                    PlacePermits(core).warnings(loaded.rules)
                    + ProgramFolderCheck.warnings(loaded.rules) { try? FileStatus.of($0) }
                report = Report(
                    diagnostics: found + loaded.diagnostics + (try configuration.vaultDiagnostics()) + withheld,
                    rules: loaded.rules.count, files: loaded.files)
            }
            try Output.show(report, lines: Self.lines(report, directories), json: options.json)
            if report.diagnostics.hasErrors { throw ExitCode(2) }
        }
    }

    private static func lines(_ report: Report, _ directories: Directories) -> [String] {
        let errors = report.diagnostics.filter { $0.severity == .error }.count
        let warnings = report.diagnostics.count - errors
        let masked = report.files.filter { $0.fate != .used }.map { file in
            "\(file.path): \(file.fate == .mask ? "masks rules of its name" : "replaced by \(file.replacedBy?.description ?? "")")"
        }
        return report.diagnostics.flatMap(\.lines) + masked + [
            "\(report.rules) rules in \(report.files.filter { $0.fate == .used }.count) files, \(errors) errors, \(warnings) warnings"
        ]
    }
}

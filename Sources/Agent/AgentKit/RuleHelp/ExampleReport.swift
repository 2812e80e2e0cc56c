import OwnFiles
import Platform
import Rules

/// `steward rules test`: runs the examples of rules, each in its own temporary home.
package struct ExampleReport: Codable, Sendable {
    package struct Result: Codable, Sendable {
        package let file: String
        package let line: Int
        package let rule: String
        package let example: String
        /// Why it was not run.
        package let skipped: String?
        /// The unmet expectations.
        package let complaints: [Diagnostic]
    }

    package var results: [Result] = []
    /// Problems of the rule files themselves.
    package var diagnostics: [Diagnostic] = []

    package var isGood: Bool { !diagnostics.hasErrors && results.allSatisfy(\.complaints.isEmpty) }

    /// Runs the examples of some rule files.
    ///
    /// - Parameters:
    ///   - files: nil for the rules in force.
    ///   - rule: limits the run to the examples of this rule.
    ///   - allowsPrograms: whether steps may run programs: for real, and with this user's rights.
    ///   - configuration: provides places in addition to those named in the rules; nil if there is none.
    /// - Throws: `Fault` if a file cannot be read or no home can be created.
    package static func of(
        _ files: [BytePath]?, rule: String?, allowsPrograms: Bool, _ configuration: Configuration?,
        _ directories: Directories
    ) async throws -> ExampleReport {
        // Notes are written under leases; the default action of a lease break signal would end this process.
        Lease.ignoreBreakSignal()
        let configuration = configuration ?? Configuration()
        let all = try await BlockingPool("examples").run { () -> [(BytePath, [UInt8])] in
            let paths = try files ?? inForce(configuration, directories)
            return try paths.map { ($0, try ConfigurationFiles.read($0, limit: RuleFileReader.limit)) }
        }
        var report = ExampleReport()
        for (file, bytes) in all {
            try await report.add(file, bytes, rule, allowsPrograms, configuration)
        }
        return report
    }

    private static func inForce(_ configuration: Configuration, _ directories: Directories) throws -> [BytePath] {
        try AgentCore.forPlanning(configuration, directories).loadRules().files.filter { $0.fate == .used }.map(\.path)
    }

    private mutating func add(
        _ file: BytePath, _ bytes: [UInt8], _ only: String?, _ allowsPrograms: Bool, _ configuration: Configuration
    ) async throws {
        let names = NamesInRules(file: file.description, bytes: bytes)
        var number = 0
        while true {
            let home = try await BlockingPool("examples").run {
                try ExampleHome(configuration, naming: names)
            }
            do {
                // Parsed again for each home, because actions are bound to its places.
                let (rules, found) = home.core.parse(file, bytes)
                let examples = rules.filter { only == nil || $0.name == only }.flatMap { rule in
                    rule.examples.map { (rule, $0) }
                }
                if number == 0 { diagnostics += found }
                if examples.indices.contains(number) {
                    let (rule, example) = examples[number]
                    results.append(try await Self.result(rule, example, home, file.parent, allowsPrograms))
                }
                number += 1
                try await BlockingPool("examples").run { try home.close() }
                if number >= examples.count { return }
            } catch {
                // The original error matters more than a failed cleanup.
                try? await BlockingPool("examples").run { try home.close() }
                throw error
            }
        }
    }

    private static func result(
        _ rule: Rule, _ example: RuleExample, _ home: ExampleHome, _ folder: BytePath, _ allowsPrograms: Bool
    ) async throws -> Result {
        let skipped = ExampleRun.obstacle(rule, allowsPrograms: allowsPrograms)
        var complaints: [Diagnostic] = []
        if skipped == nil {
            do {
                complaints = try await ExampleRun(rule: rule, example: example, home: home, folder: folder).complaints()
            } catch {
                let message = "\(rule.name): \(example.name): it could not be run: \(explain(error))"
                complaints = [Diagnostic(file: rule.file, at: example.position, message)]
            }
        }
        return Result(
            file: rule.file, line: example.position.line, rule: rule.name, example: example.name, skipped: skipped,
            complaints: complaints)
    }

    /// For the terminal.
    package var lines: [String] {
        var out = diagnostics.flatMap(\.lines)
        for result in results {
            let what = "\(result.rule): \(result.example)"
            if let skipped = result.skipped {
                out.append("skip  \(what)  (\(skipped))")
            } else if result.complaints.isEmpty {
                out.append("ok    \(what)")
            } else {
                out += ["FAIL  \(what)"] + result.complaints.flatMap(\.lines).map { "      \($0)" }
            }
        }
        let bad = results.count { !$0.complaints.isEmpty }
        let skipped = results.count { $0.skipped != nil }
        return out + [
            "\(results.count) examples: \(results.count - bad - skipped) as expected, \(bad) not, \(skipped) not run"
        ]
    }
}

extension AgentCore {
    /// Parses rules against these places.
    func parse(_ file: BytePath, _ bytes: [UInt8]) -> ([Rule], [Diagnostic]) {
        RuleDirectories.parse(
            file: file.description, bytes: bytes, registry: registry, places: configuration.places.map(\.info),
            timeZone: configuration.timeZone, settle: configuration.settle)
    }
}

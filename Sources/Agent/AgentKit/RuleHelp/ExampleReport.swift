import OwnFiles
import Platform
import Rules

/// `steward rules test`: the examples beside rules, each carried out in a throw-away home of its own.
package struct ExampleReport: Codable, Sendable {
    package struct Result: Codable, Sendable {
        package let file: String
        package let line: Int
        package let rule: String
        package let example: String
        /// Why it was not carried out.
        package let skipped: String?
        /// What is not as expected.
        package let complaints: [Diagnostic]
    }

    package var results: [Result] = []
    /// What is wrong with the rule files themselves.
    package var diagnostics: [Diagnostic] = []

    package var isGood: Bool { !diagnostics.hasErrors && results.allSatisfy(\.complaints.isEmpty) }

    /// Carries out the examples of some rule files.
    ///
    /// - Parameters:
    ///   - files: nil for those in force.
    ///   - rule: the only rule whose examples are carried out.
    ///   - allowsPrograms: whether steps may run programs: for real, and with this user's rights.
    ///   - configuration: whose places there are, besides those that the rules name; nil where there is none.
    /// - Throws: `Fault` where a file cannot be read, or no home can be made.
    package static func of(
        _ files: [BytePath]?, rule: String?, allowsPrograms: Bool, _ configuration: Configuration?,
        _ directories: Directories
    ) async throws -> ExampleReport {
        // Notes are written under leases, whose breaking would end this process.
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
                // Anew for each home: actions know the places that they were made for.
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
                // What went wrong is told, and not that its home could not be removed either.
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
                let message = "\(rule.name): \(example.name): it could not be carried out: \(explain(error))"
                complaints = [Diagnostic(file: rule.file, at: example.position, message)]
            }
        }
        return Result(
            file: rule.file, line: example.position.line, rule: rule.name, example: example.name, skipped: skipped,
            complaints: complaints)
    }

    /// For a terminal.
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
            "\(results.count) examples: \(results.count - bad - skipped) as expected, \(bad) not, \(skipped) not carried out"
        ]
    }
}

extension AgentCore {
    /// The rules of one file's text, for these places.
    func parse(_ file: BytePath, _ bytes: [UInt8]) -> ([Rule], [Diagnostic]) {
        RuleDirectories.parse(
            file: file.description, bytes: bytes, registry: registry, places: configuration.places.map(\.info),
            timeZone: configuration.timeZone, settle: configuration.settle)
    }
}

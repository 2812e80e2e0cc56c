import AgentKit
import ArgumentParser
import ComicVault
import Platform
import Rules
import TKCommands

/// `steward restore`
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a backup, or verify that it can be restored.",
        discussion: """
            Everything is verified before anything changes, and either all of it is restored or nothing. Existing files are \
            never removed: the command refuses, or moves them aside with --replace. No agent may be running. A backup of an \
            agent with another state folder, or from another installation, is refused without --from-another. \
            The destinations come from the existing configuration, never from the backup. Exits with 2 if --verify finds \
            a problem.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "A backup, or the folder of the backups: then the newest one.", completion: .directory)
    var backup: PathArgument?

    @Flag(name: .long, help: "Read every byte of the backup, report damage, and change nothing.")
    var verify = false

    @Flag(name: .long, help: "Show where everything would go, and change nothing.")
    var dryRun = false

    @Flag(name: .long, help: "Move existing files aside.")
    var replace = false

    @Option(
        name: .long, parsing: .upToNextOption,
        help: "Only these: state, captures, vaults/NAME, tk, configuration.")
    var only: [String] = []

    @Flag(
        name: .long,
        help: "Restore into this agent's folders even if the backup is from an agent in another home.")
    var fromAnother = false

    @Option(
        name: .long,
        help:
            "Use this key to check that the backup is this installation's: a file of `steward vault export-key`, or a copy of backup.key.",
        completion: .file())
    var key: PathArgument?

    func validate() throws {
        if verify && (dryRun || replace || fromAnother || !only.isEmpty) {
            throw ValidationError("--verify changes nothing, and cannot be combined with the other options")
        }
    }

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            if !verify, !dryRun, let from = try Restore.finishInterrupted(directories) {
                var report = RestoreReport(backup: from)
                try advise(&report, directories)
                return try Output.show(
                    report, lines: ["finished the restore from \(from) that was interrupted"] + report.advice,
                    json: options.json)
            }
            guard let backup else { throw Fault(.usage, "name a backup: `steward restore FOLDER`") }
            let key = try self.key.map { try BackupKey(exported: $0.absolute) }
            let proof = try BackupProof(
                backup.absolute, newestOf: directories.state, key ?? BackupKey.read(in: directories.state))
            let meter = ProgressMeter.standard(isOff: options.json)
            defer { meter.clear() }
            if verify { return try show(proof, meter, directories) }
            if !fromAnother { try proof.expectOwn(directories, words: words) }
            let configuration = Configuration.load(directories).0
            let plan = try RestorePlan(
                proof, directories, vaults: configuration?.vaults ?? [],
                places: configuration?.places.map(\.info) ?? [],
                tk: BackupPaths.drafts, only: only.isEmpty ? nil : only)
            if dryRun { return try Output.show(plan, lines: plan.lines, json: options.json) }
            var done = Int64(0)
            let total = plan.restored.reduce(0) { $0 + $1.size }
            var report = try Restore(proof, plan, directories) { progress in
                if case .file(let path, let size) = progress {
                    done += size
                    meter.show(done, of: total, path.text)
                }
            }.run(replaces: replace)
            meter.clear()
            if proof.origin == .here, let key { try key.keep(in: directories.state) }
            if proof.origin != .here { report.advice.append("\(proof.path): \(proof.origin.line(directories.state))") }
            report.advice += plan.kept.map { "\($0.name): left out: \($0.leftOut ?? "")" }
            try advise(&report, directories)
            try Output.show(report, lines: report.lines, json: options.json)
        }
    }

    /// The arguments other than the backup.
    private var words: [String] {
        var words: [String] = []
        if dryRun { words.append("--dry-run") }
        if replace { words.append("--replace") }
        if let key { words += ["--key", key.shown] }
        if !only.isEmpty { words += ["--only"] + only }
        return words
    }

    private func advise(_ report: inout RestoreReport, _ directories: Directories) throws {
        let places = Configuration.load(directories).0?.places.map(\.info) ?? []
        try report.advise(directories, places)
    }

    private struct Proved: Encodable {
        let backup: BytePath
        let time: Timestamp
        let files: Int
        let size: Int64
        let consistency: BackupManifest.Consistency
        let madeBy: BackupOrigin
        let findings: [BackupFinding]
    }

    private func show(_ proof: BackupProof, _ meter: ProgressMeter, _ directories: Directories) throws {
        var done = Int64(0)
        let findings = try proof.findings { progress in
            if case .file(let path, let size) = progress {
                done += size
                meter.show(done, of: proof.manifest.size, path.text)
            }
        }
        meter.clear()
        let manifest = proof.manifest
        let proved = Proved(
            backup: proof.path, time: manifest.time, files: manifest.files, size: manifest.size,
            consistency: manifest.consistency, madeBy: proof.origin, findings: findings)
        let last =
            findings.isEmpty
            ? "\(proof.path): \(manifest.files) files are intact, and so are the databases"
            : "\(proof.path): \(findings.count) findings; use another backup, or restore intact parts with --only"
        let origin = "\(proof.path): \(proof.origin.line(directories.state))"
        try Output.show(proved, lines: findings.map(\.line) + [last, origin], json: options.json)
        if !findings.isEmpty || proof.origin == .elsewhere { throw ExitCode(2) }
    }
}

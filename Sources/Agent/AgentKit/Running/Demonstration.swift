import Foundation
import Glibc
import JSONText
import Ledger
import OwnFiles
import Platform

/// `steward demo`: runs an agent in a throw-away home on real files, and explains the outcome of each.
package struct Demonstration: Sendable {
    package struct Report: Codable, Sendable {
        package let home: BytePath
        package let explanations: [Explanation]
        package let status: String
    }

    private let rules: BytePath
    private let keeps: Bool

    /// - Parameter rules: the shipped `rules.d`; nil to look beside the program and in the installed location.
    package init(rules: BytePath?, keeps: Bool) throws {
        let program = BytePath(CommandLine.arguments.first ?? "")
        let near = [
            BytePath.workingFolder.appending("rules.d"),
            program.parent.parent.parent.parent.appending("rules.d"),
            program.parent.parent.appending("share/steward/rules.d"),
            "/usr/share/steward/rules.d",
        ]
        guard let found = try rules ?? near.first(where: { try FileStatus.of($0) != nil }) else {
            throw Fault(.usage, "the shipped rules cannot be found; give their folder with --rules")
        }
        self.rules = found
        self.keeps = keeps
    }

    /// Runs the demo and narrates it.
    package func run(_ tell: @Sendable (String) -> Void, finish: (Report) throws -> Void) async throws {
        let home = BytePath("\(NSTemporaryDirectory())/steward-demo-\(randomHex(4))")
        try Durable.makeDirectory(home, mode: 0o700)
        defer { if !keeps { try? FileManager.default.removeItem(atPath: home.text) } }
        var environment = [
            "HOME": home.text, "STEWARD_RULES": "\(rules.text):\(home.appending("rules.d").text)",
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "",
            "XDG_DATA_HOME": home.appending(".local/share").text,
        ]
        environment["STEWARD_WORKER"] = ProcessInfo.processInfo.environment["STEWARD_WORKER"]
        let directories = try Directories(environment: environment)
        tell("A temporary home: \(home)")
        tell("The shipped rules: \(rules)\n")
        tell("$ steward init")
        let made = try Setup(directories: directories, base: home.appending("Steward").text).carryOut(dryRun: false)
        for path in made.created { tell("  made \(path.relative(to: home) ?? path)") }

        let pool = BlockingPool("demo")
        let base = home.appending("Steward")
        let vault = try DemonstrationVault(base: base, directories: directories, pool: pool)
        try vault.prepare(rules: home.appending("rules.d"))
        let publishing = try DemonstrationPublishing(home: home, pool: pool)
        let plane = try await publishing?.start(directories, rules: home.appending("rules.d"), tell)
        defer { plane?.terminate() }

        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        program.arguments = ["run"]
        program.environment = environment
        let logFile = home.appending("agent.log")
        _ = try Descriptor(logFile, O_WRONLY | O_CREAT)
        program.standardError = FileHandle(forWritingAtPath: logFile.text)
        program.standardInput = FileHandle.nullDevice
        try program.run()
        defer { if program.isRunning { program.terminate() } }
        tell("\n$ steward run &          # process \(program.processIdentifier)")
        try await waitFor(directories.socket, program, logFile)

        tell("\nDropping files into the places:")
        for (path, bytes) in Self.files {
            tell("  \(path)  (\(bytes.count) bytes)")
            try drop(base.appending(path), bytes)
        }
        func short(_ line: String) -> String { line.replacingOccurrences(of: home.text, with: "~") }
        let socket = directories.socket
        _ = try await pool.run { try ControlClient.ask(WaitUntilQuiet(), at: socket) }
        let (configuration, _) = Configuration.load(directories)
        guard let configuration else { throw Fault(.failed, "the demo's own configuration is not valid") }
        let (again, bytes) = DemonstrationComics.duplicate
        tell("\nThe same comic again, under another name:\n  \(again)  (\(bytes.count) bytes)")
        try drop(base.appending(again), bytes)
        _ = try await pool.run { try ControlClient.ask(WaitUntilQuiet(), at: socket) }
        // Blocks in a note trigger rules too; this one is typed as in any editor.
        let today = "notes/inbox.md"
        tell("\nTyping a block into \(today):\n    ^todo-0930\n    Water the plants")
        try drop(
            base.appending(BytePath(today)), Array("# Inbox\n\n## Todo\n\n^todo-0930\nWater the plants\n".utf8),
            replacing: true)
        _ = try await pool.run { try ControlClient.ask(WaitUntilQuiet(), at: socket) }

        tell("\nWhat became of each:")
        var explanations: [Explanation] = []
        for (path, _) in Self.files + [DemonstrationComics.duplicate] {
            let explanation = try await Explanation.of(base.appending(path), event: nil, configuration, directories)
            explanations.append(explanation)
            tell("\n  \(path)")
            for job in explanation.past {
                tell(short("    rule \"\(job.rule)\": \(job.state.rawValue)\(job.problem.map { ", \($0)" } ?? "")"))
                for line in job.done { tell(short("      \(line)")) }
            }
            if explanation.past.isEmpty { tell("    no rule matched it") }
        }
        try await DemonstrationDots(directories: directories, configuration: configuration).run(tell)
        try publishing?.run(tell)
        try await DemonstrationReview(base: base, socket: socket, pool: pool).run(tell)
        try await vault.run(tell) { try drop($0, $1) }
        tell("\nThe library:")
        for comic in try files(below: base.appending("library")) { tell("  \(comic.relative(to: base) ?? comic)") }
        tell("\nThe notes:")
        for note in try files(below: base.appending("notes")) {
            tell("\n  --- \(note.relative(to: base) ?? note)")
            let text = String(decoding: try Descriptor(note).readAll(), as: UTF8.self)
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) { tell("  | \(line)") }
        }
        let status = try await pool.run { try ControlClient.ask(ShowStatus(), at: socket) }
        tell("\n$ steward status")
        for line in status?.lines ?? [] { tell(short("  \(line)")) }
        let shown = try status.map { try JSONText.shown($0) } ?? "{}"
        try finish(Report(home: home, explanations: explanations, status: shown))
        program.terminate()
        try await ended(program)
        tell(keeps ? "\nKept: \(home)" : "\nThe agent has stopped; its home is removed (--keep keeps it).")
    }

    private static let files: [(BytePath, [UInt8])] =
        [
            ("dropbox/idea.md", Array("Swap the two chapters, then read it aloud.\n".utf8)),
            ("dropbox/link.url", Array("[InternetShortcut]\r\nURL=https://www.swift.org/documentation/\r\n".utf8)),
            ("dropbox/walk.txt", Array("moment: today\nTwo herons by the canal.\n".utf8)),
            ("dropbox/now", []),
            ("dropbox/holiday.png", DemonstrationComics.pixel),
            // A folder becomes one capture.
            ("dropbox/Canal walk/nest.png", DemonstrationComics.pixel),
            ("dropbox/Canal walk/words.txt", Array("A nest under the bridge.\n".utf8)),
            ("dropbox/broken.bin", Array("\u{1}\u{2}\u{3}".utf8) + [0xFF, 0xFE, 0x00, 0x80]),
            DemonstrationReview.draft,
        ] + DemonstrationComics.files

    private func drop(_ path: BytePath, _ bytes: [UInt8], replacing: Bool = false) throws {
        try Durable.makeDirectory(path.parent)
        let file = try Descriptor(path, O_WRONLY | O_CREAT | (replacing ? O_TRUNC : O_EXCL), mode: 0o644)
        try file.write(bytes, at: 0)
        // Backdated: an empty file that was just created may still be filled.
        if bytes.isEmpty {
            try file.setTimes(accessed: nil, modified: Timestamp.now().adding(seconds: -120).nanoseconds)
        }
    }

    /// Excludes the agent's own working files.
    private func files(below folder: BytePath) throws -> [BytePath] {
        let own = NamePatterns([WorkNames.own])
        return try listDirectory(folder).sorted { $0.name.lexicographicallyPrecedes($1.name) }
            .filter { own.first(matching: $0.name) == nil }
            .flatMap { entry -> [BytePath] in
                let path = folder.appending(name: entry.name)
                return entry.isDirectory == true ? try files(below: path) : [path]
            }
    }

    private func waitFor(_ socket: BytePath, _ program: Process, _ log: BytePath) async throws {
        for _ in 0..<600 {
            if try FileStatus.of(socket) != nil { return }
            guard program.isRunning else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Fault(
            .failed,
            "the demo's agent did not start:\n" + String(decoding: try Descriptor(log).readAll(), as: UTF8.self))
    }

    private func ended(_ program: Process) async throws {
        while program.isRunning { try await Task.sleep(for: .milliseconds(50)) }
    }
}

import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// A random organize configuration with one rule that removes files.
private struct RandomRule {
    private var generator: SeededGenerator

    init(_ generator: SeededGenerator) { self.generator = generator }

    private mutating func one<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &generator)] }
    private mutating func isSo(_ often: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < often }

    private static let patterns = ["'*.kdbx'", "keep*", "'[a-m]*'", "'*'", "sub", "'n?w'", "'*.TXT'", "é*", "'{x}'"]
    private static let locationKeys = [
        "exclude_files", "exclude_dirs", "filter", "filter_dirs", "system_exclude_files", "system_exclude_dirs",
    ]
    private static let filters = [
        "extension: txt", "extension: [.TXT, kdbx]", "extension: 'tar.gz gz'", "extension", "not extension: txt",
        "extensions: txt", "name: report", "name: 'r*t'", "name: { startswith: [rep, Keep], case_sensitive: false }",
        "name: { startwith: rep }", "name: { contains: e }", "name: { endswith: rt }", "name: { contains: [] }",
        "not name: { contains: é }", "name", "size: '> 0'", "size: { conditions: '>= 1kb' }", "size: '< 0.5 kb, > 1'",
        "size: 1000", "not size: '<1k'", "empty", "not empty", "lastmodified: { days: 30 }",
        "lastmodified: { day: 30 }",
        "lastmodified: { months: 2, mode: newer }", "lastmodified: 30", "not lastmodified: { days: 30 }",
        "lastmodified", "not lastmodified", "regex: '^r.*t'", "not regex: 'ee'", "regex: { expr: '\\w+\\.txt$' }",
        "filecontent: secret", "not filecontent: secret", "mimetype: text", "hash", "not hash", "duplicate",
        "created: { hours: 1 }", "macos_tags: x", "filterz: x", "exif",
    ]
    private static let actions = [
        "delete", "trash", "move: ~/Away/", "rename: '{path.stem}.gone'", "rename: '{name}.gone'", "echo: hello",
        "shell: 'true'", "copy: ~/Away/", "copy: { dest: ~/Away/, continue_with: original }",
        "move: { dest: ~/Away/, on_conflict: skip }",
        "move: { dest: '~/Away/{extension}/', rename_template: '{name}' }",
        "move: { dst: ~/Away/ }", "delete: { force: true }",
    ]

    mutating func next() -> String {
        var lines = ["rules:", "  - name: by chance", "    locations:"]
        for folder in ["~/Downloads", "~/Documents"] where isSo(0.7) || lines.count == 3 {
            lines.append("      - path: \(folder)")
            if isSo(0.5) { lines.append("        max_depth: \(one(["0", "1", "2", "null", "inherit", "-1"]))") }
            if isSo(0.2) { lines.append("        min_depth: \(one(["0", "1", "2"]))") }
            for key in Self.locationKeys where isSo(0.25) {
                let globs = (0..<Int.random(in: 0...2, using: &generator)).map { _ in one(Self.patterns) }
                lines.append("        \(key): [\(globs.joined(separator: ", "))]")
            }
            if isSo(0.03) { lines.append("        exclude_file: ['*.kdbx']") }
        }
        let keys = [
            ("subfolders", ["true", "false", "yes"], 0.5), ("targets", ["files", "dirs", "folders"], 0.15),
            ("enabled", ["true", "false"], 0.1), ("tags", ["[never]", "[always]", "[x]", "[always, never]"], 0.1),
            ("filter_mode", ["all", "any", "none", "none", "non"], 0.4), ("filterz", ["[empty]"], 0.02),
        ]
        for (key, values, often) in keys where isSo(often) { lines.append("    \(key): \(one(values))") }
        let count = Int.random(in: 0...3, using: &generator)
        if count > 0 { lines.append("    filters:") }
        for _ in 0..<count { lines.append("      - \(one(Self.filters))") }
        lines.append("    actions:")
        for _ in 0..<(isSo(0.25) ? 2 : 1) { lines.append("      - \(one(Self.actions))") }
        lines.append("      - \(one(["trash", "delete"]))")
        return lines.joined(separator: "\n") + "\n"
    }

    /// None has a letter and its accent as two characters: Steward compares them as one (docs/organize.md), organize as
    /// two.
    private static let names = [
        "report.txt", "Report.TXT", "report.tar.gz", "r.txt", "report", "keep.txt", "keep.kdbx", "secrets.kdbx",
        "thumbs.db", "desktop.ini", ".localized", ".hidden.txt", "now.md", "é.txt", "a{x}.txt",
        "x.report", "line\nend.txt", "reee.txt",
    ]
    private static let folders = [
        "", "", "sub/", "keep/", "sub/keep/", ".git/", "sub/.svn/", "now/", "a.b/c/", "sub/sub/sub/",
    ]

    /// Files below a home, with their content and their age in days.
    mutating func files() -> [(path: String, text: String, age: Int)] {
        var files: [String: (String, Int)] = [:]
        for number in 0..<30 {
            let path = one(["Downloads/", "Documents/"]) + one(Self.folders) + one(Self.names)
            let text = one([
                "", "secret \(number)", "open \(number)", String(repeating: "x", count: 1000) + "\(number)",
            ])
            files[path] = (text, one([0, 40, 400]))
        }
        return files.map { ($0.key, $0.value.0, $0.value.1) }.sorted { $0.path < $1.path }
    }
}

@Suite("Files selected by an imported rule and by organize") struct OrganizeSubsetTests {
    private struct Case {
        let rule: String
        let files: [(path: String, text: String, age: Int)]
    }

    /// Rules once converted without the part that protects files.
    private static let known = [
        "    filters: []\n    actions: [delete]\n    subfolders: true\n    LOCATION exclude_files: ['*.kdbx']",
        "    subfolders: true\n    actions: [{ shell: 'true' }, delete]", "    tags: [never]\n    actions: [trash]",
        "    filters: [{ lastmodified: { day: 30 } }]\n    actions: [delete]",
        "    filter_mode: non\n    filters: [empty]\n    actions: [trash]",
        "    targets: folders\n    actions: [trash]",
        "    filterz: [empty]\n    actions: [trash]", "    enabled: false\n    actions: [trash]",
        "    filters: [{ size: { conditions: '> 900' } }]\n    actions: [trash]",
        "    filters: [not hash]\n    actions: [trash]", "    filter_mode: any\n    actions: [trash]",
        "    actions: [{ copy: ~/Away/ }, delete]", "    filters: [{ name: { contains: [] } }]\n    actions: [trash]",
    ]

    private static func known(_ rest: String) -> String {
        let option = rest.split(separator: "\n").first { $0.contains("LOCATION") }
        let lines = rest.split(separator: "\n").filter { !$0.contains("LOCATION") }
        let location = option.map { "\n        " + $0.replacing("    LOCATION ", with: "") } ?? ""
        return "rules:\n  - name: known\n    locations:\n      - path: ~/Downloads\(location)\n"
            + lines.joined(separator: "\n") + "\n"
    }

    @Test(
        "A destructive rule never selects a file that organize leaves alone",
        .enabled("organize is wanted (see Tests/Peers/organize.sh)") { await Organize.program != nil })
    func subset() async throws {
        let organize = BytePath(try #require(await Organize.program))
        let generator = SeededGenerator(for: "imported rules beside organize")
        var random = RandomRule(generator)
        var cases = Self.known.map { Case(rule: Self.known($0), files: random.files()) }
        for _ in 0..<(Thoroughness.isWhole ? 1000 : 80) {
            cases.append(Case(rule: random.next(), files: random.files()))
        }

        let theirs = try TemporaryFolder("organize-each")
        for (number, each) in cases.enumerated() {
            try theirs.write(BytePath("\(number)/organize.yaml"), each.rule)
            try put(each.files, into: theirs.path.appending("\(number)/home"))
        }
        let python = organize.parent.appending("python").text
        let peers = Checkout.root.appending("Tests/Peers")
        let run = try await runProgramAside([
            peers.appending("confined.sh").text, theirs.path.text, python, peers.appending("organize_each.py").text,
            theirs.path.text,
        ])
        if run.status == 75 { try Test.cancel("organize cannot be confined: \(run.errors)") }
        try #require(run.status == 0, "\(run.errors)")

        let steward = try AgentFixture()
        let places = ["Downloads", "Documents", "Away"]
        try steward.configurePlaces(places)
        var (inForce, taken, left) = (0, 0, 0)
        for (number, each) in cases.enumerated() {
            let home = theirs.path.appending("\(number)/home")
            // As shown by `rules try`.
            let gone = Set(
                try each.files.filter { try !isUntouched($0, in: home) }.map { BytePath($0.path).description })
            for place in places { try steward.empty(BytePath(place)) }
            try put(each.files, into: steward.home.path)
            let file = try steward.home.write("organize.yaml", each.rule)
            let imported = try steward.run(["rules", "import", file.text, "--json"])
            // An invalid configuration is not a rule either.
            guard imported.status == 0 else { continue }
            let answer = try Answer(parsing: imported.output)
            if let count = answer["rules"].number, count > 0 { inForce += 1 }
            try steward.home.write("rules/60-organize.yaml", answer["text"].text)
            let trial = try steward.json(
                [
                    "rules", "try", "--rules", steward.home.path.appending("rules").text,
                    steward.home.path.appending("Downloads").text, steward.home.path.appending("Documents").text,
                ])
            func below(_ path: String) -> String { BytePath(path).relative(to: steward.home.path)?.text ?? path }
            var ours: Set<String> = []
            for file in trial["files"].items where !file["rules"].items.isEmpty {
                ours.insert(below(file["file"].text))
            }
            for folder in trial["folders"].items where !folder["rules"].items.isEmpty {
                let path = below(folder["file"].text) + "/"
                ours.formUnion(each.files.map { BytePath($0.path).description }.filter { $0.hasPrefix(path) })
            }
            #expect(ours.subtracting(gone) == [], "\(each.rule)\n\(answer["text"].text)")
            taken += ours.count
            left += gone.subtracting(ours).count
        }
        // The test would prove nothing if everything were a subset.
        #expect(
            inForce > 5 && taken > 10,
            "\(inForce) rules in force, \(taken) files taken, \(left) that organize takes besides")
        print("\(cases.count) rules, \(inForce) in force: \(taken) files taken, \(left) that organize takes besides")
    }

    private func put(_ files: [(path: String, text: String, age: Int)], into home: BytePath) throws {
        for folder in ["Downloads", "Documents"] { try Durable.makeDirectory(home.appending(folder)) }
        for file in files {
            let path = home.appending(BytePath(file.path))
            try Durable.makeDirectory(path.parent)
            let written = try Descriptor(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
            try written.write(Array(file.text.utf8), at: 0)
            let time = Timestamp.now().nanoseconds - Int64(file.age) * 86_400_000_000_000
            try written.setTimes(accessed: nil, modified: time)
        }
    }

    private func isUntouched(_ file: (path: String, text: String, age: Int), in home: BytePath) throws -> Bool {
        let path = home.appending(BytePath(file.path))
        return try FileStatus.of(path) != nil && TemporaryFolder.text(path) == file.text
    }
}

extension AgentFixture {
    /// Configures places for the given folders of the home, which are created.
    fileprivate func configurePlaces(_ folders: [String]) throws {
        let lines = folders.map { folder in "\n  \(folder.lowercased()): { kind: folder, path: \"~/\(folder)\" }" }
        for folder in folders { try Durable.makeDirectory(home.path.appending(BytePath(folder))) }
        let file: BytePath = ".config/steward/steward.yaml"
        try home.write(file, try home.read(file).replacing("\nplaces:\n", with: "\nplaces:\(lines.joined())\n"))
    }

    /// Deletes the contents of a folder in the home.
    fileprivate func empty(_ folder: BytePath) throws {
        let path = home.path.appending(folder)
        try? FileManager.default.removeItem(atPath: path.text)
        try Durable.makeDirectory(path)
    }
}

import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Rule directories") struct RuleDirectoryTests {
    private func text(_ name: String) -> String { "- rule: \(name)\n  in: other\n  do: [trash]\n" }

    private let files = RuleFileReader(names: ConfigurationFiles.names) {
        try ConfigurationFiles.read($0, limit: RuleFileReader.limit)
    }

    private func load(
        _ folder: TemporaryFolder, _ names: [String] = ["usr", "etc", "home"], others: String? = nil,
        before: [BytePath: [Rule]]? = nil, reader: RuleFileReader? = nil
    ) -> LoadedRules {
        RuleDirectories.load(
            names.map { folder.path.appending($0) }, others: others.map { folder.path.appending($0) }, before: before,
            reader ?? files, registry: registry, places: places(), timeZone: utc)
    }

    @Test("Files are read by name across directories, and later ones replace") func filesReadName() throws {
        let folder = try TemporaryFolder()
        try folder.write("usr/20-b.yaml", text("usr b"))
        try folder.write("usr/30-c.yaml", text("usr c"))
        try folder.write("etc/10-a.yaml", text("etc a"))
        try folder.write("home/20-b.yaml", text("home b"))
        try folder.write("home/README.md", "no rules")
        let loaded = load(folder)
        #expect(loaded.diagnostics == [])
        #expect(loaded.rules.map(\.name) == ["etc a", "home b", "usr c"])
        #expect(loaded.files.map(\.fate) == [.used, .replaced, .used, .used])
        #expect(loaded.files[1].replacedBy == folder.path.appending("home/20-b.yaml"))
    }

    @Test("An empty file or a link to /dev/null masks") func emptyFileLink() throws {
        let folder = try TemporaryFolder()
        try folder.write("usr/10-a.yaml", text("a"))
        try folder.write("usr/20-b.yaml", text("b"))
        try folder.write("usr/30-c.yaml", text("c"))
        try folder.write("etc/10-a.yaml", "")
        #expect(symlink("/dev/null", folder.path.appending("etc/20-b.yaml").text) == 0)
        #expect(symlink("../usr/30-c.yaml", folder.path.appending("etc/30-c.yaml").text) == 0)
        let loaded = load(folder)
        #expect(loaded.rules.map(\.name) == ["c"])
        #expect(loaded.files.map(\.fate) == [.replaced, .mask, .replaced, .mask, .replaced, .used])
    }

    @Test("Missing directories hold no rules") func missingDirectoriesHold() throws {
        let loaded = load(try TemporaryFolder(), ["none", "nor/this"])
        #expect(loaded.rules.isEmpty)
        #expect(loaded.diagnostics == [])
    }

    @Test("A broken file is reported and the others are read") func brokenFileReported() throws {
        let folder = try TemporaryFolder()
        try folder.write("usr/10-a.yaml", "- rule: [")
        try folder.write("usr/20-b.yaml", text("b"))
        try folder.write("usr/30-c.yml", text("c"))
        try Durable.makeDirectory(folder.path.appending("usr/40-d.yaml"))
        let (set, diagnostics) = RuleSet.load(
            directories: [folder.path.appending("usr")], files, registry: registry, places: places(), timeZone: utc)
        #expect(set.rules.map(\.name) == ["b"])
        #expect(diagnostics.hasErrors)
        #expect(diagnostics.map(\.severity) == [.warning, .error, .error])
    }

    @Test(
        "A system rule that needs what only the system's agent has is skipped with a warning",
        arguments: [
            ("in: [other, box]\n  do: [trash]", "2:15", "unknown place `box`"),
            ("in: other\n  where: { not: { place: box } }\n  do: [trash]", "3:26", "unknown place `box`"),
            ("in: other\n  where: { duplicate-of: box }\n  do: [trash]", "3:26", "unknown place `box`"),
            ("in: other\n  do: [{ move: { to: box } }]", "3:22", "unknown place `box`"),
            (
                "in: other\n  do: [import-comic: { into: nowhere }]", "3:30",
                "`into` of `import-comic`: there is no vault `nowhere`"
            ),
            // Other errors are reported by the machine's agent.
            ("in: box\n  do: [trsh]", "2:7", "unknown place `box`"),
        ])
    func othersRule(rest: String, position: String, lack: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("etc/10-a.yaml", "- rule: Box\n  \(rest)\n\(text("a"))")
        try folder.write("home/20-b.yaml", text("b"))
        let loaded = load(folder, others: "etc")
        #expect(loaded.rules.map(\.name) == ["a", "b"])
        let warning = try #require(loaded.diagnostics.first)
        #expect(loaded.diagnostics.count == 1 && warning.severity == .warning)
        #expect(warning.message == "this agent ignores the rule `Box`: \(lack)")
        #expect("\(warning.line):\(warning.column)" == position && warning.file.hasSuffix("/etc/10-a.yaml"))
        // For the machine's own agent, and in a user's own folder, it is an error.
        #expect(load(folder).diagnostics.hasErrors && load(folder, others: "home").diagnostics.hasErrors)
    }

    @Test("An invalid system file stops only the system's agent; all others run without it")
    func othersMistake() throws {
        let folder = try TemporaryFolder()
        try folder.write("usr/10-a.yaml", text("usr a"))
        try folder.write("etc/10-a.yaml", text("a") + "- rule: B\n  in: other\n  do: [trsh]\n")
        try folder.write("etc/20-b.yaml", "- rule: [")
        try Durable.makeDirectory(folder.path.appending("etc/30-c.yaml"))
        try folder.write("home/40-d.yaml", text("d"))
        let loaded = load(folder, others: "etc")
        #expect(loaded.rules.map(\.name) == ["d"])
        #expect(Set(loaded.diagnostics.map(\.file)).count == 3)
        for warning in loaded.diagnostics {
            #expect(warning.severity == .warning)
            #expect(
                warning.message.hasPrefix(
                    "this agent ignores this file until the machine's administrator fixes it: "))
        }
        #expect(loaded.diagnostics.first?.line == 6)
        #expect(load(folder).diagnostics.hasErrors && load(folder, others: "home").diagnostics.hasErrors)
    }

    @Test("A previously valid system file stays in force until it is valid again, or gone")
    func othersBefore() throws {
        let folder = try TemporaryFolder()
        try folder.write("etc/10-a.yaml", text("a"))
        try folder.write("etc/20-b.yaml", text("b"))
        try folder.write("home/30-c.yaml", text("c"))
        var loaded = load(folder, others: "etc")
        #expect(loaded.diagnostics == [])
        try folder.write("etc/10-a.yaml", "- rule: [")
        try Durable.remove(folder.path.appending("etc/20-b.yaml"))
        for _ in 1...2 {
            loaded = load(folder, others: "etc", before: loaded.machineRules)
            #expect(loaded.rules.map(\.name) == ["a", "c"])
            #expect(loaded.diagnostics.map(\.severity) == [.warning])
            #expect(
                loaded.diagnostics.first?.message.hasPrefix("this agent keeps using the earlier version of this file")
                    == true)
        }
        // It was missing in between.
        try folder.write("etc/20-b.yaml", "- rule: [")
        loaded = load(folder, others: "etc", before: loaded.machineRules)
        #expect(loaded.rules.map(\.name) == ["a", "c"])
        try folder.write("etc/10-a.yaml", text("mended"))
        loaded = load(folder, others: "etc", before: loaded.machineRules)
        #expect(loaded.rules.map(\.name) == ["mended", "c"])
    }

    @Test("An unreadable system folder removes the rules it might replace, unless they are known")
    func othersClosed() throws {
        let folder = try TemporaryFolder()
        try folder.write("usr/10-a.yaml", text("usr a"))
        try folder.write("usr/20-b.yaml", text("usr b"))
        try folder.write("etc/10-a.yaml", text("etc a"))
        try folder.write("home/30-c.yaml", text("c"))
        let open = load(folder, others: "etc")
        let etc = folder.path.appending("etc")
        let reader = RuleFileReader(
            names: { path in
                guard path != etc else { throw Fault(.usage, "nobody may read it", path: path) }
                return try ConfigurationFiles.names(in: path)
            }, read: { try ConfigurationFiles.read($0, limit: RuleFileReader.limit) })
        let first = load(folder, others: "etc", reader: reader)
        #expect(first.rules.map(\.name) == ["c"])
        #expect(first.diagnostics.map(\.severity) == [.warning])
        let later = load(folder, others: "etc", before: open.machineRules, reader: reader)
        #expect(later.rules.map(\.name) == ["etc a", "usr b", "c"])
        #expect(later.diagnostics.map(\.severity) == [.warning])
        #expect(later.machineRules?.count == 1 && first.machineRules?.count == nil)
        #expect(load(folder, reader: reader).diagnostics.hasErrors)
    }

    @Test("A system rule is replaced by another with its name, including its `otherwise` steps")
    func othersName() throws {
        let folder = try TemporaryFolder()
        let same = "- { rule: same, in: other, where: { extension: pdf }, do: [trash], otherwise: [trash] }\n"
        try folder.write("etc/10-a.yaml", same + text("a"))
        try folder.write("home/20-b.yaml", text("same"))
        let loaded = load(folder, others: "etc")
        #expect(loaded.rules.map(\.name) == ["a", "same"])
        let warning = try #require(loaded.diagnostics.first)
        #expect(loaded.diagnostics.count == 1 && warning.severity == .warning)
        #expect(warning.file.hasSuffix("/etc/10-a.yaml"))
        #expect(warning.message.hasPrefix("this agent ignores the machine's rule `same`: there is another at "))
        #expect(warning.message.hasSuffix("/home/20-b.yaml:1:3"))
        #expect(load(folder).diagnostics.hasErrors)
    }

    @Test("Two rules with one name are an error that names both") func twoRulesName() throws {
        let folder = try TemporaryFolder()
        try folder.write("usr/10-a.yaml", text("same"))
        try folder.write("etc/20-b.yaml", "\n" + text("same"))
        let loaded = load(folder)
        #expect(loaded.rules.count == 1)
        let complaint = try #require(loaded.diagnostics.first)
        #expect(complaint.severity == .error)
        #expect(complaint.file.hasSuffix("20-b.yaml"))
        #expect(complaint.line == 2)
        #expect(complaint.message.hasSuffix("10-a.yaml:1:3"))
    }

    @Test("Cycles and own places cause a warning") func circlesPlacesWarned() throws {
        let circle = try rules(
            """
            - { rule: A, in: other, do: [{ move: { to: drafts } }] }
            - { rule: B, in: drafts, do: [{ move: { to: other } }] }
            - { rule: C, in: drafts, on: changed, do: [{ move: { to: other } }] }
            - { rule: D, in: comics, do: [{ move: { to: comics } }] }
            """)
        let warnings = RuleCheck.warnings(circle)
        #expect(warnings.map(\.line) == [4, 1])
        #expect(warnings.allSatisfy { $0.severity == .warning })
        #expect(warnings[1].message == "rules feed each other in a circle: `A` (other → drafts), `B` (drafts → other)")
    }

    @Test("A schedule closes a cycle, whatever else its rule is about") func circlesOfSchedules() throws {
        let circle = try rules(
            """
            - { rule: A, in: other, do: [{ move: { to: drafts } }] }
            - { rule: B, in: drafts, every: 1d, do: [{ move: { to: other } }] }
            """)
        #expect(
            RuleCheck.warnings(circle).map(\.message) == [
                "rules feed each other in a circle: `A` (other → drafts), `B` (drafts → other)"
            ])
    }
}

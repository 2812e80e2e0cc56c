import AgentKit
import DotLifeDomain
import FileActions
import Foundation
import Logging
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing
import Watching

@Suite("The configuration")
struct ConfigurationTests {
    private func load(_ yaml: String) throws -> (Configuration?, [Diagnostic]) {
        let folder = try TemporaryFolder()
        let file = try folder.write(".config/steward/steward.yaml", yaml)
        _ = file
        return Configuration.load(try Directories(environment: ["HOME": folder.path.text]))
    }

    @Test("What `steward init` writes is valid")
    func template() throws {
        let (configuration, diagnostics) = try load(ConfigurationTemplate.text(base: "~/Steward"))
        #expect(diagnostics.isEmpty)
        #expect(configuration?.places.map(\.info.name) == ["notes", "drafts", "comics", "dropbox", "library"])
        #expect(configuration?.places.map(\.info.kind) == [.notes, .drafts, .inbox, .dropbox, .folder])
        #expect(configuration?.library?.root.nameText == "library")
    }

    @Test(
        "A sentence needs both placeholders; a missing one is reported with file and line",
        arguments: [
            ("I was here", "Template must include [moment] and [experience]"),
            ("[experience] it is", "Template must include [moment]"),
            ("For [moment]", "Template must include [experience]"),
        ])
    func sentence(text: String, complaint: String) throws {
        let places = "places: { a: { path: /srv/a } }\n"
        let (read, complaints) = try load(places + "captures:\n  sentence: \"\(text)\"\n")
        #expect(read == nil)
        let shown = try #require(complaints.first).description
        #expect(shown.contains("steward.yaml:3:13: ") && shown.contains("\(complaint) ("), "\(shown)")
        let (valid, _) = try load(places + "captures: { sentence: \"[moment]: [experience]\" }\n")
        #expect(valid?.sentence.render(moment: "now", experience: "rain") == "now: rain")
        #expect(try load(places).0?.sentence.text == "I appreciate [experience] for [moment]")
    }

    @Test("Every key is read")
    func everyKey() throws {
        let (read, diagnostics) = try load(
            """
            places:
              vault: { kind: notes, path: /srv/vault, watch: poll, follow-links: inside, limits: { size: 2 MiB } }
              other: { path: ../other }
            time-zone: America/New_York
            device: desk-1
            ignore: ["*.bak", "Entwürfe*"]
            run: { allow: true, timeout: 5s }
            notes: { wait-open: 2s, wait-editor: 3s, settle: 500ms }
            limits: { disk: 7, process: 1 }
            history: 30d
            poll: 5s
            settle: 250ms
            log: { level: debug, format: json }
            quarantine: { size: 3 GiB }
            confirm: { owner: true, group: root }
            """)
        #expect(diagnostics.isEmpty)
        let configuration = try #require(read)
        #expect(configuration.places[0].mode == .poll)
        #expect(configuration.places[1].info.kind == .folder)
        #expect(configuration.places[0].info.links == .inside && configuration.places[1].info.links == .never)
        #expect(configuration.places[0].info.sizeLimit == 2 << 20 && configuration.quarantineLimit == 3 << 30)
        #expect(configuration.places[1].info.sizeLimit == PlaceInfo.standardSizeLimit)
        #expect(configuration.timeZone.identifier == "America/New_York")
        #expect(configuration.device == "desk-1")
        let ignored = IgnoreList(extra: configuration.ignore)
        for name in ["a.bak", "Entw\u{FC}rfe 1", "Entwu\u{308}rfe 1"] { #expect(ignored.ignores(Array(name.utf8))) }
        #expect(configuration.run.isAllowed && configuration.run.timeout == 5)
        #expect(
            configuration.noteTimeouts.open == 2 && configuration.noteTimeouts.editor == 3
                && configuration.noteTimeouts.settle == 0.5)
        #expect(
            configuration.limits[.disk] == 7 && configuration.limits[.process] == 1
                && configuration.limits[.network] == 8)
        #expect(configuration.history == 30 * 86_400 && configuration.poll == 5 && configuration.settle == 0.25)
        #expect(configuration.logLevel == .debug && configuration.logsJSON)
        #expect(configuration.ticks.owner && configuration.ticks.group == "root")
    }

    @Test("All errors are reported at once, each with its line and a suggestion")
    func complaints() throws {
        let (configuration, diagnostics) = try load(
            """
            placs: {}
            places:
              notes: { kind: note, path: /a }
              twice: { path: /b }
              again: { path: /b }
              pathless: { kind: folder }
            time-zone: Mars/Olympus
            device: a__b
            limits: { disk: none }
            log: { level: loud }
            settle: soon
            quarantine: { size: much }
            confirm: { group: no-such-group-here }
            """)
        #expect(configuration == nil)
        let lines = diagnostics.map(\.line)
        #expect(lines == lines.sorted())
        #expect(Set(lines) == [1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13])
        #expect(diagnostics.first?.hint == "did you mean `places`?")
    }

    @Test("No file, an empty file and a file without places are told apart")
    func missing() throws {
        let folder = try TemporaryFolder()
        let (none, absent) = Configuration.load(try Directories(environment: ["HOME": folder.path.text]))
        #expect(none == nil && absent.first?.hint?.contains("steward init") == true)
        #expect(try load("").1.first?.message == "the configuration is empty")
        #expect(try load("poll: 5s").1.first?.message.contains("no `places`") == true)
    }

    @Test("A place must not contain the agent's own folders")
    func ownFolders() throws {
        let (configuration, diagnostics) = try load("places: { home: { path: ~ } }")
        #expect(configuration == nil)
        #expect(diagnostics.first?.message.contains("overlap") == true)
    }

    @Test("Folders follow XDG for a user and systemd for a service")
    func directories() throws {
        let user = try Directories(environment: [
            "HOME": "/home/u", "XDG_STATE_HOME": "/x/state", "XDG_RUNTIME_DIR": "/run/user/1",
        ])
        #expect(user.configuration == "/home/u/.config/steward/steward.yaml")
        #expect(user.state == "/x/state/steward")
        #expect(user.socket == "/run/user/1/steward/control.sock")
        #expect(
            user.rules == ["/usr/share/steward/rules.d", "/etc/steward/rules.d", "/home/u/.config/steward/rules.d"])
        let service = try Directories(environment: [
            "HOME": "/var/lib/steward", "STATE_DIRECTORY": "/var/lib/steward", "RUNTIME_DIRECTORY": "/run/steward",
            "CONFIGURATION_DIRECTORY": "/etc/steward",
        ])
        #expect(service.configuration == "/etc/steward/steward.yaml")
        #expect(service.socket == "/run/steward/control.sock")
        #expect(user.othersRules == "/etc/steward/rules.d" && service.othersRules == nil)
        let looking = try Directories(environment: ["HOME": "/home/u"], configuration: "/etc/steward/steward.yaml")
        #expect(looking.othersRules == nil)
        #expect(throws: Fault.self) { try Directories(environment: [:]) }
    }
}

@Suite("System rules")
struct MachineRuleTests {
    @Test("Keys and permissions of another configuration are not required of this one", arguments: [true, false])
    func lacks(isOthers: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.write(".config/steward/steward.yaml", "places: { notes: { path: ~/N, kind: notes } }")
        let steps = [
            "import-comic: { vault: main }", "publish: { to: hub }", "run: { command: [/bin/true] }",
            "convert: { command: [/bin/true], to: pdf }", "notify: { title: x, mail: a@example.org }",
            "move: { place: box }",
        ]
        let rules = steps.enumerated().map { "- { rule: \($0), in: notes, do: [{ \($1) }] }\n" }
        try folder.write("rules.d/10-a.yaml", rules.joined())
        var directories = try Directories(environment: ["HOME": folder.path.text])
        directories.rules = [folder.path.appending("rules.d")]
        if isOthers { directories.othersRules = directories.rules[0] }
        let configuration = try #require(Configuration.load(directories).0)
        let loaded = try AgentCore.forPlanning(configuration, directories).loadRules()
        #expect(loaded.rules.isEmpty)
        #expect(loaded.diagnostics.map(\.line) == Array(1...steps.count), "\(loaded.diagnostics)")
        #expect(loaded.diagnostics.allSatisfy { $0.severity == (isOthers ? .warning : .error) })
    }
}

@Suite("Setup")
struct SetupTests {
    @Test("`init` creates the places and the configuration, and changes nothing that exists")
    func twice() throws {
        let folder = try TemporaryFolder()
        let directories = try Directories(environment: ["HOME": folder.path.text])
        let setup = Setup(directories: directories, base: folder.path.appending("S").text)
        #expect(try setup.carryOut(dryRun: true).created.count == 7)
        #expect(try FileStatus.of(directories.configuration) == nil)
        #expect(try setup.carryOut(dryRun: false).created.count == 7)
        try folder.write(".config/steward/steward.yaml", "mine")
        let again = try setup.carryOut(dryRun: false)
        #expect(again.created.isEmpty && again.existed.count == 7)
        #expect(try folder.read(".config/steward/steward.yaml") == "mine")
        #expect(again.lines(dryRun: false).contains { $0.hasPrefix("kept") })
    }

    @Test("`doctor` checks every place, and says how to fix a missing one")
    func doctor() async throws {
        let folder = try TemporaryFolder()
        let directories = try Directories(environment: ["HOME": folder.path.text])
        try Durable.makeDirectory(folder.path.appending("there"))
        try folder.write(
            ".config/steward/steward.yaml",
            "places: { there: { path: \(folder.path)/there }, missing: { path: \(folder.path)/missing } }")
        let (read, _) = Configuration.load(directories)
        let findings = try await Examination(configuration: try #require(read), directories: directories).findings()
        #expect(findings.first { $0.subject == "place missing" }?.isWell == false)
        #expect(findings.first { $0.subject == "place missing" }?.remedy?.contains("create it") == true)
        #expect(findings.first { $0.subject == "place there" }?.isWell == true)
    }
}

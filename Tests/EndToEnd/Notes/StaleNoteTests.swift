import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// Programs that hold a note's text and save it later, in all the ways programs save, beside a running agent
/// (docs/design/stale-buffers.md).
@Suite("Old buffers saved over captures")
struct StaleNoteTests {
    enum Saver: String, CaseIterable {
        /// Editors without backup, web editors.
        case truncate
        /// Most editors, Syncthing.
        case rename
        /// Deletes, then creates again.
        case unlink
        /// Renames the old file aside first: vim, Dropbox.
        case aside

        func save(_ text: String, to note: BytePath) throws {
            let beside = note.parent.appending(".\(note.nameText).part")
            switch self {
            case .truncate: try write(text, note)
            case .rename:
                try write(text, beside)
                #expect(Glibc.rename(beside.text, note.text) == 0)
            case .unlink:
                #expect(Glibc.unlink(note.text) == 0)
                try write(text, note)
            case .aside:
                #expect(Glibc.rename(note.text, note.text + "~") == 0)
                try write(text, note)
                #expect(Glibc.unlink(note.text + "~") == 0)
            }
        }

        private func write(_ text: String, _ path: BytePath) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path.text), options: [])
        }
    }

    /// What happens between the captures and the save.
    enum Between: CaseIterable { case nothing, reader, script, restart, kill }

    private static let rounds = Thoroughness.isWhole ? 20 : 1

    /// One agent, one note, and the expected number of captures.
    private final class Scene {
        let steward: AgentFixture
        let note: BytePath
        private(set) var captures = 0

        init() async throws {
            steward = try AgentFixture(configuration: "notes: { wait-editor: 1s, wait-open: 5s }")
            try steward.drop("notes/inbox.md", "# Inbox\n\nThe user's first line.\n")
            note = "notes/inbox.md"
            try steward.rule(
                "10-captures.yaml",
                EditorTests.Notes.rule.replacingOccurrences(of: "{ heading", with: "{ note: inbox, heading"))
            try await steward.start()
        }

        var text: String { get throws { (try? steward.read(note)) ?? "" } }

        func capture() throws {
            captures += 1
            try steward.drop(BytePath("dropbox/c\(captures).md"), "capture \(captures)")
        }

        func untilAllAreThere(but out: Set<Int> = []) async throws {
            let wanted = (1...captures).filter { !out.contains($0) }
            try await steward.until("all captures are in the note") {
                let text = try text
                return wanted.allSatisfy { text.contains("<capture \($0)>") }
            }
        }

        /// - Parameter out: captures that must stay out.
        func expectAll(but out: Set<Int> = [], lines: [String]) async throws {
            try await untilAllAreThere(but: out)
            try steward.wait()
            let text = try text
            for number in 1...captures {
                #expect(
                    text.occurrences(of: "<capture \(number)>") == (out.contains(number) ? 0 : 1), "\(number): \(text)")
            }
            for line in lines { #expect(text.occurrences(of: line) == 1, "\(line): \(text)") }
        }
    }

    @Test("An old buffer loses no capture, whatever reads, writes or ends in between", arguments: Saver.allCases)
    func stale(_ saver: Saver) async throws {
        let scene = try await Scene()
        try scene.capture()
        try await scene.untilAllAreThere()
        for round in 0..<Self.rounds {
            for (number, between) in Between.allCases.enumerated() {
                let buffer = try scene.text
                for _ in 0..<2 { try scene.capture() }
                try await scene.untilAllAreThere()
                let path = scene.steward.path(scene.note)
                switch between {
                case .nothing: break
                case .reader: try scene.steward.shell(["grep", "-r", "capture", path.parent.text]).check()
                case .script:
                    try scene.steward.shell(["sh", "-c", "echo 'A script was here.' >> \"$0\"", path.text]).check()
                case .restart:
                    try await scene.steward.stop()
                    try await scene.steward.start()
                case .kill:
                    try await scene.steward.kill9()
                }
                let line = "Typed by hand in round \(round), \(number)."
                try saver.save(buffer + line + "\n", to: path)
                if between == .kill { try await scene.steward.start() }
                // The next capture comes before the save has been examined.
                if number.isMultiple(of: 2) { try scene.capture() }
                try await scene.expectAll(lines: ["The user's first line.", line])
            }
        }
        try await scene.steward.stop()
    }

    @Test("A buffer that keeps saving without reloading loses no capture", arguments: Saver.allCases)
    func again(_ saver: Saver) async throws {
        let scene = try await Scene()
        try scene.capture()
        try await scene.untilAllAreThere()
        var buffer = try scene.text
        var lines = ["The user's first line."]
        for round in 0..<(Thoroughness.isWhole ? 20 : 3) {
            for _ in 0..<2 { try scene.capture() }
            try await scene.untilAllAreThere()
            let line = "Typed by hand in round \(round)."
            buffer += line + "\n"
            lines.append(line)
            try saver.save(buffer, to: scene.steward.path(scene.note))
            try await scene.expectAll(lines: lines)
        }
        try await scene.steward.stop()
    }

    @Test("A block that a user had and removed stays out", arguments: Saver.allCases)
    func removed(_ saver: Saver) async throws {
        let scene = try await Scene()
        let path = scene.steward.path(scene.note)
        for _ in 0..<2 { try scene.capture() }
        try await scene.untilAllAreThere()
        try saver.save(try scene.text + "Loaded and saved.\n", to: path)
        // The next capture has seen that save.
        try scene.capture()
        try await scene.untilAllAreThere()
        let lines = try scene.text.split(separator: "\n", omittingEmptySubsequences: false)
        let at = try #require(lines.firstIndex { $0.contains("<capture 1>") })
        var buffer = (lines[..<(at - 1)] + lines[(at + 1)...]).joined(separator: "\n")
        for round in 0..<3 {
            buffer += "Typed again \(round).\n"
            try saver.save(buffer, to: path)
            try scene.capture()
            try await scene.untilAllAreThere(but: [1])
            buffer = try scene.text
        }
        try await scene.steward.kill9()
        try saver.save(buffer + "Typed while nobody looked.\n", to: path)
        try await scene.steward.start()
        try scene.capture()
        try await scene.expectAll(but: [1], lines: ["The user's first line.", "Typed while nobody looked."])
        try await scene.steward.stop()
    }

    @Test("A missing block that no save held is reported if a newer one was held, and restored on request")
    func out() async throws {
        let scene = try await Scene()
        for _ in 0..<2 {
            try scene.capture()
            try await scene.untilAllAreThere()
        }
        let lines = try scene.text.split(separator: "\n", omittingEmptySubsequences: false)
        let at = try #require(lines.firstIndex { $0.contains("<capture 1>") })
        let anchor = String(lines[at - 1])
        let rest = (lines[..<(at - 1)] + lines[(at + 1)...]).joined(separator: "\n")
        try Saver.rename.save(rest, to: scene.steward.path(scene.note))
        try await scene.steward.until("status names it") {
            try scene.steward.run(["status"]).check().output.contains("steward blocks restore")
        }
        let steward = scene.steward
        #expect(try steward.run(["status"]).output.contains("\(anchor) of \(steward.path(scene.note))"))
        #expect(try steward.json(["status"])["missingBlocks"].items.first?["token"].text == String(anchor.dropFirst()))
        #expect(try steward.run(["blocks"]).check().output.contains(anchor))
        let other = try steward.run(["blocks", "restore", "^cap-9999"])
        #expect(other.status == 64 && other.errors.contains("no note lacks the block ^cap-9999"))
        let told = try steward.run(["blocks", "restore", anchor]).check().output
        #expect(told.contains("put \(anchor) back"))
        try await scene.expectAll(lines: [])
        #expect(try steward.run(["blocks", "--all"]).check().output == "no block is missing\n")
        try await steward.stop()
    }
}

extension EditorTests {
    @Suite("A note in an editor, for many rounds", .serialized)
    struct Rounds {
        private static let rounds = Thoroughness.isWhole ? 20 : 2

        enum Mode: String, CaseIterable { case overwrite, reload }

        @Test("No capture is lost or duplicated", arguments: Editor.allCases, Mode.allCases)
        func rounds(_ editor: Editor, _ mode: Mode) async throws {
            try requireEditor(editor)
            let steward = try AgentFixture(configuration: "notes: { wait-editor: 500ms, wait-open: 5s }")
            try steward.rule(
                "10-captures.yaml", Notes.rule.replacingOccurrences(of: "{ heading", with: "{ note: inbox, heading"))
            try steward.drop("notes/inbox.md", "# Inbox\n\nThe user's first line.\n")
            try await steward.start()
            var session = try await EditorSession(steward, editor, steward.path("notes/inbox.md"))
            var lines = ["The user's first line."]
            for round in 0..<Self.rounds {
                if mode == .reload, round > 0 { session = try await session.reloaded() }
                let line = "Round \(round) by hand."
                try await session.type(line, reloading: mode == .reload)
                for number in 1...2 {
                    try steward.drop(BytePath("dropbox/c\(round)-\(number).md"), "capture \(round)-\(number);")
                }
                try await steward.until("the agent has written past the editor") {
                    let text = try steward.read("notes/inbox.md")
                    return (1...2).allSatisfy { text.contains("<capture \(round)-\($0);>") }
                }
                if round.isMultiple(of: 2) {
                    let path = steward.path("notes/inbox.md").text
                    try steward.shell([
                        "sh", "-c", "cat \"$0\" > /dev/null; echo 'A script, \(round);' >> \"$0\"", path,
                    ])
                    .check()
                }
                try await session.save(line)
                lines.append(line)
                let captures = (0...round).flatMap { round in (1...2).map { "<capture \(round)-\($0);>" } }
                try await steward.until("all captures are in the note") {
                    let text = try steward.read("notes/inbox.md")
                    return captures.allSatisfy(text.contains)
                }
                try steward.wait()
                let text = try steward.read("notes/inbox.md")
                for part in captures + lines { #expect(text.occurrences(of: part) == 1, "\(part) in \(text)") }
            }
            try await session.quit()
            try await steward.stop()
        }

        @Test(
            "A block removed in an editor that stays open stays out, however often it saves",
            arguments: Editor.allCases)
        func removed(_ editor: Editor) async throws {
            try requireEditor(editor)
            let steward = try AgentFixture(configuration: "notes: { wait-editor: 500ms, wait-open: 5s }")
            try steward.rule(
                "10-captures.yaml", Notes.rule.replacingOccurrences(of: "{ heading", with: "{ note: inbox, heading"))
            try steward.drop("notes/inbox.md", "# Inbox\n\nThe user's first line.\n")
            try await steward.start()
            var session = try await EditorSession(steward, editor, steward.path("notes/inbox.md"))
            // Since the save holds the younger one, its buffer held the older one as well.
            for number in 1...2 {
                try steward.drop(BytePath("dropbox/c\(number).md"), "capture \(number);")
                try await steward.until("the agent has written past the editor") {
                    try steward.read("notes/inbox.md").contains("<capture \(number);>")
                }
            }
            session = try await session.reloaded()
            try await steward.until("\(editor) shows the captures") { try session.screen().contains("<capture 2;>") }
            try await session.cut("<capture 1;>")
            for round in 0..<3 {
                let line = "Saved again \(round)."
                try await session.type(line, reloading: false)
                try await session.save(line)
                try steward.drop(BytePath("dropbox/d\(round).md"), "later \(round);")
                try await steward.until("a capture follows") {
                    try steward.read("notes/inbox.md").contains("<later \(round);>")
                }
                try steward.wait()
                let text = try steward.read("notes/inbox.md")
                #expect(!text.contains("<capture 1;>"), "round \(round): \(text)")
                #expect(text.occurrences(of: "<capture 2;>") == 1)
            }
            try await session.quit()
            try await steward.stop()
        }
    }
}

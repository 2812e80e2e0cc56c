import OwnFiles
import Platform
import TestSupport
import Testing

extension EditorTests {
    /// All editors of a scene at the same time, each with a draft of its own: most of the time is spent waiting.
    @Suite("Every editor", .serialized)
    struct Table {
        enum Scene: String, CaseIterable, Sendable {
            /// The draft is open without changes.
            case clean
            /// The draft is open with a line that is not saved.
            case unsaved
            /// The sidecar is ticked and saved in the editor.
            case tickedInside
            /// The sidecar is open with a tick that is not saved, while the draft changes.
            case sidecarUnsaved
        }

        @Test("No word and no tick is lost, and answers arrive once all is saved", arguments: Scene.allCases)
        func scene(_ scene: Scene) async throws {
            let wanted = TerminalEditor.all.prefix(Thoroughness.isWhole ? TerminalEditor.all.count : 4)
            let missing = Set((["tmux"] + wanted.map(\.command[0])).filter { !Editor.has($0) })
            let editors = wanted.filter { !missing.contains($0.command[0]) }
            if missing.contains("tmux") || editors.isEmpty { try Test.cancel("not installed: \(missing.sorted())") }
            let steward = try AgentFixture()
            try steward.rule("10-review.yaml", Reviews.rule)
            try await steward.start()
            for round in 1...(Thoroughness.isWhole ? 20 : 1) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for editor in editors {
                        group.addTask { try await ReviewInEditor(steward, editor, round).play(scene) }
                    }
                    try await group.waitForAll()
                }
            }
            try await steward.stop()
            if !missing.isEmpty { try Test.cancel("not installed, all others passed: \(missing.sorted())") }
        }
    }
}

/// One editor's part in a scene.
private final class ReviewInEditor {
    private static let text = "We met in order to talk.\n"
    private static let answered = "We met to talk.\n"
    private static let more = "We stayed due to the fact that it rained.\n"

    private let steward: AgentFixture
    private let editor: TerminalEditor
    private let folder: BytePath
    private let socket: String

    init(_ steward: AgentFixture, _ editor: TerminalEditor, _ round: Int) {
        (self.steward, self.editor) = (steward, editor)
        let name = editor.command.prefix { !$0.hasPrefix("--") }.joined().replacing("*", with: "").filter { $0 != " " }
        folder = BytePath("drafts/\(name)-\(round)")
        socket = steward.home.path.appending("tmux-\(name)").text
    }

    deinit { _ = try? tmux(["kill-server"]) }

    func play(_ scene: EditorTests.Table.Scene) async throws {
        try steward.drop(file("essay.md"), Self.text)
        try await until("the sidecar is there") { try self.read("essay.review.md").contains("1 finding.") }
        var expected = Self.answered
        switch scene {
        case .clean:
            try await open("essay.md")
            try tickOnDisk()
            try await until("the answer is written, or said to wait") {
                try self.read("essay.md") == expected || self.saysWaiting()
            }
        case .unsaved:
            try await open("essay.md")
            try await type("A line of mine.")
            try tickOnDisk()
            try await until("the sidecar says that the answer waits", saysWaiting)
            #expect(try read("essay.md") == Self.text, "\(editor)")
            try await save("essay.md", "A line of mine.")
            expected = "A line of mine.\n" + expected
        case .tickedInside:
            try await open("essay.review.md")
            try await tick()
            try await save("essay.review.md", "- [x]")
            try await until("the answer is in the draft") { try self.read("essay.md") == expected }
        case .sidecarUnsaved:
            try await open("essay.review.md")
            let before = try read("essay.review.md")
            try await tick()
            try steward.drop(file("essay.md"), Self.text + Self.more)
            let path = steward.path(file("essay.review.md")).description
            try await until("the sidecar waits") {
                try self.steward.status().waiting.contains { $0.problem.contains("\(path) is open in") }
            }
            #expect(try read("essay.review.md") == before, "\(editor)")
            try await save("essay.review.md", "- [x]")
            expected += Self.more
        }
        try await quit()
        try await until("the draft has the answer, and all that was typed") { try self.read("essay.md") == expected }
        let findings = scene == .sidecarUnsaved ? "1 finding, 1 accepted." : "No findings, 1 accepted."
        try await until("the sidecar says so") {
            let text = try self.read("essay.review.md")
            return text.contains(findings) && !text.contains("wait")
        }
    }

    // MARK: Files

    private func file(_ name: String) -> BytePath { folder.appending(BytePath(name)) }

    private func read(_ name: String) throws -> String {
        try steward.exists(file(name)) ? steward.read(file(name)) : ""
    }

    private func tickOnDisk() throws {
        try steward.drop(file("essay.review.md"), try read("essay.review.md").replacing("- [ ]", with: "- [x]"))
    }

    private func saysWaiting() throws -> Bool { try read("essay.review.md").contains("wait") }

    private func until(_ what: String, _ condition: () throws -> Bool) async throws {
        try await steward.until("\(editor): \(what)", condition)
    }

    // MARK: Keys

    private func open(_ name: String) async throws {
        // The terminal outlives the call that creates it, and must not keep its descriptors open.
        let closing =
            "opendir my $open, '/proc/self/fd'; POSIX::close($_) for grep { /^[0-9]+$/ && $_ > 2 } readdir $open; "
            + "exec @ARGV"
        try steward.shell(
            ["perl", "-MPOSIX", "-e", closing, "tmux", "-f", "/dev/null", "-S", socket, "new-session", "-d"]
                + ["-x", "500", "-y", "50", "-c", steward.path(folder).text] + editor.command + [name]
        ).check()
        try await until("it shows \(name)") { try self.screen().contains(self.editor.prompt ?? name) }
    }

    private func type(_ line: String) async throws {
        try press(editor.before + ["=" + line] + editor.after)
        try await until("it shows what is typed") { try self.screen().contains(line) }
    }

    private func tick() async throws {
        let lines = try read("essay.review.md").split(separator: "\n", omittingEmptySubsequences: false)
        let line = try #require(lines.firstIndex { $0.hasPrefix("- [ ]") }) + 1
        try press(editor.tick(line) + (editor.isSwapping ? ["=:preserve", "Enter"] : []))
        try await until("it shows the tick") { try self.screen().contains("- [x] **") }
    }

    private func save(_ name: String, _ text: String) async throws {
        try press(editor.save)
        try await until("it has saved \(name)\n\((try? screen()) ?? "")") { try self.read(name).contains(text) }
    }

    private func quit() async throws {
        var looks = 0
        try await until("it has ended") {
            if try self.tmux(["has-session"]).status != 0 { return true }
            if looks % 50 == 0 { try self.press(self.editor.quit) }
            looks += 1
            return false
        }
    }

    private func press(_ keys: [String]) throws {
        for key in keys {
            let words = key.hasPrefix("=") ? ["-l", String(key.dropFirst())] : [key]
            try tmux(["send-keys"] + words).check()
        }
    }

    private func screen() throws -> String { try tmux(["capture-pane", "-p"]).output }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> AgentFixture.Result {
        try steward.shell(["tmux", "-f", "/dev/null", "-S", socket] + arguments)
    }
}

/// An editor in a terminal, and its user's keys in tmux's notation; `=` begins text that is typed.
private struct TerminalEditor: CustomStringConvertible, Sendable {
    let command: [String]
    /// What it shows when it is ready; nil for the file's name.
    var prompt: String?
    /// What precedes and follows a line that is typed above the first one.
    var before: [String] = []
    var after = ["Enter"]
    var save = ["C-s"]
    var quit = ["C-q"]
    /// Whether it has a swap file, which it updates only after some seconds, or when told.
    var isSwapping = false
    /// Ticks the box in a line, from the beginning of the file.
    var tick: @Sendable (_ line: Int) -> [String] = { TerminalEditor.arrows($0) + ["DC", "=x"] }

    var description: String { command.joined(separator: " ") }

    /// The first four are those that tell what is unsaved in different ways.
    static let all: [TerminalEditor] = [
        vi("vim", isSwapping: true), vi("nvim", isSwapping: true),
        TerminalEditor(command: ["nano", "--ignorercfiles"], quit: ["C-x"]), emacs("emacs", "-nw", "-Q"),
        vi("vim", "-n"), vi("nvim", "-n"), vi("vis"),
        TerminalEditor(command: ["nano", "-G", "--ignorercfiles"], quit: ["C-x"]),
        TerminalEditor(command: ["micro"]),
        TerminalEditor(command: ["joe"], save: ["C-k", "d", "Enter"], quit: ["C-c"]),
        TerminalEditor(command: ["ne", "--no-config"]), emacs("mg", "-n"), TerminalEditor(command: ["dte", "-R"]),
        TerminalEditor(
            command: ["kak", "-n"], before: ["=i"], after: ["Enter", "Escape"], save: ["=:w", "Enter"],
            quit: ["Escape", "=:q!", "Enter"], tick: { ["=\($0)ggh3lrx"] }),
        TerminalEditor(
            command: ["ed", "-p", "* "], prompt: "* ", before: ["=0a", "Enter"], after: ["Enter", "=.", "Enter"],
            save: ["=w", "Enter"], quit: ["=Q", "Enter"], tick: { [#"=\#($0)s/\[ \]/[x]/p"#, "Enter"] }),
    ]

    private static func vi(_ command: String..., isSwapping: Bool = false) -> TerminalEditor {
        let after = ["Enter", "Escape"] + (isSwapping ? ["=:preserve", "Enter"] : [])
        return TerminalEditor(
            command: command, before: ["=i"], after: after, save: ["=:w", "Enter"], quit: ["Escape", "=:q!", "Enter"],
            isSwapping: isSwapping, tick: { ["=\($0)G03lrx"] })
    }

    private static func emacs(_ command: String...) -> TerminalEditor {
        TerminalEditor(
            command: command, save: ["C-x", "C-s"], quit: ["C-x", "C-c"],
            tick: { TerminalEditor.arrows($0) + ["C-d", "=x"] })
    }

    private static func arrows(_ line: Int) -> [String] {
        Array(repeating: "Down", count: line - 1) + Array(repeating: "Right", count: 3)
    }
}

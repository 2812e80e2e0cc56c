import Foundation
import OwnFiles
import Platform

/// An editor driven by the tests.
package enum Editor: String, CaseIterable, Sendable {
    case vim, emacs, nano
    /// The same keys as vim, but the swap file is elsewhere.
    case neovim = "nvim"
    case micro

    /// Those that leave a sign beside a file with unsaved changes.
    package static let locking: [Editor] = [.vim, .emacs, .nano]

    /// Whether the program is installed.
    package static func has(_ program: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }
}

/// A real editor on its own terminal (tmux); `send-keys` plays the user.
package final class EditorSession {
    private let fixture: AgentFixture
    private let editor: Editor
    private let file: BytePath
    private let socket: String
    private var isOpen = false

    /// Opens `file` and returns when the editor shows it.
    ///
    /// - Parameter isLocking: whether nano leaves a lock beside the file; the machine's settings are ignored.
    package init(
        _ fixture: AgentFixture, _ editor: Editor, _ file: BytePath, isLocking: Bool = true
    ) async throws {
        self.fixture = fixture
        self.editor = editor
        self.file = file
        socket = fixture.home.path.appending("tmux-\(randomHex(3))").text
        let options: [String] =
            switch editor {
            case .vim, .neovim: []
            case .emacs: ["-nw"]
            case .nano: ["--ignorercfiles"] + (isLocking ? ["--locking"] : [])
            case .micro: ["-config-dir", fixture.home.path.appending("micro").text]
            }
        if editor == .micro { try fixture.home.write("micro/settings.json", "{}") }
        let command = [editor.rawValue] + options + [file.text]
        // The terminal outlives the call that creates it, and must not keep open any descriptor that signals the call's
        // end, however high its number.
        let closing =
            "opendir my $open, '/proc/self/fd'; POSIX::close($_) for grep { /^[0-9]+$/ && $_ > 2 } readdir $open; "
            + "exec @ARGV"
        try fixture.shell(
            ["perl", "-MPOSIX", "-e", closing, "tmux", "-f", "/dev/null", "-S", socket]
                + ["new-session", "-d", "-x", "200", "-y", "50"] + command
        ).check()
        isOpen = true
        try await fixture.until("\(editor) shows \(file)") { try self.screen().contains(file.nameText) }
        if editor == .emacs {
            try await fixture.until("emacs is ready") {
                try self.screen().contains("(Markdown)") || self.screen().contains("(Fundamental")
                    || self.screen().contains("(Text")
            }
        }
    }

    deinit { if isOpen { _ = try? tmux(["kill-server"]) } }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> AgentFixture.Result {
        try fixture.shell(["tmux", "-f", "/dev/null", "-S", socket] + arguments)
    }

    package func screen() throws -> String { try tmux(["capture-pane", "-p"]).output }

    private func keys(_ keys: String...) throws { try tmux(["send-keys"] + keys).check() }

    private func text(_ text: String) throws { try tmux(["send-keys", "-l", text]).check() }

    /// Reloads the file if the editor can; otherwise quits and opens the file again.
    package func reloaded() async throws -> EditorSession {
        switch editor {
        case .vim, .neovim: try vim("e!")
        case .emacs:
            // Its final message does not appear on the screen before.
            try keys("M-:")
            try text("(progn (revert-buffer t t) (message \"file %s\" \"read anew\"))")
            try keys("Enter")
            try await fixture.until("emacs has read the file anew") { try self.screen().contains("file read anew") }
        case .micro:
            try keys("C-e")
            try text("reopen")
            try keys("Enter")
            try await answerMicro("y")
        case .nano:
            try await quit()
            return try await EditorSession(fixture, editor, file)
        }
        return self
    }

    /// Types a line at the end of the buffer, without saving it.
    ///
    /// - Parameter reloading: the answer when emacs asks because the file has changed.
    package func type(_ line: String, reloading: Bool = true) async throws {
        switch editor {
        case .vim, .neovim:
            try keys("Escape", "G", "o")
            try text(line)
            try keys("Escape")
        case .emacs:
            try keys("M->")
            try text(String(line.prefix(1)))
            // Emacs asks before it changes a buffer whose file has changed; to keep both, it has to reload.
            try await fixture.until("emacs takes the text") {
                let screen = try self.screen()
                if screen.contains("really edit the buffer") {
                    try self.keys(reloading ? "r" : "y")
                    if reloading {
                        try self.keys("M->")
                        try self.text(String(line.prefix(1)))
                    }
                    return false
                }
                return screen.contains("**-")
            }
            try text(String(line.dropFirst()))
            try keys("Enter")
        case .nano:
            try keys("M-/")
            try text(line)
            try keys("Enter")
        case .micro:
            try keys("C-End")
            try await answerMicro(reloading ? "y" : "n")
            try keys("C-End")
            try text(line)
            try keys("Enter")
        }
        try await fixture.until("\(editor) shows \(line)") { try self.screen().contains(line) }
    }

    /// Micro asks at the next key if a file has changed, and otherwise says nothing.
    private func answerMicro(_ answer: String) async throws {
        for _ in 0..<5 {
            try await Task.sleep(for: .milliseconds(100))
            if try screen().contains("Reload file?") { return try keys(answer) }
        }
    }

    /// Has vim do an Ex command: `%s/one/two/`.
    package func vim(_ command: String) throws {
        try keys("Escape")
        try text(":" + command)
        try keys("Enter")
    }

    /// Removes the line containing `text`, and the one above it, without saving.
    package func cut(_ text: String) async throws {
        switch editor {
        case .vim, .neovim: try vim("g/\(text)/-1,.d")
        case .emacs:
            try keys("M-:")
            try self.text(
                "(progn (goto-char (point-min)) (search-forward \"\(text)\") (forward-line -1) (kill-whole-line 2) "
                    + "(message \"cut %s\" \"out\"))")
            try keys("Enter")
            try await fixture.until("emacs has cut \(text)") { try self.screen().contains("cut out") }
        case .nano:
            try keys("C-w")
            try self.text(text)
            try keys("Enter", "Up", "C-k", "C-k")
        case .micro:
            try keys("C-f")
            try self.text(text)
            try keys("Enter", "Up", "C-k", "C-k")
        }
        try await fixture.until("\(editor) no longer shows \(text)") {
            try !self.screen().split(separator: "\n").contains {
                $0.trimmingCharacters(in: .whitespaces).hasSuffix(text)
            }
        }
    }

    /// Saves, answering yes if the editor asks whether to overwrite changes; returns when the file contains `line`.
    package func save(_ line: String) async throws {
        switch editor {
        case .vim, .neovim:
            try keys("Escape")
            try text(":w")
            try keys("Enter")
        case .emacs: try keys("C-x", "C-s")
        case .nano: try keys("C-o", "Enter")
        case .micro: try keys("C-s")
        }
        var answered = false
        try await fixture.until("\(editor) has saved \(line)\n\(try screen())") {
            let screen = try self.screen()
            if !answered, ["really want to write", "Save anyway?", "continue saving"].contains(where: screen.contains) {
                answered = true
                if self.editor == .emacs { try self.tmux(["send-keys", "yes", "Enter"]) } else { try self.keys("y") }
            } else if screen.contains("Press ENTER") {
                try self.keys("Enter")
            }
            guard let status = try FileStatus.of(self.file), status.size > 0 else { return false }
            return try TemporaryFolder.text(self.file).contains(line)
        }
        // The file is written before the editor is done, which it reports at the bottom. Vim accepts the next keys
        // anyway.
        if editor == .vim || editor == .neovim { return }
        if editor == .micro { return try await answerMicro("n") }
        try await fixture.until("\(editor) says that it has saved") {
            let screen = try self.screen()
            return ["written", "Wrote"].contains(where: screen.contains)
        }
    }

    /// Quits; unsaved changes are lost.
    package func quit() async throws {
        switch editor {
        case .vim, .neovim:
            try keys("Escape")
            try text(":q!")
            try keys("Enter")
        case .emacs: try keys("C-x", "C-c")
        case .nano: try keys("C-x")
        case .micro: try keys("C-q")
        }
        var isAsked = false
        try await fixture.until("\(editor) has ended") {
            if try self.tmux(["has-session"]).status != 0 { return true }
            let asked = self.editor == .micro ? "Save changes to" : "Save modified buffer"
            if !isAsked, [.nano, .micro].contains(self.editor), try self.screen().contains(asked) {
                isAsked = true
                try self.keys("n")
            }
            return false
        }
        isOpen = false
    }
}

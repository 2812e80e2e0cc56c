import Foundation
import Platform
import TestSupport
import Testing

extension EditorTests {
    @Suite("A draft in an editor with a language server", .serialized)
    struct Served {
        private static let draft = "We met in order to talk.\n\nIt was was late.\n"
        private static let answered = "We met to talk.\n\nIt was was late.\nA line of mine.\n"

        private func scene() async throws -> (AgentFixture, ServedEditor) {
            if !Editor.has("nvim") { try Test.cancel("neovim is not installed") }
            let steward = try AgentFixture()
            try steward.rule("10-review.yaml", Reviews.rule)
            try await steward.start()
            let path = try steward.drop("drafts/essay.md", Self.draft)
            try await steward.until("the sidecar is there") { try sidecar(steward).contains("2 findings.") }
            try steward.wait()
            let editor = try ServedEditor(steward, path)
            try await steward.until("findings are shown") { try editor.value("Diagnostics()") == "2" }
            try editor.append("A line of mine.")
            return (steward, editor)
        }

        private func sidecar(_ steward: AgentFixture) throws -> String {
            try steward.exists("drafts/essay.review.md") ? steward.read("drafts/essay.review.md") : ""
        }

        /// As another program does: the first finding is accepted, the second skipped.
        private func answer(_ steward: AgentFixture) throws {
            var marks = ["x", "-"][...]
            let lines = try sidecar(steward).split(separator: "\n", omittingEmptySubsequences: false).map { line in
                guard line.hasPrefix("- [ ]"), let mark = marks.popFirst() else { return String(line) }
                return "- [\(mark)]" + line.dropFirst(5)
            }
            try steward.drop("drafts/essay.review.md", lines.joined(separator: "\n"))
        }

        private func agree(_ steward: AgentFixture) async throws {
            try await steward.until("the review says so") {
                try sidecar(steward).contains("No findings, 1 accepted, 1 skipped.")
            }
            try await steward.until("nothing waits") { try steward.status().waiting.isEmpty }
            try steward.wait()
            #expect(try steward.read("drafts/essay.md") == Self.answered)
            let state = try steward.read("drafts/.tk/reviews/essay.md.json")
            #expect(state.occurrences(of: "\"accepted\"") == 1 && state.occurrences(of: "\"skipped\"") == 1)
            #expect(try steward.leftovers().isEmpty)
        }

        @Test("An answer from elsewhere goes into a buffer with unsaved changes, and counts once that is saved")
        func answered() async throws {
            let (steward, editor) = try await scene()
            try answer(steward)
            try await steward.until("the buffer has the words") { try editor.text() == Self.answered }
            #expect(try steward.read("drafts/essay.md") == Self.draft, "the file is the editor's")
            try editor.save()
            try await agree(steward)
            #expect(try editor.text() == Self.answered)
            try await steward.until("no findings are shown") { try editor.value("Diagnostics()") == "0" }
            try editor.quit()
            try await steward.stop()
        }

        @Test(
            "Without its server an editor's draft is written as before, whenever that ends", arguments: [true, false])
        func serverKilled(isEarly: Bool) async throws {
            let (steward, editor) = try await scene()
            if isEarly {
                try editor.killServer()
                try answer(steward)
                try await steward.until("the answer waits") {
                    try steward.status().waiting.contains { $0.problem.contains("changes that are not saved") }
                }
                #expect(try editor.text() == Self.draft + "A line of mine.\n")
            } else {
                try answer(steward)
                try await steward.until("the buffer has the words") { try editor.text() == Self.answered }
                try editor.killServer()
            }
            try editor.save()
            try await agree(steward)
            try editor.quit()
            try await steward.stop()
        }

        @Test("Without the agent the server goes on, and a new agent learns what was answered")
        func agentKilled() async throws {
            let (steward, editor) = try await scene()
            try answer(steward)
            try await steward.until("the buffer has the words") { try editor.text() == Self.answered }
            try await steward.until("no findings are shown") { try editor.value("Diagnostics()") == "0" }
            try await steward.kill9()
            try editor.append("It is is so.")
            try await steward.until("the new finding is shown") { try editor.value("Diagnostics()") == "1" }
            try editor.removeLast()
            try editor.save()
            try await steward.start()
            try await agree(steward)
            try editor.quit()
            try await steward.stop()
        }
    }
}

/// Neovim without a terminal, with `tk lsp` for the draft that it has open.
private final class ServedEditor {
    private let steward: AgentFixture
    private let socket: String
    private let process: Process

    init(_ steward: AgentFixture, _ draft: BytePath) throws {
        self.steward = steward
        socket = steward.home.path.appending("nvim-\(randomHex(3))").text
        let script = try steward.home.write(
            "client.lua",
            """
            local start = "echo $$ > '\(Self.number(steward).text)'; exec '\(Built.program("tk")?.text ?? "tk")' lsp"
            local id = vim.lsp.start_client({ name = "tk", cmd = { "sh", "-c", start } })
            vim.lsp.buf_attach_client(0, id)
            function Diagnostics() return #vim.diagnostic.get(0) end
            function Text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "|") end
            function Append(line) vim.api.nvim_buf_set_lines(0, -1, -1, false, { line }) return "" end
            function RemoveLast() vim.api.nvim_buf_set_lines(0, -2, -1, false, {}) return "" end
            function Save() vim.cmd("silent write!") return "" end
            """)
        let options = ["--headless", "-u", "NONE", "-i", "NONE", "--listen", socket, "-c", "luafile \(script.text)"]
        process = Process(
            ["nvim"] + options + [draft.text], in: steward.home.path, environment: steward.environment)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    private static func number(_ steward: AgentFixture) -> BytePath { steward.home.path.appending("server.pid") }

    /// The value of a function of the script; empty while the editor starts.
    func value(_ call: String) throws -> String {
        let result = try steward.shell(["nvim", "--server", socket, "--remote-expr", "v:lua." + call])
        // Neovim 0.7 prints it on standard error.
        return result.status == 0 ? (result.output + result.errors).trimmingCharacters(in: .newlines) : ""
    }

    func text() throws -> String { try value("Text()").replacing("|", with: "\n") + "\n" }

    func append(_ line: String) throws { _ = try value("Append('\(line)')") }

    func removeLast() throws { _ = try value("RemoveLast()") }

    func save() throws { _ = try value("Save()") }

    func killServer() throws {
        let number = try steward.home.read("server.pid").trimmingCharacters(in: .whitespacesAndNewlines)
        try steward.shell(["kill", "-9", number]).check()
    }

    func quit() throws {
        _ = try steward.shell(["nvim", "--server", socket, "--remote-send", "<C-\\><C-N>:qa!<CR>"])
        process.waitUntilExit()
    }
}

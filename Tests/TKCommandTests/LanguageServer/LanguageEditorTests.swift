import Foundation
import Platform
import TestSupport
import Testing

/// `tk lsp` with the clients that people have: findings appear, and a proposal goes into the buffer and the file.
@Suite("Language server in editors", .timeLimit(.minutes(30)))
struct LanguageEditorTests {
    private let fixture: CommandFixture

    private static var hasEglot: Bool {
        let packages = try? FileManager.default.contentsOfDirectory(atPath: "/usr/share/emacs/site-lisp/elpa-src")
        return packages?.contains { $0.hasPrefix("eglot-") } ?? false
    }

    init() throws {
        fixture = try CommandFixture()
        try fixture.write("draft.txt", sampleDraft)
    }

    /// What the editor prints, and the draft as it saved it.
    private func check(_ command: [String]) throws {
        let result = try fixture.home.run(command, environment: fixture.environment)
        for words in ["repeated-word", "in order to", "Change to “used”"] {
            #expect(result.output.contains(words), "\(result.output)\n\(result.errors)")
        }
        let saved = try fixture.read("draft.txt")
        #expect(saved == sampleDraft.replacing("utilized", with: "used"), "\(result.output)\n\(result.errors)")
    }

    @Test("Neovim's own client", .enabled("neovim is wanted") { Editor.has("nvim") })
    func neovim() throws {
        let script = """
            local function say(text) io.stdout:write(text, "\\n") end
            vim.cmd("edit draft.txt")
            local id = vim.lsp.start_client({ name = "tk", cmd = { "\(CommandFixture.binary)", "lsp" } })
            vim.lsp.buf_attach_client(0, id)
            vim.wait(60000, function() return #vim.diagnostic.get(0) == 3 end, 20)
            for _, found in ipairs(vim.diagnostic.get(0)) do say(found.code .. " " .. found.message) end
            local place = { line = 2, character = 20 }
            local reply = vim.lsp.buf_request_sync(0, "textDocument/codeAction", {
                textDocument = { uri = vim.uri_from_bufnr(0) }, range = { start = place, ["end"] = place },
                context = { diagnostics = {} } }, 60000)
            local action = reply[id].result[1]
            say(action.title)
            vim.lsp.buf_request(0, "workspace/executeCommand", action.command, function() end)
            vim.wait(60000, function() return not vim.fn.getline(3):find("utilized") end, 20)
            vim.cmd("wq")
            """
        try fixture.write("client.lua", script)
        try check(["/usr/bin/env", "nvim", "--headless", "-u", "NONE", "-c", "luafile client.lua"])
    }

    @Test(
        "Emacs with eglot",
        .enabled("emacs and elpa-eglot are wanted") { Editor.has("emacs") && hasEglot })
    func eglot() throws {
        let script = """
            (package-initialize)
            (require 'eglot)
            (setq eglot-sync-connect 60 eglot-confirm-server-initiated-edits nil make-backup-files nil)
            (add-to-list 'eglot-server-programs '(text-mode . ("\(CommandFixture.binary)" "lsp")))
            (find-file "draft.txt")
            (text-mode)
            (apply #'eglot (eglot--guess-contact))
            (let ((tries 0))
              (while (and (< tries 600) (null (flymake-diagnostics)))
                (setq tries (1+ tries))
                (flymake-start nil)
                (accept-process-output nil 0.1)))
            (dolist (found (flymake-diagnostics)) (princ (flymake-diagnostic-text found)) (terpri))
            (goto-char (point-min))
            (search-forward "utilize")
            (let* ((place (eglot--pos-to-lsp-position))
                   (server (eglot--current-server-or-lose))
                   (actions (jsonrpc-request server :textDocument/codeAction
                              (list :textDocument (eglot--TextDocumentIdentifier)
                                    :range (list :start place :end place) :context '(:diagnostics []))))
                   (command (plist-get (aref actions 0) :command)))
              (princ (plist-get (aref actions 0) :title))
              (eglot-execute-command server (plist-get command :command) (plist-get command :arguments)))
            (save-buffer)
            (eglot-shutdown (eglot--current-server-or-lose))
            """
        try fixture.write("client.el", script)
        try check(["/usr/bin/env", "emacs", "--batch", "--no-site-file", "-l", "client.el"])
    }
}

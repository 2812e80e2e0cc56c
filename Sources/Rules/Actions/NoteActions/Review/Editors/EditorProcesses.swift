import Glibc
import Platform

/// The editors that run, by /proc: which of them have a file open and leave nothing that tells whether it is saved.
struct EditorProcesses: Sendable {
    private let processes: [RunningProcess]

    /// Editors that keep a swap file open; it tells.
    private static let swapping: Set<String> = [
        "vi", "vim", "vim.basic", "vim.nox", "vim.tiny", "vim.gtk3", "vim.motif", "gvim", "view", "vimdiff", "ex",
        "nvim",
    ]
    /// Editors that leave a file beside it as long as there are unsaved changes.
    private static let telling: Set<String> = ["emacs", "emacsclient", "soffice.bin", "oosplash", "kate", "kwrite"]
    /// Editors that may hold any file of the folder that they were started in.
    private static let silent: Set<String> = [
        "nano", "pico", "micro", "hx", "helix", "kak", "joe", "jmacs", "jstar", "jed", "ne", "mg", "zile", "ed", "red",
        "mcedit", "tilde", "dte", "vis", "amp",
    ]
    /// What is given a file's name without ever writing it by itself: shells and terminals that start others, readers.
    private static let harmless: Set<String> = [
        "sh", "bash", "dash", "zsh", "fish", "ksh", "tmux", "screen", "dtach", "abduco", "xterm", "kitty", "alacritty",
        "foot", "konsole", "gnome-terminal", "wezterm-gui", "sudo", "doas", "su", "script", "env", "timeout", "nohup",
        "setsid", "strace", "ssh", "mosh-client", "less", "more", "most", "cat", "tail", "head", "grep", "rg", "wc",
        "diff", "watch", "entr", "inotifywait", "inotifywatch", "steward", "tk", "git",
    ]

    init(of users: Set<uid_t>) { processes = RunningProcess.all(of: users) }

    /// - Parameter status: of the file.
    func sign(on file: DirectoryEntry, _ status: FileStatus, _ files: HeldFiles) throws -> UnsavedSign? {
        let swapping = processes.filter { Self.swapping.contains(Self.program($0)) }
        var isTold = false
        for editor in swapping {
            for swap in Set(editor.openFiles.filter(Self.isSwap)).sorted() {
                guard let head = try read(swap), head.isOf(file.path, status, isHome: { editor.hasHome($0) ?? true })
                else { continue }
                if head.isUnsaved { return .file(swap) }
                isTold = true
            }
        }
        if !isTold, let editor = swapping.first(where: { $0.names(file) }) {
            return .process(name: editor.name, id: editor.id)
        }
        let locked = try EditorSwap.read(UnsavedChanges.neighbour(file.path, ".", ".swp"), files)?.process
        let editor = processes.first { process in
            let program = Self.program(process)
            if [Self.swapping, Self.telling, Self.harmless].contains(where: { $0.contains(program) }) { return false }
            // A lock of its own, which has been asked before.
            if process.id == locked { return false }
            return process.names(file) || Self.silent.contains(program) && process.isAtRest(in: file.folder)
        }
        return editor.map { .process(name: $0.name, id: $0.id) }
    }

    /// Where editors keep their swap files is their user's to say; what cannot be read tells nothing.
    private func read(_ swap: BytePath) throws -> EditorSwap? {
        do {
            return try EditorSwap.read(swap, HeldFiles(below: [swap.parent]))
        } catch let fault as Fault where [ENOENT, ENOTDIR, EACCES].contains(fault.errno) || fault.code == Fault.link {
            return nil
        }
    }

    /// `tmux: server` is tmux, and `emacs-nox` emacs.
    private static func program(_ process: RunningProcess) -> String {
        let name = process.name.prefix { $0 != ":" }
        return name.hasPrefix("emacs-") ? "emacs" : String(name)
    }

    /// `.swp`, and where there are several `.swo`, `.swn` and so on.
    private static func isSwap(_ path: BytePath) -> Bool {
        guard let suffix = path.stemAndExtension.extension, suffix.count == 3 else { return false }
        return suffix.starts(with: "sw".utf8)
    }
}

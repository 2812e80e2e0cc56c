import Glibc
import Platform

/// Running editors, from /proc: those that have a file open and leave no sign of whether it is saved.
struct EditorProcesses: Sendable {
    private let processes: [RunningProcess]

    /// Editors that keep a swap file open, which shows the state.
    private static let swapping: Set<String> = [
        "vi", "vim", "vim.basic", "vim.nox", "vim.tiny", "vim.gtk3", "vim.motif", "gvim", "view", "vimdiff", "ex",
        "nvim",
    ]
    /// Editors that leave a file beside it while there are unsaved changes.
    private static let telling: Set<String> = ["emacs", "emacsclient", "soffice.bin", "oosplash", "kate", "kwrite"]
    /// Editors that may have any file of their working folder open.
    private static let silent: Set<String> = [
        "nano", "pico", "micro", "hx", "helix", "kak", "joe", "jmacs", "jstar", "jed", "ne", "mg", "zile", "ed", "red",
        "mcedit", "tilde", "dte", "vis", "amp",
    ]
    /// Programs that take a file name but never write the file: shells and terminals that start others, and readers.
    private static let harmless: Set<String> = [
        "sh", "bash", "dash", "zsh", "fish", "ksh", "tmux", "screen", "dtach", "abduco", "xterm", "kitty", "alacritty",
        "foot", "konsole", "gnome-terminal", "wezterm-gui", "sudo", "doas", "su", "script", "env", "timeout", "nohup",
        "setsid", "strace", "ssh", "mosh-client", "less", "more", "most", "cat", "tail", "head", "grep", "rg", "wc",
        "diff", "watch", "entr", "inotifywait", "inotifywatch", "steward", "tk", "git",
    ]

    /// Options with which an editor shows a file and does not change it.
    private static let viewing: [String: Set<BytePath>] = [
        "nano": ["-v", "--view"], "pico": ["-v"], "vim": ["-M"], "vi": ["-M"], "nvim": ["-M"],
    ]

    /// - Parameter known: process id of one that does not count.
    init(of users: Set<uid_t>, besides known: Int32? = nil) {
        processes = RunningProcess.all(of: users).filter { process in
            if process.id == known { return false }
            let options = Self.viewing[String(Self.program(process).prefix { $0 != "." })] ?? []
            return options.isDisjoint(with: process.arguments.prefix { $0 != "--" })
        }
    }

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
            // It holds its own lock, which was checked before.
            if process.id == locked { return false }
            return process.names(file) || Self.silent.contains(program) && process.isAtRest(in: file.folder)
        }
        return editor.map { .process(name: $0.name, id: $0.id) }
    }

    /// Users choose where their editors keep swap files, so an unreadable one is ignored.
    private func read(_ swap: BytePath) throws -> EditorSwap? {
        do {
            return try EditorSwap.read(swap, HeldFiles(below: [swap.parent]))
        } catch let fault as Fault where [ENOENT, ENOTDIR, EACCES].contains(fault.errno) || fault.code == Fault.link {
            return nil
        }
    }

    /// `tmux: server` is tmux, and `emacs-nox` is emacs.
    private static func program(_ process: RunningProcess) -> String {
        let name = process.name.prefix { $0 != ":" }
        return name.hasPrefix("emacs-") ? "emacs" : String(name)
    }

    /// `.swp`, or for further ones `.swo`, `.swn` and so on.
    private static func isSwap(_ path: BytePath) -> Bool {
        guard let suffix = path.stemAndExtension.extension, suffix.count == 3 else { return false }
        return suffix.starts(with: "sw".utf8)
    }
}

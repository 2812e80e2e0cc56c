import Glibc

/// Names that are never news by themselves, as ``NamePatterns``; `ignore` in `steward.yaml` adds and removes patterns.
/// Based on measurements of the files that editors, browsers and sync tools write.
package enum WorkNames {
    /// Working files of programs, whose results have other names.
    package static let work: [String] = [
        "*~", "*.swp", "*.swx", "*.swo", "4913", ".#*", "#*#", ".goutputstream-*", ".nfs*", ".~lock.*#", "~$*",
        "sedXXXXXX", ".*.XXXXXX", "*.tmp", ".syncthing.*", "~syncthing~*",
        "*.part", "*.crdownload", "*.download", "*.aria2", "*.opdownload", "*.!qB", "*.filepart", "*.ytdl",
        "*.fNNN.mp4", "*.fNNN.webm", "*.fNNN.m4a", "*.temp.mp4", "*.temp.webm", "*.temp.mkv", "*.temp.m4a",
    ]

    /// Files that operating systems leave in folders, and re-create if missing.
    package static let junk: [String] = [
        ".DS_Store", "._*", "Icon\r", "Thumbs.db", "ehthumbs.db", "desktop.ini", ".directory", "@eaDir",
    ]

    /// Files that systems and programs keep for themselves. Some may be a person's only copy of something: a
    /// repository, old versions, files in the trash.
    package static let litter: [String] =
        junk + [".stfolder", ".stversions", own, ".Trash-*", ".git", ".a4", ".tk", ".obsidian"]

    /// The agent's own files: never treated as anyone else's.
    package static let own = ".steward-*"

    package static let patterns = litter + work

    package static let standard = NamePatterns(patterns)

    /// The names next to `path` that show that an editor has it open, perhaps with unsaved changes: the swap files of
    /// vim and nano, and the locks of emacs, LibreOffice and Word.
    package static func editorLocks(beside path: BytePath) -> [BytePath] {
        let name = path.nameText
        return [".\(name).swp", ".#\(name)", ".~lock.\(name)#", "~$\(name)"].map { path.parent.appending($0) }
    }

    /// The first of the lock names that exists next to the entry. emacs' lock is a dangling symbolic link.
    package static func editorLock(on entry: DirectoryEntry) throws -> BytePath? {
        try editorLocks(beside: entry.name).first { try DirectoryEntry(entry.folder, $0).status() != nil }
    }
}

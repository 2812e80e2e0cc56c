import Glibc

/// Names that programs use while they work, which are never news in themselves (design section 2; the list was made
/// from what editors, browsers and sync tools were measured to write).
package enum WorkNames {
    /// Globs on a file's name, matched by ``Glob``; a user's configuration adds to them.
    package static let patterns: [String] = [
        "*~", "*.swp", "*.swx", "*.swo", "4913", ".#*", "#*#", ".goutputstream-*", ".~lock.*#", "lu*.tmp",
        "~$*", "sed??????", ".*.??????", "*.part", "*.crdownload", "*.download", "*.tmp", "._*", ".DS_Store",
        ".stfolder",
        ".stversions", ".syncthing.*.tmp", "~syncthing~*.tmp", "@eaDir", ".steward-*", ".Trash-*", ".git", ".a4",
        ".tk", ".obsidian",
    ]

    /// The names beside `path` that show that an editor has it open, perhaps with unsaved changes: vim's and nano's
    /// swap file, emacs' lock, LibreOffice's and Word's locks.
    package static func editorLocks(beside path: BytePath) -> [BytePath] {
        let name = path.nameText
        return [".\(name).swp", ".#\(name)", ".~lock.\(name)#", "~$\(name)"].map { path.parent.appending($0) }
    }

    /// The first of the names that stands beside `path` now. emacs' lock is a dangling symbolic link.
    package static func editorLock(on path: BytePath) -> BytePath? {
        editorLocks(beside: path).first { name in
            var found = stat()
            return name.withCString { lstat($0, &found) } == 0
        }
    }
}

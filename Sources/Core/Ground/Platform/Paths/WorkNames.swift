import Glibc

/// Names that are never news in themselves, as ``NamePatterns``; `ignore` in `steward.yaml` adds to them and takes from
/// them. The list was made from what editors, browsers and sync tools were measured to write.
package enum WorkNames {
    /// What programs write while they work, and what they make of it has another name.
    package static let work: [String] = [
        "*~", "*.swp", "*.swx", "*.swo", "4913", ".#*", "#*#", ".goutputstream-*", ".nfs*", ".~lock.*#", "~$*",
        "sedXXXXXX", ".*.XXXXXX", "*.tmp", ".syncthing.*", "~syncthing~*",
        "*.part", "*.crdownload", "*.download", "*.aria2", "*.opdownload", "*.!qB", "*.filepart", "*.ytdl",
        "*.fNNN.mp4", "*.fNNN.webm", "*.fNNN.m4a", "*.temp.mp4", "*.temp.webm", "*.temp.mkv", "*.temp.m4a",
    ]

    /// What systems leave in folders, and make anew where it is missing.
    package static let junk: [String] = [
        ".DS_Store", "._*", "Icon\r", "Thumbs.db", "ehthumbs.db", "desktop.ini", ".directory", "@eaDir",
    ]

    /// What systems and programs leave lying about for themselves. Some of it is all that a person has of something: a
    /// repository, old versions, what was put into the trash.
    package static let litter: [String] =
        junk + [".stfolder", ".stversions", own, ".Trash-*", ".git", ".a4", ".tk", ".obsidian"]

    /// The agent's own: never to be taken for anybody's file.
    package static let own = ".steward-*"

    package static let patterns = litter + work

    package static let standard = NamePatterns(patterns)

    /// The names beside `path` that show that an editor has it open, perhaps with unsaved changes: vim's and nano's
    /// swap file, emacs' lock, LibreOffice's and Word's locks.
    package static func editorLocks(beside path: BytePath) -> [BytePath] {
        let name = path.nameText
        return [".\(name).swp", ".#\(name)", ".~lock.\(name)#", "~$\(name)"].map { path.parent.appending($0) }
    }

    /// The first of the names that stands beside the spot now. emacs' lock is a dangling symbolic link.
    package static func editorLock(on spot: DirectoryEntry) throws -> BytePath? {
        try editorLocks(beside: spot.name).first { try DirectoryEntry(spot.folder, $0).status() != nil }
    }
}

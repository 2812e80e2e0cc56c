/// The contents of a folder, recursively, judged by the status of each name; opens no file.
///
/// Two looks with the same ``digest`` found the same names, with files of the same inodes, sizes and times. Ignores the
/// litter of operating systems and the agent's working files (``WorkNames/litter``), which are not watched either. The
/// folder's own name and location do not count: moving it does not change its contents.
package struct FolderContents: Sendable {
    package struct File: Sendable, Equatable {
        /// Relative to the folder.
        package let path: BytePath
        package let fingerprint: Fingerprint

        /// Whether its name, or that of a folder above it, begins with a dot.
        package var isHidden: Bool { path.components.contains { $0.first == UInt8(ascii: ".") } }
    }

    /// Regular files, in the order of their paths.
    package let files: [File]
    package let digest: ContentHash
    /// Whether it contains only empty folders and files that nobody would miss (``WorkNames/junk``).
    package let isBare: Bool
    /// When anything in it last changed, including the folder itself, in nanoseconds since 1970; from the ctime, which
    /// no program can set.
    package let lastChange: Int64

    /// The most names examined; a larger folder is not handled as one unit.
    package static let most = 200_000
    private static let deepest = 64
    /// The code of the fault for such a folder.
    package static let tooMuch = "folder-too-much"
    private static let passedOver = NamePatterns(WorkNames.litter)
    private static let missedByNobody = NamePatterns(WorkNames.junk)

    /// Walks a folder. Blocks.
    ///
    /// - Throws: `Fault` with the code ``tooMuch`` if it has more than ``most`` names or is nested too deeply; any
    ///   other if a part of it cannot be read.
    package init(_ folder: Folder, most: Int = FolderContents.most) throws {
        let own = try Self.change(folder.status())
        var walk = Walk(left: most, path: folder.path)
        try walk.visit(folder, BytePath(""), depth: 0)
        digest = walk.hasher.finish()
        files = walk.files
        isBare = walk.isBare
        lastChange = max(own, walk.lastChange)
    }

    /// The files that a person sees.
    package var shown: [File] { files.filter { !$0.isHidden } }

    /// The total size in bytes of the files that a person sees.
    package var size: Int64 { Self.sum(shown.map(\.fingerprint.size)) }

    /// Saturates: sparse files may claim sizes whose sum overflows.
    package static func sum(_ sizes: [Int64]) -> Int64 {
        sizes.reduce(0) { sum, size in
            let (next, isTooLarge) = sum.addingReportingOverflow(size)
            return isTooLarge ? .max : next
        }
    }

    /// The earliest and latest modification of those files, in nanoseconds since 1970; nil if there are none.
    package var dates: (earliest: Int64, latest: Int64)? {
        let times = shown.map(\.fingerprint.modified)
        guard let earliest = times.min(), let latest = times.max() else { return nil }
        return (earliest, latest)
    }

    fileprivate static func change(_ status: FileStatus) -> Int64 {
        max(status.fingerprint.changed, status.fingerprint.modified)
    }

    private struct Walk: ~Copyable {
        var hasher = StreamingHash()
        var files: [File] = []
        var isBare = true
        var lastChange = Int64.min
        var left: Int
        let path: BytePath

        init(left: Int, path: BytePath) {
            self.left = left
            self.path = path
        }

        mutating func visit(_ folder: Folder, _ below: BytePath, depth: Int) throws {
            guard depth < deepest else {
                throw Fault(
                    .failed, "\(path) holds folders in folders, more than \(deepest) deep", path: path, code: tooMuch)
            }
            let all = try folder.entries().map(\.name)
            // In a fixed order, independent of the file system.
            let names = all.filter { passedOver.first(matching: $0) == nil }
                .sorted { $0.lexicographicallyPrecedes($1) }
            if all.contains(where: {
                passedOver.first(matching: $0) != nil && missedByNobody.first(matching: $0) == nil
            }) {
                isBare = false
            }
            left -= names.count
            guard left >= 0 else {
                throw Fault(
                    .failed, "\(path) holds more than \(most) names, too many for one thing", path: path, code: tooMuch)
            }
            for name in names {
                // Skip entries that vanished in the meantime.
                guard let status = try folder[name].status() else { continue }
                let inner = below.appending(name: name)
                add(inner, status)
                if status.kind == .directory, let next = try folder[name].openFolder() {
                    try visit(next, inner, depth: depth + 1)
                }
            }
        }

        private mutating func add(_ path: BytePath, _ status: FileStatus) {
            let print = status.fingerprint
            // The times of folders also change with litter in them, and those of links mean nothing.
            let isFile = status.kind == .file
            let numbers = [print.inode] + (isFile ? [print.size, print.modified].map { UInt64(bitPattern: $0) } : [])
            // The length precedes the path, so that different lists of names never yield the same bytes.
            let line = "\(path.bytes.count) \(status.kind) \(numbers)\n"
            hasher.update(Array(line.utf8) + path.bytes)
            lastChange = max(lastChange, change(status))
            if status.kind != .directory { isBare = false }
            if isFile { files.append(File(path: path, fingerprint: print)) }
        }
    }
}

/// What lies in a folder, all the way down, as the status of each name tells it; no file is opened.
///
/// Two looks that find the same ``digest`` have found the same names, with files of the same inodes, sizes and times. What
/// systems leave lying about and what the agent itself works with (``WorkNames/litter``) counts as nothing: nobody watches
/// for it. The folder's own name, and where it lies, is no part of it: a folder that is moved holds what it held.
package struct FolderContents: Sendable {
    package struct File: Sendable, Equatable {
        /// Below the folder.
        package let path: BytePath
        package let fingerprint: Fingerprint

        /// Whether it, or a folder on the way to it, has a name that begins with a dot.
        package var isHidden: Bool { path.components.contains { $0.first == UInt8(ascii: ".") } }
    }

    /// Regular files, in the order of their paths.
    package let files: [File]
    package let digest: ContentHash
    /// Whether nothing else lies in it than empty folders, and what nobody misses (``WorkNames/junk``).
    package let isBare: Bool
    /// When anything in it last changed, the folder itself included, in nanoseconds since 1970; by the time that no program
    /// can set.
    package let lastChange: Int64

    /// So many names are looked at; a folder that holds more is not dealt with as one thing.
    package static let most = 200_000
    private static let deepest = 64
    /// What the fault of such a folder has for its code.
    package static let tooMuch = "folder-too-much"
    private static let passedOver = NamePatterns(WorkNames.litter)
    private static let missedByNobody = NamePatterns(WorkNames.junk)

    /// Goes through a folder. Blocks.
    ///
    /// - Throws: `Fault` with the code ``tooMuch`` where it holds more than ``most`` names, or folders in folders without end;
    ///   any other where a part of it cannot be read.
    package init(_ folder: Folder, most: Int = FolderContents.most) throws {
        let own = try Self.change(folder.status())
        var walk = Walk(left: most, path: folder.path)
        try walk.visit(folder, BytePath(""), depth: 0)
        digest = walk.hasher.finish()
        files = walk.files
        isBare = walk.isBare
        lastChange = max(own, walk.lastChange)
    }

    /// Those that a person sees.
    package var shown: [File] { files.filter { !$0.isHidden } }

    /// Bytes of the files that a person sees.
    package var size: Int64 { Self.sum(shown.map(\.fingerprint.size)) }

    /// Files with holes may claim more than there are numbers.
    package static func sum(_ sizes: [Int64]) -> Int64 {
        sizes.reduce(0) { sum, size in
            let (next, isTooLarge) = sum.addingReportingOverflow(size)
            return isTooLarge ? .max : next
        }
    }

    /// When the first and the last of those were changed, in nanoseconds since 1970; nil where there are none.
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
            // In one order whatever the file system's is.
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
                // What has gone meanwhile is no part of it.
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
            // Of a folder and a link the times are those of litter in it, or nobody's.
            let isFile = status.kind == .file
            let numbers = [print.inode] + (isFile ? [print.size, print.modified].map { UInt64(bitPattern: $0) } : [])
            // A length before the path, so that no two lists of names make the same bytes.
            let line = "\(path.bytes.count) \(status.kind) \(numbers)\n"
            hasher.update(Array(line.utf8) + path.bytes)
            lastChange = max(lastChange, change(status))
            if status.kind != .directory { isBare = false }
            if isFile { files.append(File(path: path, fingerprint: print)) }
        }
    }
}

import OwnFiles
import Platform

/// Files of identical content (docs/design/comic-archives.md, "The library").
package struct DuplicateGroup: Sendable, Equatable, Codable {
    package let hash: ContentHash
    /// Bytes of each.
    package let size: Int64
    /// The one to keep first: not named like a copy, then the oldest, then by name.
    package let files: [BytePath]

    package var copies: [BytePath] { Array(files.dropFirst()) }
    /// The bytes that removing the copies would free.
    package var wasted: Int64 { size * Int64(max(0, files.count - 1)) }
}

package enum Duplicates {
    /// Finds files of identical content. Only files that share their size are read; hard links to one file count once,
    /// empty files never. Blocks while it reads.
    ///
    /// - Parameters:
    ///   - files: absolute.
    ///   - progress: called with the bytes read so far and the total.
    /// - Returns: groups of two or more, the largest waste first; and the files that could not be read.
    package static func find(
        among files: some Sequence<BytePath>, progress: (Int64, Int64) -> Void = { _, _ in }
    ) -> (groups: [DuplicateGroup], unreadable: [BytePath]) {
        var unreadable: [BytePath] = []
        var bySize: [Int64: [(path: BytePath, status: FileStatus)]] = [:]
        var seen: Set<[UInt64]> = []
        for path in PageOrder.sorted(files, by: \.bytes) {
            do {
                guard let status = try FileStatus.of(path), status.kind == .file, status.size > 0 else { continue }
                guard seen.insert([status.device, status.inode]).inserted else { continue }
                bySize[status.size, default: []].append((path, status))
            } catch {
                unreadable.append(path)
            }
        }
        let candidates = bySize.filter { $0.value.count > 1 }
        let total = candidates.reduce(0) { $0 + $1.key * Int64($1.value.count) }
        var done: Int64 = 0
        var groups: [DuplicateGroup] = []
        for (size, files) in candidates.sorted(by: { $0.key > $1.key }) {
            var byHash: [ContentHash: [(path: BytePath, status: FileStatus)]] = [:]
            for file in files {
                do {
                    byHash[try ContentHash.ofFile(file.path), default: []].append(file)
                } catch {
                    unreadable.append(file.path)
                }
                done += size
                progress(done, total)
            }
            for (hash, same) in byHash where same.count > 1 {
                let sorted = same.sorted { left, right in
                    let copies = (isNamedLikeACopy(left.path), isNamedLikeACopy(right.path))
                    if copies.0 != copies.1 { return !copies.0 }
                    let times = (left.status.fingerprint.modified, right.status.fingerprint.modified)
                    if times.0 != times.1 { return times.0 < times.1 }
                    return PageOrder.precedes(left.path.bytes, right.path.bytes)
                }
                groups.append(DuplicateGroup(hash: hash, size: size, files: sorted.map(\.path)))
            }
        }
        groups.sort { $0.wasted != $1.wasted ? $0.wasted > $1.wasted : $0.hash.description < $1.hash.description }
        return (groups, unreadable)
    }

    /// Files named as second files (`x (1).cbz` beside `x.cbz` or `x.cbr`) although their content differs: another
    /// scan, another packing, a damaged copy. For a person to review; none is a true copy.
    ///
    /// - Parameters:
    ///   - files: absolute.
    ///   - groups: the result of ``find(among:progress:)``; copies of one content are listed once.
    /// - Returns: groups of two or more in page order, the file without a number first.
    package static func namesakes(among files: some Sequence<BytePath>, besides groups: [DuplicateGroup])
        -> [[BytePath]]
    {
        let copies = Set(groups.flatMap(\.copies))
        var byName: [BytePath: [ComparedName: [BytePath]]] = [:]
        for file in PageOrder.sorted(files, by: \.bytes) where !copies.contains(file) {
            byName[file.parent, default: [:]][ComparedName(plainStem(file)), default: []].append(file)
        }
        let alike = byName.values.flatMap(\.values).filter { $0.count > 1 && $0.contains(where: isNamedLikeACopy) }
        let found = alike.map { files in files.filter { !isNamedLikeACopy($0) } + files.filter(isNamedLikeACopy) }
        return PageOrder.sorted(found) { $0.first?.bytes ?? [] }
    }

    /// The stem without its ` (1)`.
    private static func plainStem(_ path: BytePath) -> [UInt8] {
        let stem = path.stemAndExtension.stem
        guard isNamedLikeACopy(path), let open = stem.lastIndex(of: UInt8(ascii: "(")) else { return stem }
        return Array(stem[..<(open - 1)])
    }

    /// Whether the name ends in ` (1)`, as the agent and most programs number a second file.
    package static func isNamedLikeACopy(_ path: BytePath) -> Bool {
        let stem = path.stemAndExtension.stem
        guard stem.last == UInt8(ascii: ")"), let open = stem.lastIndex(of: UInt8(ascii: "(")), open > 1 else {
            return false
        }
        let digits = stem[(open + 1)..<(stem.count - 1)]
        return stem[open - 1] == UInt8(ascii: " ") && (1...4).contains(digits.count)
            && digits.allSatisfy { (0x30...0x39).contains($0) }
    }
}

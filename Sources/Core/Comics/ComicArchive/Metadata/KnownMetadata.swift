import Platform

/// What a comic's metadata files, its own name and its folder's together tell of it, and which of them said so: the one
/// place where a comic's series, number and title are decided.
package struct KnownMetadata: Sendable {
    package enum Source: String, Codable, Sendable {
        case comicInfo = "ComicInfo.xml"
        case metronInfo = "MetronInfo.xml"
        case fileName = "file name"
        case folderName = "folder name"
    }

    package let metadata: ComicMetadata
    /// Why a metadata file could not be used.
    package let faults: [String]
    /// Metadata files that were not looked at, for there was another one.
    package let passedOver: [BytePath]
    /// What each source says by itself, the one that is believed first in front.
    package let sources: [(source: Source, metadata: ComicMetadata)]
    /// Whether the number is nothing but `(1)` at the end of the file's name, as copies are called too.
    let isNumberedLikeACopy: Bool
    private let stem: String

    /// - Parameters:
    ///   - found: the metadata files of the archive, in its order.
    ///   - path: of the comic: its last component is its name, the one before its folder. A folder that tells nothing
    ///     of the comic, such as an inbox, must not be part of it.
    package init(_ found: [FoundMetadata], of path: BytePath) {
        var faults: [String] = []
        var passedOver: [BytePath] = []
        func read(_ kind: MetadataFile) -> ComicMetadata? {
            guard let choice = kind.choose(among: found.map(\.path.bytes)) else { return nil }
            passedOver += choice.ignored.map { found[$0].path }
            do {
                return try kind.parse(found[choice.index].bytes)
            } catch {
                faults.append(explain(error))
                return nil
            }
        }
        let name = ComicName.parse(Self.name(path))
        let folder = ComicName.parse(path.parent.nameText, isFolder: true)
        var inFolder = ComicMetadata()
        (inFolder.series, inFolder.year, inFolder.volume) = (folder.series, folder.year, folder.volume)
        let candidates: [(Source, ComicMetadata?)] = [
            (.comicInfo, read(.comicInfo)), (.metronInfo, read(.metronInfo)), (.fileName, name.metadata),
            (.folderName, inFolder),
        ]
        sources = candidates.compactMap { source, metadata in metadata.map { (source, $0) } }
        metadata = sources.reduce(ComicMetadata()) { $0.filled(from: $1.metadata) }
        isNumberedLikeACopy = name.isNumberedLikeACopy
        self.faults = faults
        self.passedOver = passedOver
        stem = String(decoding: path.stemAndExtension.stem, as: UTF8.self)
    }

    /// What to call a comic that has no title: its series and number, or its file's name.
    package var standInTitle: String {
        guard let series = metadata.series else { return stem }
        // The name of some is their number.
        return metadata.number.flatMap { $0 == series ? nil : "\(series) \($0)" } ?? series
    }

    /// The first source that gives `value` of a field.
    package func source<V: Equatable>(of value: V, _ field: (ComicMetadata) -> V?) -> Source? {
        sources.first { field($0.metadata) == value }?.source
    }

    /// The name to read; one of digits alone is a number where a folder can name the series, or a zero leads.
    private static func name(_ path: BytePath) -> String {
        let stem = path.stemAndExtension.stem
        let isNumber = !stem.isEmpty && stem.count < 5 && stem.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber && (!path.parent.isEmpty || stem.first == 0x30) ? "#\(path.nameText)" : path.nameText
    }
}

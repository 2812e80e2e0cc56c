import Platform

/// The metadata of a comic, merged from its metadata files, its file name and its folder's name, with the source of
/// each field. A comic's series, number and title are decided only here.
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
    /// Metadata files ignored in favour of another.
    package let passedOver: [BytePath]
    /// The metadata from each source, the most trusted first.
    package let sources: [(source: Source, metadata: ComicMetadata)]
    /// Whether the number is only a trailing `(1)` in the file's name, which may also mark a copy.
    let isNumberedLikeACopy: Bool
    private let stem: String

    /// - Parameters:
    ///   - found: the metadata files of the archive, in its order.
    ///   - path: of the comic: its last component is its name, the one before its folder. Omit a folder that is
    ///     unrelated to the comic, such as an inbox.
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

    /// A title for a comic without one: its series and number, or its file's name.
    package var standInTitle: String {
        guard let series = metadata.series else { return stem }
        // Some comics have their number as the series' name.
        return metadata.number.flatMap { $0 == series ? nil : "\(series) \($0)" } ?? series
    }

    /// The first source with this `value` of a field.
    package func source<V: Equatable>(of value: V, _ field: (ComicMetadata) -> V?) -> Source? {
        sources.first { field($0.metadata) == value }?.source
    }

    /// The name to parse. Digits alone are a number if a folder can name the series, or if they start with a zero.
    private static func name(_ path: BytePath) -> String {
        let stem = path.stemAndExtension.stem
        let isNumber = !stem.isEmpty && stem.count < 5 && stem.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber && (!path.parent.isEmpty || stem.first == 0x30) ? "#\(path.nameText)" : path.nameText
    }
}

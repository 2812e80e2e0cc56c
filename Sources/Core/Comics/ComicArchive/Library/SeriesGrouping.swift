import Foundation
import Platform

/// The properties of a comic that determine its series.
package struct SeriesMember: Sendable, Equatable {
    package let path: BytePath
    package let series: String?
    package let volume: Int?
    package let number: String?
    let isNumberedLikeACopy: Bool

    /// - Parameter path: in the library; the file is not opened.
    package init(path: BytePath) {
        let known = KnownMetadata([], of: path)
        self.path = path
        (series, volume, number) = (known.metadata.series, known.metadata.volume, known.metadata.number)
        isNumberedLikeACopy = known.isNumberedLikeACopy
    }
}

/// Comics that form a series.
package struct SeriesGroup: Sendable, Equatable, Identifiable {
    /// `auto-` and the key.
    package let id: String
    /// As the first member spells it.
    package let name: String
    /// By volume, number, then name.
    package let members: [SeriesMember]
}

/// Finds the series among comics.
package enum SeriesGrouping {
    /// Groups comics of the same series, case-insensitive, that have a number or a volume.
    ///
    /// A group has at least two members. A copy (`Akira (1).cbz` beside `Akira.cbz`) is not a second issue.
    ///
    /// - Returns: the groups by name in page order, and all other members as given.
    package static func group(_ members: [SeriesMember]) -> (groups: [SeriesGroup], loose: [SeriesMember]) {
        let originals = Set(members.filter { !$0.isNumberedLikeACopy }.map { plainName($0) })
        var byKey: [String: [SeriesMember]] = [:]
        for member in members {
            guard let series = member.series, member.number != nil || member.volume != nil else { continue }
            if member.isNumberedLikeACopy, originals.contains(copiedName(member)) { continue }
            byKey[key(series), default: []].append(member)
        }
        let groups = byKey.filter { $0.value.count > 1 }.map { key, members in
            let sorted = members.sorted(by: precedes)
            return SeriesGroup(id: "auto-\(key)", name: sorted.first?.series ?? key, members: sorted)
        }
        let grouped = Set(groups.flatMap(\.members).map(\.path))
        return (
            PageOrder.sorted(groups) { Array($0.name.utf8) + [0] + Array($0.id.utf8) },
            members.filter { !grouped.contains($0.path) }
        )
    }

    /// A key that is equal for different spellings of a series' name.
    package static func key(_ series: String) -> String {
        series.lowercased().precomposedStringWithCanonicalMapping.split { $0.isWhitespace }.joined(separator: " ")
    }

    private static func precedes(_ left: SeriesMember, _ right: SeriesMember) -> Bool {
        let places = (order(left), order(right))
        if places.0 != places.1 { return places.0.lexicographicallyPrecedes(places.1) }
        return PageOrder.precedes(left.path.bytes, right.path.bytes)
    }

    private static func order(_ member: SeriesMember) -> [Double] {
        [Double(member.volume ?? 0), member.number.map { ComicName.order(of: $0) ?? .infinity } ?? -.infinity]
    }

    /// A stem in its folder, in lower case.
    private struct PlainName: Hashable {
        let folder: BytePath
        let stem: String
    }

    private static func plainName(_ member: SeriesMember) -> PlainName {
        PlainName(folder: member.path.parent, stem: stem(member).lowercased())
    }

    /// The name without its ` (1)`.
    private static func copiedName(_ member: SeriesMember) -> PlainName {
        let stem = stem(member)
        let plain = stem.lastIndex(of: "(").map { trimmed(stem[..<$0]) } ?? stem
        return PlainName(folder: member.path.parent, stem: plain.lowercased())
    }

    private static func stem(_ member: SeriesMember) -> String {
        String(decoding: member.path.stemAndExtension.stem, as: UTF8.self)
    }
}

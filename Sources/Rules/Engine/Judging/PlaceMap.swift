import Platform

/// Maps a path to its place: the innermost one whose root contains it.
package struct PlaceMap: Sendable {
    package let places: [PlaceInfo]
    private let deepestFirst: [PlaceInfo]

    package init(_ places: [PlaceInfo]) {
        self.places = places
        deepestFirst = places.sorted { $0.root.components.count > $1.root.components.count }
    }

    package subscript(name name: String) -> PlaceInfo? { places.first { $0.name == name } }

    /// The place of an absolute path, and the path relative to its root.
    package func locate(_ path: BytePath) -> (place: PlaceInfo, path: BytePath)? {
        for place in deepestFirst {
            if let relative = path.relative(to: place.root), !relative.isEmpty { return (place, relative) }
        }
        return nil
    }

    /// Normalises a path that a person wrote: removes `.` and `..`. If the path is in no place as written, follows
    /// the symlinks in its parent folders. Blocks.
    package func known(_ written: BytePath) -> BytePath {
        var parts: [ArraySlice<UInt8>] = []
        for part in written.components where part != ArraySlice(".".utf8) {
            if part == ArraySlice("..".utf8) { _ = parts.popLast() } else { parts.append(part) }
        }
        let path = BytePath(bytes: parts.reduce(into: []) { $0 += [UInt8(ascii: "/")] + $1 })
        if places.contains(where: { path.isWithin($0.root) }) { return path }
        guard let folder = path.parent.real else { return path }
        let real = folder.appending(name: path.name)
        for place in deepestFirst {
            if let root = place.root.real, let relative = real.relative(to: root) {
                return place.root.appending(relative)
            }
        }
        return path
    }

    /// Roots of other places within `place`; they do not belong to it.
    package func nested(in place: PlaceInfo) -> [BytePath] {
        places.map(\.root).filter { $0 != place.root && $0.isWithin(place.root) }
    }
}

import Platform

/// Which place a path belongs to: the innermost whose root holds it.
package struct PlaceMap: Sendable {
    package let places: [PlaceInfo]
    private let deepestFirst: [PlaceInfo]

    package init(_ places: [PlaceInfo]) {
        self.places = places
        deepestFirst = places.sorted { $0.root.components.count > $1.root.components.count }
    }

    package subscript(name name: String) -> PlaceInfo? { places.first { $0.name == name } }

    /// The place of an absolute path, and the path below its root.
    package func locate(_ path: BytePath) -> (place: PlaceInfo, path: BytePath)? {
        for place in deepestFirst {
            if let relative = path.relative(to: place.root), !relative.isEmpty { return (place, relative) }
        }
        return nil
    }

    /// Roots of other places that lie within `place`: theirs, not its own.
    package func nested(in place: PlaceInfo) -> [BytePath] {
        places.map(\.root).filter { $0 != place.root && $0.isWithin(place.root) }
    }
}

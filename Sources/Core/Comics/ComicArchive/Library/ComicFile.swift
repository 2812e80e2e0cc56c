import Platform

/// A file or folder of a library.
package struct ComicFile: Sendable, Equatable, Codable {
    /// Below the library's folder.
    package let path: BytePath
    package let type: ComicFileType
    /// Bytes; 0 for folders.
    package let size: Int64
    /// Nanoseconds since 1970.
    package let modified: Int64

    package init(path: BytePath, type: ComicFileType, size: Int64, modified: Int64) {
        self.path = path
        self.type = type
        self.size = size
        self.modified = modified
    }

    /// The order of a listing.
    package enum Order: String, Sendable, Codable, CaseIterable {
        /// Natural, folders first.
        case name
        /// Newest first.
        case modified
        /// Largest first.
        case size
    }

    package static func sorted(_ files: [ComicFile], by order: Order) -> [ComicFile] {
        let byName = PageOrder.sorted(files) { $0.path.bytes }
        func stable(_ value: (ComicFile) -> Int64) -> [ComicFile] {
            byName.enumerated().sorted { left, right in
                let (one, other) = (value(left.element), value(right.element))
                return one != other ? one > other : left.offset < right.offset
            }.map(\.element)
        }
        return switch order {
        case .name: stable { $0.type == .folder ? 1 : 0 }
        case .modified: stable(\.modified)
        case .size: stable(\.size)
        }
    }
}

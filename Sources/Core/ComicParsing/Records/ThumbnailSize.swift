/// The box that a thumbnail is made to fit in, in pixels. A smaller picture is not enlarged.
package struct ThumbnailSize: Hashable, Sendable, Codable, CustomStringConvertible {
    package let width: Int
    package let height: Int

    /// - Parameters:
    ///   - width: brought into 1...``limit``, as is `height`.
    package init(width: Int, height: Int) {
        self.width = min(max(1, width), Self.limit)
        self.height = min(max(1, height), Self.limit)
    }

    package static let limit = 4096
    /// What a shelf of covers shows.
    package static let cover = ThumbnailSize(width: 300, height: 450)
    /// What an overview of a comic's pages shows; the seed's own size.
    package static let page = ThumbnailSize(width: 200, height: 280)

    /// Of the JPEGs, 0...100.
    package static let quality = 80

    package var description: String { "\(width)x\(height)" }
}

/// What was seen of one page when each of its pixels was decoded.
package enum PageSight: Sendable, Equatable {
    case whole
    /// A part of it is shown; why not all, in one line.
    case part(String)
    /// Nothing of it is shown, or it cannot be decoded.
    case nothing(String)
}

/// What became of one picture.
package enum ThumbnailOutcome: Sendable, Equatable {
    /// A JPEG in sRGB.
    case made([UInt8])
    /// Why there is none, in one line to follow the page's name.
    case failed(String)
}

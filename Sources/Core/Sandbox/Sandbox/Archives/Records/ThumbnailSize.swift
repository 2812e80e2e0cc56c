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
    /// What an overview of a comic's pages shows.
    package static let page = ThumbnailSize(width: 200, height: 280)

    /// Of the JPEGs, 0...100.
    package static let quality = 80

    package var description: String { "\(width)x\(height)" }
}

/// What is made of a picture that is converted.
package struct PictureWish: Sendable, Equatable {
    /// What pictures are written as.
    package enum Format: String, Sendable, Codable, CaseIterable {
        case jpeg, png, webp
    }

    package let format: Format
    /// 1...100; says nothing to a PNG.
    package let quality: Int
    /// The box that it is to fit in, in pixels: it is shrunk, and never enlarged.
    package let width: Int
    package let height: Int

    package init(format: Format, quality: Int, width: Int, height: Int) {
        (self.format, self.quality) = (format, quality)
        (self.width, self.height) = (width, height)
    }

    /// Bytes of what is made.
    package static let limit = 128 << 20

    /// For the worker's command line; see ``init(words:)``.
    package var words: [String] { [format.rawValue, "\(quality)", "\(width)", "\(height)"] }

    /// - Returns: nil where it is none.
    package init?(words: some Collection<String>) {
        let words = Array(words)
        guard words.count == 4, let format = Format(rawValue: words[0]), let quality = Int(words[1]),
            let width = Int(words[2]), let height = Int(words[3]), (1...100).contains(quality),
            (1...ImageHeader.sideLimit).contains(width), (1...ImageHeader.sideLimit).contains(height)
        else { return nil }
        self.init(format: format, quality: quality, width: width, height: height)
    }
}

extension ThumbnailSize {
    /// As which a thumbnail is made.
    package var wish: PictureWish {
        PictureWish(format: .jpeg, quality: Self.quality, width: width, height: height)
    }
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

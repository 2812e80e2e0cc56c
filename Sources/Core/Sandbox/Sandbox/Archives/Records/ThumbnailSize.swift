/// The bounding box of a thumbnail, in pixels. A smaller picture is not enlarged.
package struct ThumbnailSize: Hashable, Sendable, Codable, CustomStringConvertible {
    package let width: Int
    package let height: Int

    /// - Parameters:
    ///   - width: clamped to 1...``limit``, like `height`.
    package init(width: Int, height: Int) {
        self.width = min(max(1, width), Self.limit)
        self.height = min(max(1, height), Self.limit)
    }

    package static let limit = 4096
    /// For a shelf of covers.
    package static let cover = ThumbnailSize(width: 300, height: 450)
    /// For an overview of a comic's pages.
    package static let page = ThumbnailSize(width: 200, height: 280)

    /// JPEG quality, 0...100.
    package static let quality = 80

    package var description: String { "\(width)x\(height)" }
}

/// How to convert a picture.
package struct PictureRequest: Sendable, Equatable {
    /// The output format.
    package enum Format: String, Sendable, Codable, CaseIterable {
        case jpeg, png, webp
    }

    package let format: Format
    /// 1...100; ignored for PNG.
    package let quality: Int
    /// The bounding box in pixels: pictures are shrunk to it, never enlarged.
    package let width: Int
    package let height: Int

    package init(format: Format, quality: Int, width: Int, height: Int) {
        (self.format, self.quality) = (format, quality)
        (self.width, self.height) = (width, height)
    }

    /// The most bytes of output.
    package static let limit = 128 << 20

    /// For the worker's command line; see ``init(words:)``.
    package var words: [String] { [format.rawValue, "\(quality)", "\(width)", "\(height)"] }

    /// - Returns: nil if the words are malformed.
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
    /// How a thumbnail is made.
    package var wish: PictureRequest {
        PictureRequest(format: .jpeg, quality: Self.quality, width: width, height: height)
    }
}

/// The result of decoding every pixel of a page.
package enum PageSight: Sendable, Equatable {
    case whole
    /// Part of it is visible; the reason for the rest, in one line.
    case part(String)
    /// Nothing is visible, or it cannot be decoded.
    case nothing(String)
}

/// The result for one picture.
package enum ThumbnailOutcome: Sendable, Equatable {
    /// A JPEG in sRGB.
    case made([UInt8])
    /// Why there is none, in one line to follow the page's name.
    case failed(String)
}

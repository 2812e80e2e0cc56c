import Foundation
import Platform
import Sandbox

/// When a picture was taken, from the EXIF data in a JPEG, TIFF, PNG, WebP, HEIC or AVIF file.
///
/// The bytes are untrusted: every offset is checked, every loop bounded, and anything invalid means "no time".
package enum ExifTime {
    /// - Parameters:
    ///   - head: the picture's first bytes.
    ///   - size: of the whole picture; nil if `head` is all of it.
    ///   - timeZone: for times without a UTC offset.
    ///   - read: reads bytes of the picture at an offset; nil limits the search to `head`. PNG, WebP and TIFF files may
    ///     have their EXIF data at the end.
    /// - Returns: nil if there is none, or it is invalid.
    package static func original(
        in head: Data, size: Int64? = nil, timeZone: Zone, read: ((Int64, Int) throws -> [UInt8])? = nil
    ) throws -> Date? {
        let picture = PictureBytes(head: [UInt8](head), size: size ?? Int64(head.count), read: read)
        return try ExifTags(picture)?.taken().flatMap { date($0.clock, offset: $0.offset, timeZone) }
    }

    /// `2026:11:21 09:30:15`, the offset as `+01:00`.
    private static func date(_ text: String, offset: String?, _ timeZone: Zone) -> Date? {
        let parts = text.split(separator: " ")
        guard parts.count == 2 else { return nil }
        let day = parts[0].replacing(":", with: "-")
        if let offset, let exact = CaptureTime.parse("\(day) \(parts[1])\(offset)", arrival: .distantPast, timeZone) {
            return exact
        }
        return CaptureTime.parse("\(day) \(parts[1])", arrival: .distantPast, timeZone)
    }
}

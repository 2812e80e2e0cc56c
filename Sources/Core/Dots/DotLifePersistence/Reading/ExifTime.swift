import Foundation
import Platform
import Sandbox

/// When a picture was taken, as the EXIF data in a JPEG, TIFF, PNG, WebP, HEIC or AVIF file say.
///
/// The bytes come from outside: every offset is checked, every loop bounded, and whatever does not fit is "no time".
package enum ExifTime {
    /// - Parameters:
    ///   - head: the picture's first bytes.
    ///   - size: of the whole picture; nil where `head` is all of it.
    ///   - timeZone: for times that do not say how far they are from UTC.
    ///   - read: gives bytes of the picture at an offset; nil looks no further than `head`. PNG, WebP and TIFF files may
    ///     have their EXIF data at the end.
    /// - Returns: nil where there is none, or it is no time.
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

import Foundation
import Sandbox

/// When a picture was taken: DateTimeOriginal of the EXIF data in a JPEG, TIFF, PNG, WebP, HEIC or AVIF file.
///
/// The bytes come from outside: every offset is checked, every loop bounded, and whatever does not fit is "no time".
package enum ExifTime {
    /// - Parameters:
    ///   - head: the picture's first bytes.
    ///   - size: of the whole picture; nil where `head` is all of it.
    ///   - timeZone: for times without OffsetTimeOriginal, which say what the camera's clock showed.
    ///   - read: gives bytes of the picture at an offset; nil looks no further than `head`. PNG, WebP and TIFF files may
    ///     have their EXIF data at the end.
    /// - Returns: nil where there is none, it is no time, or one before the first photograph.
    package static func original(
        in head: Data, size: Int64? = nil, timeZone: TimeZone, read: ((Int64, Int) throws -> [UInt8])? = nil
    ) throws -> Date? {
        let picture = PictureBytes(head: [UInt8](head), size: size ?? Int64(head.count), read: read)
        guard let tags = try ExifTags(picture), let text = try tags.text(0x9003, .exif, limit: 64) else { return nil }
        let offset = try tags.text(0x9011, .exif, limit: 64)
        return date(text, offset: offset, timeZone)
    }

    /// `2026:11:21 09:30:15`, the offset as `+01:00`.
    private static func date(_ text: String, offset: String?, _ timeZone: TimeZone) -> Date? {
        let parts = text.split(separator: " ")
        // No photograph is older than Niépce's; 1601 and the like are what a clock shows that was never set.
        guard parts.count == 2, let year = Int(parts[0].prefix(4)), year >= 1826 else { return nil }
        let day = parts[0].replacing(":", with: "-")
        if let offset, let exact = CaptureTime.parse("\(day) \(parts[1])\(offset)", arrival: .distantPast, timeZone) {
            return exact
        }
        return CaptureTime.parse("\(day) \(parts[1])", arrival: .distantPast, timeZone)
    }
}

/// A JPEG header of 640 × 480 pixels with EXIF data: camera, time with its offset, and a location in Berlin.
package struct SamplePhoto: Sendable {
    private let make: String
    private let model: String
    private let hasPlace: Bool

    package init(make: String = "Canon", model: String = "Canon EOS R5", hasPlace: Bool = true) {
        (self.make, self.model, self.hasPlace) = (make, model, hasPlace)
    }

    /// The picture's header.
    package func jpeg() -> [UInt8] {
        let block = Array("Exif".utf8) + [0, 0] + exif()
        let length = block.count + 2
        let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 1, 0xE0, 2, 0x80, 1, 1, 0x11, 0]
        return [0xFF, 0xD8, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + block + frame
            + [0xFF, 0xDA, 0, 2, 7, 7, 0xFF, 0xD9]
    }

    private func exif() -> [UInt8] {
        func number(_ value: Int, _ width: Int) -> [UInt8] { (0..<width).map { UInt8(value >> ($0 * 8) & 255) } }
        var data: [UInt8] = []
        let (mainAt, exifAt, gpsAt, dataAt) = (8, 80, 140, 220)
        func entry(_ tag: Int, text: String) -> [UInt8] {
            let value = Array(text.utf8) + [0]
            if value.count <= 4 {
                return number(tag, 2) + number(2, 2) + number(value.count, 4)
                    + value + [UInt8](repeating: 0, count: 4 - value.count)
            }
            defer { data += value }
            return number(tag, 2) + number(2, 2) + number(value.count, 4) + number(dataAt + data.count, 4)
        }
        func entry(_ tag: Int, long: Int, type: Int = 4) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(1, 4) + number(long, 4)
        }
        func entry(_ tag: Int, degrees: [(Int, Int)]) -> [UInt8] {
            defer { data += degrees.flatMap { number($0.0, 4) + number($0.1, 4) } }
            return number(tag, 2) + number(5, 2) + number(3, 4) + number(dataAt + data.count, 4)
        }
        let main =
            number(hasPlace ? 5 : 4, 2) + entry(0x010F, text: make) + entry(0x0110, text: model)
            + entry(0x0112, long: 6, type: 3) + entry(0x8769, long: exifAt)
            + (hasPlace ? entry(0x8825, long: gpsAt) : []) + number(0, 4)
        let sub =
            number(2, 2) + entry(0x9003, text: "2026:07:01 10:00:05") + entry(0x9011, text: "+02:00") + number(0, 4)
        let gps =
            number(5, 2) + entry(1, text: "N") + entry(2, degrees: [(52, 1), (31, 1), (12, 1)]) + entry(3, text: "E")
            + entry(4, degrees: [(13, 1), (24, 1), (180, 10)])
            + entry(0x1D, text: "2026:07:01") + number(0, 4)
        var out: [UInt8] = [0x49, 0x49, 0x2A, 0] + number(mainAt, 4)
        for (place, part) in [(mainAt, main), (exifAt, sub), (gpsAt, gps), (dataAt, data)] {
            out += [UInt8](repeating: 0, count: place - out.count) + part
        }
        return out
    }
}

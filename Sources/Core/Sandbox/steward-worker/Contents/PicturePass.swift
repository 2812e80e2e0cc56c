import Sandbox

/// The worker's command `picture`: a picture's EXIF data, and its size as stored.
enum PicturePass {
    static func run(_ file: HandedFile, _ output: ContentOutput) throws -> Never {
        var head = try file.read(at: 0, count: ImageHeader.headLength)
        var reading = ImageHeader.examine(head)
        // Try again with as much as the header needs: EXIF data and profiles precede the size.
        if case .beyond(_, let needs) = reading, needs > head.count {
            head = try file.read(at: 0, count: min(8 << 20, max(needs, 1 << 20)))
            reading = ImageHeader.examine(head)
        }
        if case .found(let header) = reading {
            output.field(.photoWidth, header.width)
            output.field(.photoHeight, header.height)
        }
        guard let tags = try ExifTags(file.picture()) else {
            if case .found = reading { output.end(.complete) }
            output.end(.unreadable, "it is no picture, or a damaged one")
        }
        if let make = try tags.text(0x010F, .main) { output.field(.photoMake, make) }
        if let model = try tags.text(0x0110, .main) { output.field(.photoModel, model) }
        if let lens = try tags.text(0xA434, .exif) { output.field(.photoLens, lens) }
        if let turn = try tags.integer(0x0112, .main), (1...8).contains(turn) { output.field(.photoOrientation, turn) }
        if let taken = try tags.taken() {
            output.field(.photoTaken, taken.clock)
            if let offset = taken.offset { output.field(.photoOffset, offset) }
        }
        if let north = try degrees(tags, 0x0002, reference: 0x0001, negative: "S", most: 90),
            let east = try degrees(tags, 0x0004, reference: 0x0003, negative: "W", most: 180)
        {
            output.field(.photoLatitude, north)
            output.field(.photoLongitude, east)
        }
        output.end(.complete)
    }

    /// Degrees, minutes and seconds as degrees with six decimals, a tenth of a metre.
    private static func degrees(
        _ tags: ExifTags, _ tag: Int, reference: Int, negative: String, most: Double
    ) throws -> String? {
        guard let parts = try tags.fractions(tag, .gps, count: 3), let side = try tags.text(reference, .gps) else {
            return nil
        }
        let value = parts[0] + parts[1] / 60 + parts[2] / 3600
        guard value.isFinite, (0...most).contains(value) else { return nil }
        return decimal(side == negative ? -value : value, places: 6)
    }

    /// Avoids Foundation, which would be loaded at every start.
    static func decimal(_ value: Double, places: Int) -> String {
        let factor = (0..<places).reduce(1.0) { factor, _ in factor * 10 }
        let whole = Int((abs(value) * factor).rounded())
        let digits = String(whole % Int(factor))
        let sign = value < 0 && whole > 0 ? "-" : ""
        return "\(sign)\(whole / Int(factor)).\(String(repeating: "0", count: places - digits.count))\(digits)"
    }
}

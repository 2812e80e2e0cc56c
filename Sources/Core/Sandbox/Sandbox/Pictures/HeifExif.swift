/// Finds the EXIF data of a HEIC or AVIF file: a separate item, listed in the `meta` box (ISO 14496-12).
enum HeifExif {
    /// - Returns: the offset of its TIFF block; nil if there is none stored in one piece.
    static func block(_ file: PictureBytes) throws -> Int? {
        guard let meta = try box("meta", in: file, 0..<Int(clamping: file.size)), meta.count >= 4 else { return nil }
        // `meta` is a full box: version and flags precede its contents.
        let inside = (meta.lowerBound + 4)..<meta.upperBound
        guard let names = try box("iinf", in: file, inside), let places = try box("iloc", in: file, inside),
            let item = try exifItem(file, names), let data = try place(of: item, file, places),
            let gap = try file.number(at: data, width: 4)
        else { return nil }
        return data + 4 + gap
    }

    /// The contents of the first box of that kind.
    private static func box(_ kind: String, in file: PictureBytes, _ range: Range<Int>) throws -> Range<Int>? {
        var at = range.lowerBound
        for _ in 0..<1_000 {
            guard at <= range.upperBound - 8, var size = try file.number(at: at, width: 4),
                let name = try file.bytes(at: at + 4, count: 4)
            else { return nil }
            var header = 8
            if size == 1 {
                guard let large = try file.number(at: at + 8, width: 8) else { return nil }
                (size, header) = (large, 16)
            } else if size == 0 {
                size = range.upperBound - at
            }
            guard size >= header, size <= range.upperBound - at else { return nil }
            if name.elementsEqual(kind.utf8) { return (at + header)..<(at + size) }
            at += size
        }
        return nil
    }

    /// The id of the item of type `Exif`.
    private static func exifItem(_ file: PictureBytes, _ names: Range<Int>) throws -> Int? {
        guard let version = try file.number(at: names.lowerBound, width: 1) else { return nil }
        var at = names.lowerBound + (version == 0 ? 6 : 8)
        for _ in 0..<10_000 {
            guard let entry = try box("infe", in: file, at..<names.upperBound),
                let version = try file.number(at: entry.lowerBound, width: 1)
            else { return nil }
            // There were no four-letter types before version 2.
            let width = version == 3 ? 4 : 2
            if version >= 2, let id = try file.number(at: entry.lowerBound + 4, width: width),
                try file.bytes(at: entry.lowerBound + 6 + width, count: 4) == Array("Exif".utf8)
            {
                return id
            }
            at = entry.upperBound
        }
        return nil
    }

    private static func place(of wanted: Int, _ file: PictureBytes, _ places: Range<Int>) throws -> Int? {
        var at = places.lowerBound
        func take(_ width: Int) throws -> Int? {
            guard at <= places.upperBound - width else { return nil }
            defer { at += width }
            return width == 0 ? 0 : try file.number(at: at, width: width)
        }
        guard let version = try take(1), version <= 2, try take(3) != nil, let sizes = try take(2) else { return nil }
        let (offsetWidth, lengthWidth, baseWidth) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexWidth = version == 0 ? 0 : sizes & 15
        guard [offsetWidth, lengthWidth, baseWidth, indexWidth].allSatisfy({ [0, 4, 8].contains($0) }),
            let count = try take(version < 2 ? 2 : 4)
        else { return nil }
        for _ in 0..<min(count, 10_000) {
            guard let id = try take(version < 2 ? 2 : 4) else { return nil }
            var method = 0
            if version > 0 {
                guard let found = try take(2) else { return nil }
                method = found & 15
            }
            guard try take(2) != nil, let base = try take(baseWidth), let extents = try take(2) else { return nil }
            if id == wanted, extents > 0 {
                guard try take(indexWidth) != nil, let offset = try take(offsetWidth) else { return nil }
                // From the start of the file; other methods are not used for EXIF data.
                return method == 0 ? base + offset : nil
            }
            // Not one by one: with zero widths they take no space, and there may be hundreds of millions.
            at += extents * (indexWidth + offsetWidth + lengthWidth)
        }
        return nil
    }
}

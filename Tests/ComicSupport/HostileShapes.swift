extension HostileComic {
    /// Files that are not archives, two at once, incomplete, locked, or inconsistent.
    package static var shapes: [HostileComic] { nothing + closed + polyglots + disagreements }

    private static var nothing: [HostileComic] {
        [
            HostileComic("no bytes", "not-an-archive") { [] },
            HostileComic("one byte", "not-an-archive") { [0x50] },
            HostileComic("a block of zeros", ["not-an-archive", "no-pages"]) { [UInt8](repeating: 0, count: 512) },
            HostileComic("a MiB of zeros", ["not-an-archive", "no-pages"]) { [UInt8](repeating: 0, count: 1 << 20) },
            HostileComic("noise", "not-an-archive") { Array(picture(1, size: 20_000).dropFirst(40)) },
            HostileComic("text", "not-an-archive") { Array(String(repeating: "no comic\n", count: 500).utf8) },
            HostileComic("a picture", "not-an-archive") { picture(1) },
            HostileComic("ZIP's mark alone", ["not-an-archive", "damaged-archive"]) { [0x50, 0x4B, 3, 4] },
            HostileComic("RAR's mark alone", "damaged-archive") { [0x52, 0x61, 0x72, 0x21, 0x1A, 7, 0] },
            HostileComic("RAR 5's mark alone", "damaged-archive") { [0x52, 0x61, 0x72, 0x21, 0x1A, 7, 1, 0] },
            HostileComic("7z's mark alone", "damaged-archive") { [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C, 0, 4] },
            HostileComic("an empty zip", ["no-pages", "damaged-archive"]) { RawZip([]).bytes },
            HostileComic("an empty tar", ["no-pages", "not-an-archive"]) { RawTar([]).bytes },
            HostileComic("an empty rar4", "no-pages") { RawRar([]).four },
            HostileComic("an empty rar5", "no-pages") { RawRar([]).five },
            HostileComic("a zip without pages", "no-pages") { RawZip([RawZip.Entry("a.txt", [1])]).bytes },
        ]
    }

    private static var closed: [HostileComic] {
        let pages = [RawRar.Entry("1.png", picture(1)), RawRar.Entry("2.png", picture(2))]
        return [
            HostileComic("zip: encrypted", "encrypted") {
                var page = RawZip.Entry("1.png", picture(1))
                page.flags = 1
                return RawZip([page]).bytes
            },
            HostileComic("zip: one page of two encrypted", "encrypted") {
                var page = RawZip.Entry("2.png", picture(2))
                page.flags = 1
                return RawZip([RawZip.Entry("1.png", picture(1)), page]).bytes
            },
            HostileComic("zip: AES", "encrypted") {
                var page = RawZip.Entry("1.png", picture(1))
                (page.flags, page.method) = (1, 99)
                return RawZip([page]).bytes
            },
            HostileComic("zip: a method that nobody has", "unsupported") {
                var page = RawZip.Entry("1.png", picture(1))
                page.method = 77
                return RawZip([page, RawZip.Entry("2.png", picture(2))]).bytes
            },
            HostileComic("zip: a volume", "multi-volume") {
                var archive = RawZip([RawZip.Entry("1.png", picture(1))])
                archive.disk = 3
                return archive.bytes
            },
            HostileComic("rar4: encrypted", "encrypted") {
                var page = pages[0]
                page.isEncrypted = true
                return RawRar([page]).four
            },
            HostileComic("rar5: encrypted", "encrypted") {
                var page = pages[0]
                page.isEncrypted = true
                return RawRar([page]).five
            },
            HostileComic("rar4: a volume", "multi-volume") {
                var archive = RawRar(pages)
                archive.isVolume = true
                return archive.four
            },
            HostileComic("rar5: a volume", "multi-volume") {
                var archive = RawRar(pages)
                archive.isVolume = true
                return archive.five
            },
            HostileComic("rar4: a split page", "multi-volume") {
                var page = pages[1]
                page.isSplit = true
                return RawRar([pages[0], page]).four
            },
            HostileComic("rar5: a split page", "multi-volume") {
                var page = pages[1]
                page.isSplit = true
                return RawRar([pages[0], page]).five
            },
            HostileComic("rar4: solid", ["solid", "accepted"]) {
                var archive = RawRar(pages)
                archive.isSolid = true
                return archive.four
            },
            HostileComic("rar5: solid", "accepted") {
                var archive = RawRar(pages)
                archive.isSolid = true
                return archive.five
            },
            HostileComic("rar5: a stored page without a checksum", "damaged-page") {
                var page = pages[0]
                page.crc = nil
                return RawRar([page]).five
            },
        ]
    }

    private static var polyglots: [HostileComic] {
        let zip = RawZip([RawZip.Entry("1.png", picture(1)), RawZip.Entry("2.png", picture(2))])
        let other = [RawRar.Entry("1.png", picture(3)), RawRar.Entry("3.png", picture(4))]
        let fronts: [(String, [UInt8], [String])] = [
            ("a program", [0x7F, 0x45, 0x4C, 0x46] + [UInt8](repeating: 0, count: 5000), ["accepted"]),
            ("a script", Array("#!/bin/sh\nexit\n".utf8), ["accepted"]),
            ("a picture", picture(5), ["accepted"]),
            // Read as the format they begin with, whatever follows.
            ("a PDF", Array("%PDF-1.4\n1 0 obj<<>>endobj\n%%EOF\n".utf8), refused),
            ("a RAR 4", RawRar(other).four, ["accepted"]), ("a RAR 5", RawRar(other).five, ["accepted"]),
            ("a 7z", RawSevenZip([RawSevenZip.Entry("1.png", picture(3))]).bytes, ["accepted"]),
            ("a tar", RawTar([RawTar.Entry("1.png", picture(3))]).bytes, refused),
        ]
        let tails: [(String, [UInt8], [String])] = [
            ("a byte", [0], ["accepted"]), ("60 KB of noise", noise(60_000), refused + ["accepted"]),
            ("70 KB of noise", noise(70_000), refused),
            ("a RAR 5", RawRar(other).five, ["accepted"] + refused),
            ("another zip", RawZip([RawZip.Entry("1.png", picture(2))]).bytes, ["accepted"] + refused),
        ]
        return fronts.flatMap { label, front, words in
            [false, true].map { isShifted in
                let isOther = ["a RAR 4", "a RAR 5", "a 7z", "a tar"].contains(label)
                let contents = isOther ? [picture(3), picture(4)] : [picture(1), picture(2)]
                return HostileComic(
                    "zip after \(label)\(isShifted ? ", not told" : "")", words, contents: contents
                ) {
                    var zip = zip
                    (zip.front, zip.isShifted) = (front, isShifted)
                    return zip.bytes
                }
            }
        }
            + tails.map { label, tail, words in
                HostileComic("zip before \(label)", words) {
                    var zip = zip
                    zip.tail = tail
                    return zip.bytes
                }
            } + [
                HostileComic("zip whose comment is a zip", ["accepted"] + refused, contents: [picture(1), picture(2)]) {
                    var zip = zip
                    zip.comment = RawZip([RawZip.Entry("1.png", picture(2))]).bytes
                    return zip.bytes
                },
                HostileComic("an overlap bomb after a RAR 5", "accepted", contents: [picture(3), picture(4)]) {
                    RawRar(other).five + quotedOverlap(entries: 20, runs: 100)
                },
                HostileComic("an overlap bomb before an empty end record", refused + ["overlap"]) {
                    quotedOverlap(entries: 20, runs: 100) + RawZip([]).bytes
                },
                HostileComic("an overlap bomb before a false end record", refused + ["overlap"]) {
                    // libarchive skips it and takes the one before.
                    quotedOverlap(entries: 20, runs: 100) + little(0x0605_4B50, 4) + little(7, 2) + little(9, 2)
                        + little(0, 12) + little(0, 2)
                },
            ]
    }

    private static let refused = ["damaged-archive", "not-an-archive", "no-pages", "damaged-page", "multi-volume"]

    private static func noise(_ count: Int) -> [UInt8] { Array(picture(6, size: count + 40).dropFirst(40)) }

    private static var disagreements: [HostileComic] {
        [
            HostileComic("zip: two pages of one name", "accepted", contents: [picture(1)]) {
                RawZip([RawZip.Entry("1.png", picture(1)), RawZip.Entry("1.png", picture(2))]).bytes
            },
            HostileComic("tar: two pages of one name", "accepted", contents: [picture(1)]) {
                RawTar([RawTar.Entry("1.png", picture(1)), RawTar.Entry("1.png", picture(2))]).bytes
            },
            HostileComic("7z: two pages of one name", "accepted", contents: [picture(1)]) {
                RawSevenZip([RawSevenZip.Entry("1.png", picture(1)), RawSevenZip.Entry("1.png", picture(2))]).bytes
            },
            HostileComic("rar5: two pages of one name", "accepted", contents: [picture(1)]) {
                RawRar([RawRar.Entry("1.png", picture(1)), RawRar.Entry("1.png", picture(2))]).five
            },
            HostileComic("zip: another name in the local header", "damaged-archive") {
                renamed("1.png", local: "2.png")
            },
            // libarchive uses the name next to the bytes.
            HostileComic("zip: a parent in the local header alone", "traversal") {
                renamed("1.png", local: "../1.png")
            },
            HostileComic("zip: a parent in the directory alone", "damaged-archive") {
                renamed("../1.png", local: "1.png")
            },
            HostileComic("zip: an entry that is nowhere", ["damaged-archive", "overlap"]) {
                var page = RawZip.Entry("2.png", picture(2))
                page.offset = 1 << 31
                return RawZip([RawZip.Entry("1.png", picture(1)), page]).bytes
            },
            HostileComic("zip: an entry in the middle of another", ["damaged-archive", "overlap"]) {
                var page = RawZip.Entry("2.png", picture(2))
                page.offset = 100
                return RawZip([RawZip.Entry("1.png", picture(1)), page]).bytes
            },
            HostileComic("zip: an entry in the directory itself", ["damaged-archive", "overlap"]) {
                var page = RawZip.Entry("2.png", picture(2))
                page.offset = 6100
                return RawZip([RawZip.Entry("1.png", picture(1)), page]).bytes
            },
            HostileComic("zip: the end record counts one", refused + ["accepted"]) { counted(1) },
            HostileComic("zip: the end record counts 60,000", refused + ["accepted"]) { counted(60_000) },
            HostileComic("zip: noise between directory and end", refused + ["accepted"]) {
                var archive = RawZip([RawZip.Entry("1.png", picture(1))])
                archive.middle = noise(500)
                return archive.bytes
            },
        ]
    }

    private static func renamed(_ name: String, local: String) -> [UInt8] {
        var page = RawZip.Entry(name, picture(1))
        page.localName = Array(local.utf8)
        return RawZip([page]).bytes
    }

    private static func counted(_ count: Int) -> [UInt8] {
        var archive = RawZip([RawZip.Entry("1.png", picture(1)), RawZip.Entry("2.png", picture(2))])
        archive.count = count
        return archive.bytes
    }
}

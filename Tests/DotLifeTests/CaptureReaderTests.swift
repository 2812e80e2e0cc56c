import DotLifeDomain
import DotLifePersistence
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Reading a dropped file")
struct CaptureReaderTests {
    private let arrival = Date(timeIntervalSince1970: 1_795_253_400)  // 2026-11-21T09:30:00Z

    private func read(_ name: String, _ bytes: [UInt8], in zone: Zone = berlin) throws -> ExperienceRequest {
        try CaptureReader(timeZone: zone).request(
            for: .init(path: BytePath(name), head: Data(bytes), size: Int64(bytes.count), arrival: arrival))
    }

    private func read(_ name: String, _ text: String) throws -> ExperienceRequest { try read(name, Array(text.utf8)) }

    @Test("Text is a note, whatever its name", arguments: ["a.md", "a.txt", "a", "a.log", "photo.jpg"])
    func note(name: String) throws {
        let request = try read(name, "\u{FEFF}Käse am See\r\nzwei\r\n")
        #expect(request.experienceType == .note)
        #expect(request.noteText == "Käse am See\nzwei")
        #expect(request.momentType == .now)
        #expect(request.timestamp == arrival)
    }

    @Test("An empty file is a dot, and so is one that only has a time")
    func dot() throws {
        #expect(try read("x", "") == .dot(timestamp: arrival))
        #expect(try read("x", "\n\n") == .dot(timestamp: arrival))
        let said = try read("x.md", "time: 08:15\nmoment: today\n")
        #expect(said == .dot(momentType: .today, timestamp: try at("2026-11-21T07:15:00Z")))
    }

    @Test(
        "A text that is only an address is a link",
        arguments: [
            "https://example.org/a", "\n http://example.org/a?b \n", "---\nmoment: today\n---\nhttps://example.org",
        ])
    func linkText(text: String) throws {
        #expect(try read("a.txt", text).experienceType == .link)
    }

    @Test(
        "Other text with addresses is a note",
        arguments: ["see https://example.org", "https://a.org\nhttps://b.org", "example.org", "https://nowhere"])
    func notALink(text: String) throws {
        #expect(try read("a.txt", text).experienceType == .note)
    }

    @Test(
        "Link files yield their address",
        arguments: [
            ("a.url", "[InternetShortcut]\r\nURL=https://example.org/x\r\n"),
            (
                "a.URL",
                "[{000214A0}]\nURL=https://wrong.org\n[InternetShortcut]\nIconIndex=0\nURL=https://example.org/x"
            ),
            ("a.desktop", "[Desktop Entry]\nType=Link\nName=x\nURL=https://example.org/x\n"),
            ("a.webloc", "<plist><dict>\n<key>URL</key>\n\t<string>https://example.org/x</string></dict></plist>"),
        ])
    func linkFiles(name: String, text: String) throws {
        #expect(try read(name, text).linkURL == "https://example.org/x")
    }

    @Test("A webloc's entities are read once")
    func entities() throws {
        let text = "<key>URL</key><string>https://example.org/?a=1&amp;b=&amp;lt;</string>"
        #expect(try read("a.webloc", text).linkURL == "https://example.org/?a=1&b=&lt;")
    }

    @Test("A binary webloc yields its address; truncating or changing it does no harm")
    func binaryWebloc() throws {
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["URL": "https://example.org/a/long/enough/path"], format: .binary, options: 0)
        let bytes = [UInt8](list)
        #expect(try read("a.webloc", bytes).linkURL == "https://example.org/a/long/enough/path")
        for count in 1..<bytes.count {
            #expect(throws: Fault.self) { try read("a.webloc", Array(bytes.prefix(count))) }
        }
        var random = SeededGenerator(for: "CaptureReaderTests.binaryWebloc")
        var (links, refused) = (0, 0)
        for _ in 0..<5000 {
            var broken = bytes
            broken[Int.random(in: 8..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            do {
                let request = try read("a.webloc", broken)
                let address = try #require(request.linkURL, "\(broken)")
                #expect(try ExperienceRequest.link(address).linkURL == address, "\(broken)")
                #expect(!address.unicodeScalars.contains { $0.value <= 0x20 || $0.value == 0x7F }, "\(broken)")
                links += 1
            } catch let fault as Fault {
                #expect(fault.kind == .refused, "\(fault) of \(broken)")
                refused += 1
            }
        }
        // Changing a byte of the address gives another link; changing a byte of the list breaks it.
        #expect(links > 500 && refused > 500)
    }

    @Test(
        "Front matter and first lines give the time",
        arguments: [
            ("time: 2026-11-20 22:05\nrain", "2026-11-20T21:05:00Z"), ("Time: 22:05\nrain", "2026-11-21T21:05:00Z"),
            ("time: 2026-07-01T10:00:00+02:00\nrain", "2026-07-01T08:00:00Z"),
            ("---\ntime: \"2026-11-20T10:00:00Z\"\n---\n\nrain", "2026-11-20T10:00:00Z"),
            ("---\r\nmoment: now\r\ntime: 2026-11-20T10:00\r\n---\r\nrain", "2026-11-20T09:00:00Z"),
            ("time: 2026-11-20\nrain", "2026-11-19T23:00:00Z"),
        ])
    func times(text: String, expected: String) throws {
        let request = try read("a.md", text)
        #expect(request.timestamp == (try at(expected)))
        #expect(request.noteText == "rain")
    }

    @Test(
        "Moments can be words",
        arguments: [("now", MomentType.now), ("Today", .today), ("this week", .thisWeek), ("this-week", .thisWeek)])
    func moments(word: String, moment: MomentType) throws {
        #expect(try read("a.md", "moment: \(word)\nrain").momentType == moment)
    }

    @Test("The kind can be given: an address stays a note, a bare host becomes a link, a moment stays a dot")
    func kinds() throws {
        #expect(try read("a.md", "kind: note\nhttps://example.org").noteText == "https://example.org")
        #expect(
            try read("a.md", "---\nkind: Link\nmoment: today\n---\nexample.org/a").linkURL == "https://example.org/a")
        #expect(
            try read("a.md", "kind: dot\ntime: 2026-11-20T08:00:00Z\n")
                == .dot(timestamp: try at("2026-11-20T08:00:00Z")))
        #expect(try read("a.md", "kind: regards\nrain").noteText == "kind: regards\nrain")
    }

    @Test(
        "A kind that does not fit the text is rejected with the reason",
        arguments: [
            ("kind: note\n", "The note is empty"), ("kind: link\nrain in May", "Invalid URL"),
            ("kind: photo\nrain", "drop the picture itself"), ("kind: dot\nrain", "a dot has none"),
            ("---\nkind: film\n---\nrain", "wanted is `note`, `link`, `photo` or `dot`, once"),
            ("---\nkind: note\nkind: link\n---\nrain", "`kind: link`"),
        ])
    func wrongKinds(text: String, reason: String) {
        let fault = #expect(throws: Fault.self) { try read("a.md", text) }
        #expect(fault?.kind == .refused)
        #expect(fault?.message.contains(reason) == true, "\(fault?.message ?? "")")
        // The accepted kinds are listed only for files of unknown kind.
        #expect(fault?.message.contains("Accepted are") == false)
    }

    @Test("An object is a note, a link or a dot, with its time and moment")
    func objects() throws {
        let time = try at("2026-11-20T08:00:00Z")
        #expect(try read("a.json", #"{"text": " rain\nin May "}"#) == .note("rain\nin May", timestamp: arrival))
        #expect(
            try read(
                "A.JSON", #"{"url": "example.org", "moment": "this week", "time": "2026-11-20 09:00", "kind": "link"}"#)
                == .link("example.org", momentType: .thisWeek, timestamp: time))
        #expect(try read("a.json", #"{"time": "2026-11-20T08:00:00Z", "text": null}"#) == .dot(timestamp: time))
        // Its text is taken literally.
        #expect(try read("a.json", #"{"text": "moment: today\nhttps://a.org"}"#).momentType == .now)
    }

    @Test(
        "An invalid object is rejected, with the key at fault",
        arguments: [
            ("{", "cannot be read as JSON"), ("[]", "no object with `kind`, `moment`, `text`, `time`, `url`"),
            ("\"x\"", "no object"),
            (#"{"tiem": "09:30", "text": "x"}"#, "key `tiem` is unknown"), (#"{"text": 5}"#, "`text` must be a text"),
            (#"{"text": "x", "url": "a.org"}"#, "both `text` and `url`"), (#"{"text": " "}"#, "The note is empty"),
            (#"{"time": "soon"}"#, "`time` is soon"), (#"{"moment": "later"}"#, "`moment` is later"),
            (#"{"kind": "photo"}"#, "drop the picture"), (#"{"kind": "note"}"#, "its `kind` is note, and it is a dot"),
            (String(repeating: "[", count: 100_000), "cannot be read as JSON"),
        ])
    func wrongObjects(text: String, reason: String) {
        let fault = #expect(throws: Fault.self) { try read("a.json", text) }
        #expect(fault?.kind == .refused)
        #expect(fault?.message.contains(reason) == true, "\(fault?.message ?? "")")
    }

    private static let pictures: [[UInt8]] = [
        Picture.plainJPEG, Picture.png, Array("GIF89a".utf8), Array("RIFF\u{4}\0\0\0WEBP".utf8),
        Array("II*\0\u{8}\0\0\0".utf8), Array("MM\0*\0\0\0\u{8}".utf8),
        Array("\0\0\0\u{10}ftypheic\0\0\0\0".utf8), Array("\0\0\0\u{10}ftypavif\0\0\0\0".utf8),
    ]

    @Test("A picture is recognised as a photo by its first bytes, whatever its name", arguments: pictures)
    func photos(bytes: [UInt8]) throws {
        for name in ["a.txt", "a", "a.json", "a.url"] {
            #expect(try read(name, bytes).experienceType == .photo)
        }
    }

    @Test("Front matter with other keys stays; a first line that is not a time is a sentence")
    func keptText() throws {
        let rich = try read("a.md", "---\ntitle: T\nmoment: today\n---\nrain")
        #expect(rich.noteText == "---\ntitle: T\n---\nrain")
        #expect(rich.momentType == .today)
        #expect(try read("a.md", "time: it flies\nrain").noteText == "time: it flies\nrain")
        #expect(try read("a.md", "---\nno end\ntime: 10:00").noteText == "---\nno end\ntime: 10:00")
    }

    @Test("Lines may have any ending, even one converted twice", arguments: ["\n", "\r\n", "\r", "\r\r\n", "\r\r\r\n"])
    func lineEndings(end: String) throws {
        let text = ["---", "moment: today", "---", "rain", "snow", ""].joined(separator: end)
        let note = try read("a.txt", text)
        #expect(note.noteText?.split(whereSeparator: \.isNewline) == ["rain", "snow"])
        if end != "\r" { #expect(note.momentType == .today) }
    }

    @Test("A text with a NUL is rejected, because the store would truncate it there")
    func nul() {
        #expect(throws: Fault.self) { try read("a.json", #"{"text": "a\u0000b"}"#) }
        #expect(throws: ExperienceError.self) { try ExperienceRequest.note("before\0after") }
    }

    @Test(
        "An object with a duplicate key is rejected",
        arguments: [#"{"text":"one","text":"two"}"#, #"{"text":"a","t\u0065xt":"b"}"#])
    func keyTwice(json: String) {
        let fault = #expect(throws: Fault.self) { try read("a.json", json) }
        #expect(fault?.message.contains("the key \"text\" is repeated here") == true)
    }

    @Test("Colons and quotes in an object's texts are not keys") func colons() throws {
        #expect(try read("a.json", #"{ "text": "a: \"b\": \\", "moment": "today" }"#).noteText == #"a: "b": \"#)
    }

    @Test(
        "An invalid time in front matter is rejected",
        arguments: ["soon", "25:00", "2026-02-30 10:00", "2026-11-21 10:61"])
    func badTime(text: String) {
        let fault = #expect(throws: Fault.self) { try read("a.md", "---\ntime: \(text)\n---\nrain") }
        #expect(fault?.kind == .refused)
        #expect(fault?.message.contains(text) == true)
    }

    @Test("An hour skipped by the clocks is the next one; of a repeated one the first counts")
    func shiftedClocks() throws {
        #expect(
            CaptureTime.parse("2026-03-08 02:30", arrival: arrival, Zone(newYork)) == (try at("2026-03-08T07:30:00Z")))
        #expect(
            CaptureTime.parse("2026-11-01 01:30", arrival: arrival, Zone(newYork)) == (try at("2026-11-01T05:30:00Z")))
    }

    @Test(
        "A file that is neither image nor text is rejected, and the message says why",
        arguments: [
            [0x7F, 0x45, 0x4C, 0x46, 0, 0], [0xC3, 0x28], Array("%PDF-1.4 x".utf8), Array("PK\u{3}\u{4}".utf8),
        ])
    func refused(bytes: [UInt8]) {
        let fault = #expect(throws: Fault.self) { try read("x.md", bytes) }
        #expect(fault?.kind == .refused)
        #expect(fault?.message.contains("Accepted are notes") == true)
    }

    @Test("A text over 1 MiB is rejected; one of exactly 1 MiB is not")
    func tooLong() throws {
        let most = [UInt8](repeating: 0x61, count: CaptureReader.textLimit)
        #expect(try read("a.md", most).noteText?.utf8.count == most.count)
        #expect(throws: Fault.self) { try read("a.md", most + [0x61]) }
    }

    @Test("A link file without a valid address is rejected")
    func emptyLinkFiles() {
        #expect(throws: Fault.self) { try read("a.url", "[InternetShortcut]\nURL=file:///etc/passwd") }
        #expect(throws: Fault.self) { try read("a.desktop", "[Desktop Entry]\nType=Application\nURL=https://a.org") }
        #expect(throws: Fault.self) { try read("a.webloc", "<plist/>") }
    }

    @Test("On disk, names are bytes, and only regular files are read")
    func fromDisk() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(BytePath(bytes: [0x61, 0xFF, 0x2E, 0x6A]), Picture.plainJPEG)
        let request = try CaptureReader(timeZone: berlin).read(
            Descriptor(path), called: path, arrival: arrival)
        #expect(request.photo == .file(path: path.bytes))
        #expect(request.timestamp == arrival)
        let opened = try Descriptor(folder.path, O_RDONLY | O_DIRECTORY)
        #expect(throws: Fault.self) {
            try CaptureReader(timeZone: berlin).read(opened, called: folder.path, arrival: arrival)
        }
    }
}

@Suite("The time in a photo")
struct ExifTimeTests {
    @Test("DateTimeOriginal is the camera's clock, in the given zone", arguments: [true, false])
    func localTime(little: Bool) throws {
        let picture = Picture.jpeg(taken: "2026:07:01 10:00:05", little: little)
        #expect(try ExifTime.original(in: Data(picture), timeZone: berlin) == (try at("2026-07-01T08:00:05Z")))
    }

    @Test(
        "A time's own offset overrides the zone, and DateTimeDigitized replaces a missing DateTimeOriginal",
        arguments: [
            (0x9003, 0x9011, "2026-07-01T14:00:05Z"), (0x9004, 0x9012, "2026-07-01T14:00:05Z"),
            // The offset of the last change.
            (0x9003, 0x9010, "2026-07-01T08:00:05Z"),
        ])
    func offset(time: Int, offset: Int, expected: String) throws {
        let picture = Picture.jpeg(taken: "2026:07:01 10:00:05", offset: "-04:00", tags: (time, offset))
        #expect(try ExifTime.original(in: Data(picture), timeZone: berlin) == (try at(expected)))
    }

    @Test("PNG, WebP and TIFF contain the same block")
    func otherContainers() throws {
        let taken = "2026:07:01 10:00:05"
        let expected = try at("2026-07-01T08:00:05Z")
        for bytes in [
            Picture.png(taken: taken), Picture.webp(taken: taken),
            Picture.tiff(taken: taken, offset: nil, little: true),
        ] {
            #expect(try ExifTime.original(in: Data(bytes), timeZone: berlin) == expected)
        }
    }

    @Test("HEIC stores it as an item", arguments: [UInt8(0), 1])
    func heic(version: UInt8) throws {
        let picture = Picture.heic(taken: "2026:07:01 10:00:05", version: version)
        #expect(try ExifTime.original(in: Data(picture), timeZone: berlin) == (try at("2026-07-01T08:00:05Z")))
    }

    @Test("Tables that claim more extents than fit are skipped") func emptyExtents() throws {
        #expect(try ExifTime.original(in: Data(Picture.heicOfManyExtents()), timeZone: berlin) == nil)
    }

    @Test("It is found even far into the file", arguments: ["png", "webp", "tiff", "heic"])
    func farBehind(kind: String) throws {
        let folder = try TemporaryFolder()
        let (taken, gap) = ("2026:07:01 10:00:05", 3 << 20)
        let zeros = [UInt8](repeating: 0, count: gap)
        let size = [UInt8](withUnsafeBytes(of: UInt32(gap)) { Array($0) })
        let bytes: [UInt8]
        switch kind {
        case "png":
            let plain = Picture.png(taken: taken)
            bytes =
                Array(plain.prefix(8)) + size.reversed() + Array("IDAT".utf8) + zeros + [0, 0, 0, 0]
                + plain.dropFirst(8)
        case "webp":
            let plain = Picture.webp(taken: taken)
            bytes = Array(plain.prefix(12)) + Array("VP8 ".utf8) + size + zeros + plain.dropFirst(12)
        case "tiff":
            let plain = Picture.tiff(taken: taken, offset: nil, little: true)
            // The whole block again, at its end: only the first directory's position differs.
            let moved = UInt32(gap + plain.count + 8)
            let directory: [UInt8] = [1, 0, 0x69, 0x87, 4, 0, 1, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0]
            bytes =
                Array(plain.prefix(4)) + withUnsafeBytes(of: moved) { Array($0) } + plain.dropFirst(8) + zeros
                + [UInt8](repeating: 0, count: 8) + directory
        default: bytes = Picture.heic(taken: taken, gap: gap)
        }
        let path = try folder.write("far", bytes)
        let request = try CaptureReader(timeZone: berlin).read(
            Descriptor(path), called: path, arrival: at("2026-11-21T09:30:00Z"))
        #expect(request.timestamp == (try at("2026-07-01T08:00:05Z")))
    }

    @Test("A time that no camera can have recorded is replaced by the arrival")
    func unbelievable() throws {
        let arrival = try at("2026-11-21T09:30:00Z")
        let reader = CaptureReader(timeZone: berlin)
        let years = [
            "1601:01:01 00:00:00", "9999:12:31 23:59:59", "0000:00:00 00:00:00", "1825:12:31 12:00:00", "20x6:1:1",
        ]
        for year in years + ["2026:02:30 10:00:00", "2026:07:01 24:61:00", "-026:07:01 10:00:00"] {
            for bytes in [
                Picture.jpeg(taken: year), Picture.png(taken: year), Picture.webp(taken: year),
                Picture.heic(taken: year),
            ] {
                let input = CaptureReader.Input(
                    path: "a.jpg", head: Data(bytes), size: Int64(bytes.count), arrival: arrival)
                #expect(try reader.request(for: input).timestamp == arrival, "\(year)")
            }
        }
    }

    @Test(
        "A camera whose clock was never set has no time",
        arguments: ["0000:00:00 00:00:00", "    :  :     :  :  ", "x"])
    func unset(taken: String) throws {
        #expect(try ExifTime.original(in: Data(Picture.jpeg(taken: taken)), timeZone: berlin) == nil)
    }

    @Test("Bytes that lie, truncated or changed anywhere, yield a time or none, and do no harm")
    func hostile() throws {
        var random = SeededGenerator(for: "ExifTimeTests.hostile")
        let good = [
            Picture.jpeg(taken: "2026:07:01 10:00:05", offset: "+01:00"), Picture.png(taken: "2026:07:01 10:00:05"),
            Picture.webp(taken: "2026:07:01 10:00:05"), Picture.heic(taken: "2026:07:01 10:00:05"),
        ]
        let years = try at("1700-01-01T00:00:00Z")...at("2261-01-01T00:00:00Z")
        for picture in good {
            let whole = try #require(try ExifTime.original(in: Data(picture), timeZone: berlin))
            // Truncated, the time is unchanged, lacks its zone, or is missing.
            let plain = try at("2026-07-01T08:00:05Z")
            for count in 0..<picture.count {
                let time = try ExifTime.original(in: Data(picture.prefix(count)), timeZone: berlin)
                #expect(time == nil || time == whole || time == plain, "the first \(count) of \(picture)")
            }
            #expect(try ExifTime.original(in: Data(picture.prefix(picture.count / 2)), timeZone: berlin) == nil)
            var (none, same) = (0, 0)
            for _ in 0..<5000 {
                var broken = picture
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    broken[Int.random(in: 4..<broken.count, using: &random)] =
                        [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                }
                guard let time = try ExifTime.original(in: Data(broken), timeZone: berlin) else {
                    none += 1
                    continue
                }
                #expect(years.contains(time), "\(time) of \(broken)")
                if time == whole { same += 1 }
            }
            #expect(none > 100 && same > 100, "\(none) without a time, \(same) with their own")
        }
    }
}

import DotLifeDomain
import DotLifePersistence
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Damaged and deceptive inputs")
struct LyingInputTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Valid files of every kind, to be damaged later.
    private static let whole: [[UInt8]] = [
        Picture.jpeg(taken: "2026:07:01 10:00:05", offset: "+01:00"), Picture.png(taken: "2026:07:01 10:00:05"),
        Picture.webp(taken: "2026:07:01 10:00:05"), Picture.heic(taken: "2026:07:01 10:00:05"),
        Picture.tiff(taken: "2026:07:01 10:00:05", offset: nil, little: false), Array("GIF89a".utf8) + [9, 9, 9, 9],
        Array("---\ntime: 2026-07-01 10:00\nmoment: today\n---\nrain\n".utf8),
        Array("[InternetShortcut]\nURL=https://example.org/\n".utf8), Array("bplist00".utf8) + [UInt8](0..<200),
        Array("https://example.org/a?b=c\n".utf8), Array("<plist><dict><key>URL</key><string>x</string></dict>".utf8),
    ]

    /// Each of these under each name, plus an empty file: accepted cases of all kinds occur whatever is drawn at
    /// random.
    private static let certain = names.flatMap { name in ([[]] + whole).map { (name: name, bytes: $0) } }

    private static let names = [
        "a.md", "a.txt", "a.url", "a.webloc", "a.desktop", "a.jpg", "a.png", "a.heic", "a.json", "a", "a.exe",
        ".hidden",
    ]

    private static let bombs = ["time: 1\n", "a: &a [*a,*a]\n", "[", "  - ", "moment: \"", "x\n"]

    /// Front matter without an end, with a hundred thousand fields, or nested as deep as it goes.
    private static func bomb(_ line: String, _ size: Int, isEnded: Bool) -> [UInt8] {
        let text = "---\n" + String(repeating: line, count: size / line.utf8.count)
        return Array((isEnded ? text + "\n---\nrain\n" : text).utf8)
    }

    private static func input(_ random: inout SeededGenerator) -> [UInt8] {
        let years = ["1601:01:01 00:00:00", "9999:12:31 23:59:59", "0000:00:00 00:00:00", "99999999999999999"]
        let year = years.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            return [Picture.jpeg(taken: year), Picture.png(taken: year), Picture.heic(taken: year)]
                .randomElement(using: &random) ?? []
        case 1:
            let side: UInt32 = [65_535, .max, 0, 1].randomElement(using: &random) ?? 0
            return Picture.headerOnlyPNG(width: side, height: 65_535)
        case 2:
            let line = bombs.randomElement(using: &random) ?? ""
            let size = Int.random(in: 100...30_000, using: &random)
            return bomb(line, size, isEnded: Bool.random(using: &random))
        case 3: return (0..<Int.random(in: 0..<3_000, using: &random)).map { _ in .random(in: 0...255, using: &random) }
        case 4:
            let whole = whole.randomElement(using: &random) ?? []
            return Array(whole.prefix(.random(in: 0...whole.count, using: &random)))
        default:
            var bytes = whole.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    [0, 1, 0x0A, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            }
            return bytes
        }
    }

    @Test("Each of five hundred gets a verdict: stored byte for byte, or rejected and left alone")
    func verdicts() async throws {
        var random = SeededGenerator(for: "LyingInputTests.verdicts")
        let store = try await CaptureStore.open(in: folder.path.appending("captures")).store
        let reader = CaptureReader(timeZone: berlin)
        let arrival = try at("2026-11-21T09:30:00Z")
        var verdicts: [String: Int] = [:]
        for number in 0..<500 {
            let (name, bytes) =
                number < Self.certain.count
                ? Self.certain[number] : (Self.names.randomElement(using: &random) ?? "a", Self.input(&random))
            let path = try folder.write(BytePath("in/\(number)/\(name)"), bytes)
            var verdict = "refused"
            do {
                let request = try reader.read(Descriptor(path), called: path, arrival: arrival)
                let added = try await store.add(request, key: "\(number)")
                verdict = added.record.experienceType.label
                #expect(added.isNew)
                let seconds = added.record.timestamp.timeIntervalSince1970
                #expect(seconds > -4_600_000_000 && seconds < 9_200_000_000, "\(number) \(name)")
                if let photo = added.record.attachments.first(where: { $0.type == .photo }) {
                    #expect(try Descriptor(store.path(of: photo)).readAll() == bytes, "\(number) \(name)")
                }
            } catch let fault as Fault {
                #expect(fault.kind == .refused, "\(number) \(name): \(fault)")
                #expect(fault.message.contains("is not a capture") && fault.message.utf8.count < 1_000)
                #expect(try await !store.contains(key: "\(number)"))
            }
            verdicts[verdict, default: 0] += 1
            #expect(try Descriptor(path).readAll() == bytes, "the input itself stays as it was")
        }
        #expect(verdicts.values.reduce(0, +) == 500)
        #expect(Set(verdicts.keys) == ["refused", "note", "link", "photo", "dot"], "\(verdicts)")
        let check = try await store.check()
        #expect(check.findings.isEmpty)
        #expect(check.captures == 500 - (verdicts["refused"] ?? 0))
    }

    @Test("A megabyte of front matter gets a verdict too", arguments: bombs)
    func largeBombs(_ line: String) async throws {
        let reader = CaptureReader(timeZone: berlin)
        let path = try folder.write("bomb.md", Self.bomb(line, CaptureReader.textLimit - 100, isEnded: true))
        do {
            #expect(try reader.read(Descriptor(path), called: path, arrival: .now).experienceType == .note)
        } catch let fault as Fault {
            #expect(fault.kind == .refused && fault.message.utf8.count < 1_000)
        }
    }

    @Test("A picture that claims four billion pixels is stored as its bytes")
    func headerOnly() async throws {
        let bytes = Picture.headerOnlyPNG(width: 65_535, height: 65_535)
        let path = try folder.write("huge.png", bytes)
        let request = try CaptureReader(timeZone: berlin).read(Descriptor(path), called: path, arrival: .now)
        let store = try await CaptureStore.open(in: folder.path.appending("captures")).store
        let record = try await store.add(request, key: "k").record
        #expect(record.attachments.first?.size == Int64(bytes.count))
        #expect(record.attachments.first?.originalNameText == "huge.png")
    }
}

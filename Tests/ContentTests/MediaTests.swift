import FileActions
import OwnFiles
import Platform
import Rules
import Sandbox
import TestSupport
import Testing

@Suite("Facts about pictures, audio, video and archives") struct MediaTests {
    @Test("A photo yields camera, time, place and size") func photo() async throws {
        let found = try await look(.picture, Sample.photo())
        #expect(found.trouble == nil)
        #expect(found.fields[.photoMake] == "Canon")
        #expect(found.fields[.photoModel] == "Canon EOS R5")
        #expect(found.fields[.photoTaken] == "2026:07:01 10:00:05")
        #expect(found.fields[.photoOffset] == "+02:00")
        #expect(found.fields[.photoLatitude] == "52.520000")
        #expect(found.fields[.photoLongitude] == "13.405000")
        #expect(found.fields[.photoOrientation] == "6")
        #expect(found.fields[.photoWidth] == "640" && found.fields[.photoHeight] == "480")
    }

    @Test("An audio file yields its length and tags") func sound() async throws {
        let found = try await look(.media, SoundSample.wave(seconds: 3))
        #expect(found.trouble == nil)
        #expect(found.fields[.mediaDuration] == "3.000")
        #expect(found.fields[.mediaTitle] == "Night Song")
        #expect(found.fields[.mediaArtist] == "The Trio")
    }

    @Test("New tags change few places of an audio file, and are read back", arguments: ["wave", "mp3"])
    func retagged(_ kind: String) async throws {
        let old = kind == "wave" ? SoundSample.wave(seconds: 3) : SoundSample.mp3()
        let tags: [MediaTag: String] = [
            .title: "Tägesanbruch", .artist: "", .album: "Hours", .albumArtist: "Four", .track: "7", .year: "1999",
            .genre: "Jazz", .comment: "from tape",
        ]
        let folder = try TemporaryFolder("contents")
        let (before, after, made) = try await BlockingPool("look").run {
            let file = try Descriptor(folder.write("old", old))
            let worker = try builtContentWorker()
            let made = try worker.retag(tags, in: file)
            var bytes: [UInt8] = []
            try made.write(from: file) { bytes += $0 }
            let changed = try Descriptor(folder.write("new", bytes))
            return (try worker.look(.media, in: file, mime: ""), try worker.look(.media, in: changed, mime: ""), made)
        }
        #expect(after.trouble == nil)
        for (tag, value) in tags { #expect(after.fields[tag.field] ?? "" == value, "\(tag)") }
        #expect(before.fields[.mediaDuration] == after.fields[.mediaDuration])
        let kept = made.pieces.reduce(Int64(0)) { sum, piece in
            if case .kept(let range) = piece { sum + range.upperBound - range.lowerBound } else { sum }
        }
        #expect(kept > Int64(old.count) * 9 / 10, "the sound itself is not sent")
    }

    @Test("Tags cannot be set on other files", arguments: [Array("text".utf8), []])
    func notRetagged(_ bytes: [UInt8]) async throws {
        let folder = try TemporaryFolder("contents")
        let fault = await #expect(throws: Fault.self) {
            try await BlockingPool("look").run {
                _ = try builtContentWorker().retag([.title: "x"], in: Descriptor(folder.write("file", bytes)))
            }
        }
        #expect(fault?.kind == .refused)
    }

    @Test("A video yields its length and size") func film() async throws {
        let found = try await look(.media, Sample.film())
        #expect(found.fields[.mediaDuration] == "90.500")
        #expect(found.fields[.mediaWidth] == "1920" && found.fields[.mediaHeight] == "1080")
    }

    @Test("An archive yields the names of its contents") func entries() async throws {
        let found = try await look(.entries, ZipWriter.archive([("a/1.txt", [1]), ("b.cbz", [2])]))
        #expect(found.entries.map { String(decoding: $0.path, as: UTF8.self) } == ["a/1.txt", "b.cbz"])
        #expect(found.entries.allSatisfy { !$0.isFolder && !$0.isEncrypted })
    }

    @Test(
        "So does a TAR, whatever its compression",
        arguments: ["gzip", "bzip2", "xz", "zstd", "lzip", "lz4", "lzma"])
    func compressedEntries(_ filter: String) async throws {
        let folder = try TemporaryFolder("tar")
        try folder.write("a.txt", [1])
        try runProgram(["/usr/bin/bsdtar", "-cf", "packed", "--\(filter)", "a.txt"], in: folder.path)
        let packed = try Descriptor(folder.path.appending("packed")).readAll(limit: 1 << 20)
        let found = try await look(.entries, packed)
        #expect(found.entries.map { String(decoding: $0.path, as: UTF8.self) } == ["a.txt"])
    }

    @Test("Any other file is reported with the reason, and is nobody's failure", arguments: ContentAspect.allCases)
    func nothing(_ aspect: ContentAspect) async throws {
        let found = try await look(aspect, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xFF])
        #expect(found.trouble?.isEmpty == false, "\(aspect)")
        #expect(found.fields.isEmpty && found.entries.isEmpty)
    }
}

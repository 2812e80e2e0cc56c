import FileActions
import Glibc
import OwnFiles
import Platform
import Rules
import Sandbox
import TestSupport
import Testing

/// Damaged or malicious files: each ends in a report, whatever happens to the process that reads it.
@Suite("Hostile contents") struct HostileTests {
    private static let samples: [(ContentAspect, String, [UInt8])] = [
        (.document, "", Sample.docx(["Invoice"], title: "T")), (.document, "", Sample.odt(["Dear"])),
        (.document, "", Sample.epub(["<p>One</p>"])),
        (.document, "text/html", Sample.bytes("<html><p>a<b>c</p></html>")),
        (.picture, "", Sample.photo()), (.media, "", SoundSample.wave(seconds: 1)), (.media, "", Sample.film()),
        (.entries, "", ZipWriter.archive([("a", [1]), ("b", [2])])),
    ]

    @Test("A file truncated or changed anywhere leads to a report", arguments: HostileTests.samples.indices)
    func mutated(_ index: Int) async throws {
        var random = SeededGenerator(for: "HostileTests.mutated")
        let (aspect, mime, whole) = Self.samples[index]
        let folder = try TemporaryFolder("mutated")
        var cases: [[UInt8]] = [whole, []]
        for _ in 0..<20 {
            cases.append(Array(whole.prefix(Int.random(in: 0..<whole.count, using: &random))))
            var changed = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: 0..<min(whole.count, 2_000), using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            cases.append(changed)
        }
        let bytes = cases
        let (told, silent) = try await BlockingPool("mutated").run { () -> (Int, Int) in
            let worker = try builtContentWorker()
            var (told, silent) = (0, 0)
            for (number, one) in bytes.enumerated() {
                let path = try folder.write(BytePath("\(number)"), one)
                let found = try worker.look(aspect, in: Descriptor(path), mime: mime)
                #expect(found.trouble?.contains("signal 31") != true, "the cage was tried: \(found.trouble ?? "")")
                let isSilent = found.fields.isEmpty && (found.text ?? "").isEmpty && found.entries.isEmpty
                if isSilent { silent += 1 } else { told += 1 }
            }
            return (told, silent)
        }
        // At least the complete file and the empty one.
        #expect(told >= 1 && silent >= 1, "\(told) told something, \(silent) nothing")
    }

    @Test("Endless entities are not expanded") func entities() async throws {
        var declarations = "<!ENTITY a0 \"lollollollol\">"
        for level in 1...30 { declarations += "<!ENTITY a\(level) \"&a\(level - 1);&a\(level - 1);\">" }
        let xml = "<?xml version=\"1.0\"?><!DOCTYPE w [\(declarations)]><w><p><t>&a30;</t></p></w>"
        let found = try await look(.document, ZipWriter.archive([("word/document.xml", Sample.bytes(xml))]))
        #expect((found.text ?? "").utf8.count < 10_000)
        let outside = "<!DOCTYPE w [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><w><p><t>&x;</t></p></w>"
        let other = try await look(.document, ZipWriter.archive([("word/document.xml", Sample.bytes(outside))]))
        #expect(other.text?.contains("root") != true)
    }

    @Test("Deeply nested markup is read or abandoned") func deep() async throws {
        let html = "<html>" + String(repeating: "<div>", count: 200_000) + "x"
        let found = try await look(.document, Sample.bytes(html), mime: "text/html")
        let xml = String(repeating: "<p>", count: 100_000)
        let other = try await look(.document, ZipWriter.archive([("word/document.xml", Sample.bytes(xml))]))
        for report in [found, other] {
            #expect(report.trouble != nil || report.text != nil)
            #expect(report.trouble?.contains("signal 31") != true)
        }
    }

    @Test("A PDF with circular references leads to a report") func circle() async throws {
        let text = String(decoding: Sample.pdf(["x"]), as: UTF8.self)
            .replacing("/Kids [3 0 R]", with: "/Kids [2 0 R]")
        let found = try await look(.document, Sample.bytes(text), mime: "application/pdf")
        #expect(found.trouble != nil || found.text != nil)
    }

    @Test("A worker that outputs nonsense, hangs or dies costs only its report")
    func foreignWorkers() async throws {
        let folder = try TemporaryFolder("foreign")
        let file = try folder.write("file", "text")
        func report(_ script: String, timeout: Int64 = 60) async throws -> ContentReport {
            let program = try folder.write("worker", "#!/bin/sh\n\(script)\n")
            #expect(chmod(program.text, 0o755) == 0)
            return try await BlockingPool("foreign").run {
                try ContentWorker(program: program, timeout: timeout).look(.picture, in: Descriptor(file), mime: "")
            }
        }
        #expect(try await report("printf 'xxxxxxxx' >&4").trouble?.contains("no sense") == true)
        #expect(
            try await report("printf '\\001\\000\\000\\000\\011' >&4; exit 3").trouble?.contains("no sense") == true)
        #expect(try await report("printf '\\005\\000' >&4; exit 3").trouble?.contains("status 3") == true)
        #expect(try await report("printf '\\005\\000' >&4; kill -SEGV $$").trouble?.contains("signal 11") == true)
        // Failures that may be the machine's fault are retried.
        await #expect(throws: Fault.self) { try await report("kill -KILL $$") }
        await #expect(throws: Fault.self) { try await report("exit 127") }
        await #expect(throws: Fault.self) { try await report("exec sleep 60", timeout: 1) }
    }

    @Test("Results are cached by content, within a limit")
    func remembered() async throws {
        let folder = try TemporaryFolder("remembered")
        let file = try folder.write("file", Sample.photo())
        let program = try #require(Built.program("steward-worker"))
        let own = try folder.write(
            "worker", "#!/bin/sh\necho x >> \(folder.path.text)/starts\nexec \(program.text) \"$@\"\n")
        #expect(chmod(own.text, 0o755) == 0)
        try await BlockingPool("remembered").run {
            let library = ContentLibrary(program: own)
            let hash = ContentHash(of: Sample.photo())
            for _ in 0..<3 {
                let found = try library.look(.picture, in: Descriptor(file), mime: "image/jpeg", hash: hash)
                #expect(found.fields[.photoMake] == "Canon")
            }
            #expect(try folder.read("starts") == "x\n")
            let forgetful = ContentLibrary(program: own, cache: ReportCache(limit: 1))
            for _ in 0..<2 {
                _ = try forgetful.look(.picture, in: Descriptor(file), mime: "image/jpeg", hash: hash)
            }
            #expect(try folder.read("starts") == "x\nx\nx\n")
        }
    }
}

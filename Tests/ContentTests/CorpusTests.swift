import FileActions
import Foundation
import OwnFiles
import Platform
import Rules
import Sandbox
import TestSupport
import Testing

/// Files with which other projects test their readers (PyPI, `Tests/Peers/media_corpora.sh`), if Python and the network
/// are available.
private enum Corpora {
    private static let unpacked = Task<BytePath?, Never> {
        guard ProcessInfo.processInfo.environment["STEWARD_TEST_PEERS"] != "0" else { return nil }
        do {
            let script = Checkout.root.appending("Tests/Peers/media_corpora.sh").text
            let folder = (Built.program("steward-worker")?.parent ?? Checkout.root).appending("media-corpora").text
            let run = try await runProgramAside(["/bin/sh", script, folder])
            guard run.status == 0, let path = run.output.split(separator: "\n").last else {
                print("tests that want media corpora are skipped: \(run.errors)")
                return nil
            }
            return BytePath(String(path))
        } catch {
            print("tests that want media corpora are skipped: \(error)")
            return nil
        }
    }

    static var folder: BytePath? { get async { await unpacked.value } }
}

@Suite("Test files of other readers") struct CorpusTests {
    private static let aspects: [ContentAspect: [String]] = [
        .media: [
            "mp3", "flac", "ogg", "oggflac", "opus", "spx", "oggtheora", "wav", "m4a", "mp4", "aif", "ape", "wma", "wv",
        ],
        .picture: ["jpg", "jpeg", "png", "tif", "tiff"],
        .document: ["pdf", "docx", "odt", "odp", "ods", "pptx", "html"],
        .entries: ["rar", "zip", "docx", "odt"],
    ]

    private static let mimes = ["pdf": "application/pdf", "html": "text/html"]

    /// Complete, its first half, and changed by chance.
    @Test(
        "Each leads to a report, whole, truncated and changed; none trips the cage",
        .enabled("Python and the network are there") { await Corpora.folder != nil },
        arguments: [ContentAspect.media, .picture, .document, .entries])
    func reports(_ aspect: ContentAspect) async throws {
        let found = await Corpora.folder
        let corpora = try #require(found)
        let counts = try await BlockingPool("corpus").run { () -> [String: Int] in
            var random = SeededGenerator(for: "CorpusTests.reports, \(aspect)")
            let worker = try builtContentWorker()
            let folder = try TemporaryFolder("corpus")
            var counts: [String: Int] = [:]
            for (number, path) in try Self.files(below: corpora, Self.aspects[aspect] ?? []).enumerated() {
                let whole = try Descriptor(path).readAll()
                guard whole.count > 1, whole.count < 8 << 20 else { continue }
                var changed = whole
                for _ in 0..<8 {
                    changed[Int.random(in: 0..<min(whole.count, 4_096), using: &random)] = .random(
                        in: 0...255, using: &random)
                }
                let cases = [("whole", whole), ("half", Array(whole.prefix(whole.count / 2))), ("changed", changed)]
                // Damage to every fourth, as long as not all are wanted.
                for (name, bytes) in Thoroughness.isWhole || number.isMultiple(of: 4) ? cases : [cases[0]] {
                    let file = try folder.write("file", bytes)
                    let mime =
                        Self.mimes[path.nameText.lowercased().split(separator: ".").last.map(String.init) ?? ""] ?? ""
                    let report = try worker.look(aspect, in: Descriptor(file), mime: mime)
                    #expect(
                        report.trouble?.contains("signal 31") != true,
                        "\(path) (\(name)) tried the cage: \(report.trouble ?? "")")
                    counts["\(name), \(report.trouble == nil ? "read" : "refused")", default: 0] += 1
                }
            }
            return counts
        }
        print("\(aspect):", counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; "))
        #expect(counts["whole, read", default: 0] > counts["whole, refused", default: 0])
    }

    @Test("None of the parsers is linked into the agent") func linkage() throws {
        for name in ["steward", "steward-worker"] {
            guard let program = Built.program(name) else { try Test.cancel("\(name) is not built") }
            let needed = try runProgram(["readelf", "--dynamic", "--wide", program.text]).check().output
            let parsers = ["libtag", "libxml2", "libexttextcat", "libarchive", "libpoppler", "libvips"]
            let linked = parsers.filter { needed.contains("[\($0)") }
            #expect(linked.isEmpty == (name == "steward"), "\(name): \(linked)")
        }
    }

    private static func files(below folder: BytePath, _ endings: [String]) throws -> [BytePath] {
        try listDirectory(folder).sorted { $0.name.lexicographicallyPrecedes($1.name) }.flatMap { entry -> [BytePath] in
            let path = folder.appending(name: entry.name)
            if entry.isDirectory == true { return try files(below: path, endings) }
            return endings.contains { path.nameText.lowercased().hasSuffix("." + $0) } ? [path] : []
        }
    }
}

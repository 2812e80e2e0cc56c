import ComicTestSupport
import ComicVault
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Deposits that the built agent takes in when its vault is unlocked.
@Suite("Ingesting deposits when unlocking")
struct VaultIngestionTests {
    private static let password = "correct horse battery staple"

    /// A page that is cheap to make: noise followed by zeros.
    private func page(_ number: Int, size: Int) -> Packed {
        let head = picture(number)
        return Packed(name: "\(100 + number).png", bytes: head + [UInt8](repeating: 0, count: size - head.count))
    }

    @Test("Every format, each page at its position, and the archive byte for byte")
    func formats() async throws {
        let steward = try AgentFixture.withVault(password: Self.password, rule: AgentFixture.sealing)
        try await steward.start()
        let entries = (1...5).map { (Array("\($0).png".utf8), picture($0, size: 200_000)) }
        var archives: [String: [UInt8]] = [:]
        for (format, name) in [
            (RawFormat.zip, "zip.cbz"), (.tar, "tar.cbt"), (.sevenZip, "7z.cb7"), (.rar4, "rar4.cbr"),
            (.rar5, "rar5.cbr"),
        ] {
            // No two with the same pages.
            let bytes = try #require(
                format.pack(entries + [(Array("\(name).png".utf8), picture(name.count * 31, size: 5000))]))
            archives[name] = bytes
        }
        archives["pdf.pdf"] = pdf([PdfSample(), PdfSample()])
        for (name, bytes) in archives { try steward.moveIn(BytePath("comics/\(name)"), bytes) }
        try steward.wait()
        #expect(try steward.numberOfDrops() == archives.count)
        try steward.vault(["unlock"], password: Self.password).check()
        try await steward.waitForDeposits(archives.count)
        try await steward.until("no deposit is left") { try steward.numberOfDrops() == 0 }
        for (name, bytes) in archives {
            let target = steward.home.path.appending("out-comic")
            try steward.vault(["extract", name, "--output", target.text]).check()
            #expect(try ContentHash.ofFile(target) == ContentHash(of: bytes), "\(name)")
            try Durable.remove(target)
            guard !name.hasSuffix("pdf") else { continue }
            try steward.vault(["page", name, "3", "--output", target.text]).check()
            #expect(try ContentHash.ofFile(target) == ContentHash(of: picture(3, size: 200_000)), "\(name)")
            try Durable.remove(target)
        }
        try steward.vault(["verify"]).check()
        try await steward.stop()
    }

    @Test(
        "One of 300 MB takes less than 64 MiB of memory, and no more locked memory than there is",
        .enabled(if: geteuid() == 0, "an agent with a vault lets no user look at its memory"))
    func memory() async throws {
        let scene = try VaultScene()
        let file = scene.steward.home.path.appending("large")
        try pack((1...75).map { page($0, size: 4_000_000) }, .storedZip, to: file)
        let archive = try Descriptor(file)
        let hash = try ContentHash.of(archive)
        _ = try VaultDeposit.seal(
            archive, DropEnvelope(name: "Large.cbz", source: "inbox", hash: hash, time: .now()), into: scene.path,
            host: HostState(scene.host))
        try Durable.remove(file)
        try await scene.steward.start()
        let agent = try #require(scene.steward.processID)
        try scene.steward.shell(["prlimit", "--pid", "\(agent)", "--memlock=1048576:1048576"]).check()
        // The cost of key derivation is not part of the deposit's.
        try scene.vault("unlock").check()
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(agent)/clear_refs"))
        let before = try Self.kibibytes(agent, "VmRSS")
        var most = 0
        try await scene.steward.until("it is taken in", seconds: 300) {
            most = max(most, try Self.filesInMemory(of: agent))
            return try listDirectory(scene.path.appending("drop")).isEmpty
        }
        #expect(most == 0, "bytes of files in memory")
        #expect(try Self.kibibytes(agent, "VmHWM") - before < 64 << 10, "KiB")
        let target = scene.steward.home.path.appending("out-comic")
        try scene.vault("extract", "Large.cbz", "--output", target.text).check()
        #expect(try ContentHash.ofFile(target) == hash)
        try await scene.steward.stop()
    }

    private static func kibibytes(_ process: Int32, _ field: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        return try #require(line.flatMap { Int($0.filter(\.isNumber)) })
    }

    /// Total size of a process's open files that exist only in memory.
    private static func filesInMemory(of process: Int32) throws -> Int {
        let folder = "/proc/\(process)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
            let path = "\(folder)/\(name)"
            // It may already be closed.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
                target.hasPrefix("/memfd:")
            else { return sum }
            var status = stat()
            return sum + (stat(path, &status) == 0 ? Int(status.st_size) : 0)
        }
    }

    @Test(
        "A damaged chunk is a fault of the deposit, which waits, and not a verdict on the comic",
        arguments: [0.2, 0.5, 0.9])
    func damaged(_ place: Double) async throws {
        let scene = try VaultScene()
        let deposit = try scene.deposit("Heron 1.cbz", pages: 400)
        try scene.deposit("Heron 2.cbz", first: 500)
        let path = scene.path.appending("drop/\(deposit.drop)")
        let bytes = try Descriptor(path).readAll()
        let flipped = Int(Double(deposit.archive.count) * place)
        try Self.put([bytes[flipped] ^ 0x10], at: flipped, into: path)
        try await scene.steward.start()
        try scene.vault("unlock").check()
        try await scene.steward.until("both were looked at") {
            try scene.answer("status").items.first?["isTakingIn"].isTrue != true && scene.names() == ["Heron 2.cbz"]
        }
        #expect(try listDirectory(scene.path.appending("drop")).map(\.name) == [Array("\(deposit.drop)".utf8)])
        let again = try scene.vault("quarantine", "take-in", deposit.drop.description)
        #expect(again.status == 1)
        #expect(again.errors.contains("\(deposit.drop)") && again.errors.contains("does not verify"), "\(again.errors)")
        #expect(try scene.names() == ["Heron 2.cbz"])
        // Restoring the file restores the comic.
        try Self.put([bytes[flipped]], at: flipped, into: path)
        try scene.vault("quarantine", "take-in", deposit.drop.description).check()
        #expect(try scene.names() == ["Heron 1.cbz", "Heron 2.cbz"])
        try await scene.steward.stop()
    }

    private static func put(_ bytes: [UInt8], at offset: Int, into path: BytePath) throws {
        guard chmod(path.text, 0o600) == 0 else { throw TestFailure("cannot change the mode of \(path)") }
        try Descriptor(path, O_RDWR).write(bytes, at: Int64(offset))
        guard chmod(path.text, 0o400) == 0 else { throw TestFailure("cannot change the mode of \(path)") }
    }
}

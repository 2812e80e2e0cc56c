import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// What browsers and downloaders do to a folder, as recorded by strace where the program is too large to run here.
@Suite("Downloads", .ownThreads)
struct DownloadTests {
    private static let rule = """
        - rule: Downloaded
          in: dropbox
          settle: 100ms
          do:
            - copy: { place: library, folder: got }
            - append-block: { note: log, text: "got {{ file.name }} {{ file.size }}" }
        """

    private static let content = String(repeating: "0123456789abcdef", count: 20_000)

    private func agent() async throws -> AgentFixture {
        let steward = try AgentFixture.inside()
        try steward.rule(Self.rule)
        try await steward.start()
        return steward
    }

    /// Exactly one arrival, and the copy is complete.
    private func expectOnce(
        _ name: String, _ steward: AgentFixture, content: String = DownloadTests.content
    ) async throws {
        let copy = BytePath("library/got/\(name)")
        try await steward.until("\(name) is copied") { try steward.exists(copy) }
        // Another file that arrives later: by then everything about the first has been seen.
        try steward.drop("dropbox/last.txt", "last")
        try await steward.until("the last is seen") { try steward.notes().contains("got last.txt 4") }
        try steward.wait()
        #expect(try steward.read(copy) == content)
        let lines = try steward.notes().split(separator: "\n").filter { $0.hasPrefix("got ") }.sorted()
        #expect(lines == ["got \(name) \(content.utf8.count)", "got last.txt 4"].sorted())
    }

    private func untilWaitsForDownload(_ name: String, _ steward: AgentFixture) async throws {
        try await steward.until("status names the download") {
            try steward.status().settling.contains { $0.path == BytePath(name) && $0.waitingFor.contains("download") }
        }
    }

    @Test(
        "Firefox: an empty file, and another that grows beside it and is renamed over it",
        arguments: ["file.cbz.part", "file.CUoHjoRt.cbz.part", "Abfjkb8C.cbz.part"])
    func firefox(_ part: String) async throws {
        let steward = try await agent()
        // openat(Abfjkb8C.cbz, O_CREAT|O_EXCL) unlink(Abfjkb8C.cbz) openat(Abfjkb8C.cbz.part, O_CREAT|O_EXCL)
        // openat(file.cbz, O_CREAT|O_EXCL) close rename(Abfjkb8C.cbz.part, file.CUoHjoRt.cbz.part)
        // openat(file.CUoHjoRt.cbz.part, O_APPEND) write… close rename(file.CUoHjoRt.cbz.part, file.cbz)
        let first = try steward.drop("dropbox/Abfjkb8C.cbz.part", "")
        try steward.drop("dropbox/file.cbz", "")
        try await untilWaitsForDownload("file.cbz", steward)
        let file = steward.path(BytePath("dropbox/\(part)"))
        #expect(rename(first.text, file.text) == 0)
        try steward.drop(BytePath("dropbox/\(part)"), Self.content)
        #expect(rename(file.text, steward.path("dropbox/file.cbz").text) == 0)
        try await expectOnce("file.cbz", steward)
    }

    @Test(
        "Chromium: a file with an unconfirmed name, then the real one, then only that; a portal's empty file before it"
    )
    func chromium() async throws {
        let steward = try await agent()
        // openat(.org.chromium.Chromium.qfeKch, O_CREAT|O_EXCL) rename(it, Unconfirmed 521671.crdownload) write…
        // rename(Unconfirmed 521671.crdownload, file.cbz); before 2024 by way of file.cbz.crdownload
        try steward.drop("dropbox/file.cbz", "")
        let made = try steward.drop("dropbox/.org.chromium.Chromium.qfeKch", "")
        #expect(rename(made.text, steward.path("dropbox/Unconfirmed 81234.crdownload").text) == 0)
        try await untilWaitsForDownload("file.cbz", steward)
        let whole = try steward.drop("dropbox/Unconfirmed 81234.crdownload", Self.content)
        let named = steward.path("dropbox/file.cbz.crdownload")
        #expect(rename(whole.text, named.text) == 0)
        #expect(rename(named.text, steward.path("dropbox/file.cbz").text) == 0)
        try await expectOnce("file.cbz", steward)
    }

    @Test("aria2: a file is incomplete while its control file says that parts are missing")
    func controlFile() async throws {
        let steward = try await agent()
        let control = try steward.drop("dropbox/file.cbz.aria2", "control")
        try steward.drop("dropbox/file.cbz", String(Self.content.prefix(1000)))
        try await untilWaitsForDownload("file.cbz", steward)
        try steward.drop("dropbox/file.cbz", Self.content)
        try Durable.remove(control)
        try await expectOnce("file.cbz", steward)
    }

    @Test("yt-dlp: parts, formats and merge results are not news, the video is")
    func ytdlp() async throws {
        let steward = try await agent()
        for part in ["film.f137.mp4", "film.f140.m4a"] {
            let unfinished = try steward.drop(BytePath("dropbox/\(part).part"), "half")
            try steward.drop(BytePath("dropbox/\(part).ytdl"), "{}")
            #expect(rename(unfinished.text, steward.path(BytePath("dropbox/\(part)")).text) == 0)
            try Durable.remove(steward.path(BytePath("dropbox/\(part).ytdl")))
        }
        let merged = try steward.drop("dropbox/film.temp.mp4", Self.content)
        try steward.wait()
        #expect(rename(merged.text, steward.path("dropbox/film.mp4").text) == 0)
        for part in ["film.f137.mp4", "film.f140.m4a"] { try Durable.remove(steward.path(BytePath("dropbox/\(part)"))) }
        try await expectOnce("film.mp4", steward)
    }

    /// How each program downloads `url` to `file`.
    private static let programs: [String: @Sendable (_ url: String, _ folder: String) -> [String]] = [
        "wget": { ["wget", "-q", "-O", "\($1)/file.cbz", $0] },
        "curl": { ["curl", "-sS", "-o", "\($1)/file.cbz", $0] },
        "aria2c": { ["aria2c", "-q", "--no-conf", "-d", $1, "-o", "file.cbz", $0] },
    ]

    @Test("A download arrives once, complete", arguments: ["aria2c", "curl", "wget"].filter(Editor.has))
    func downloader(_ program: String) async throws {
        let server = try ScriptedServer(.reply(200, Self.content))
        defer { server.stop() }
        let steward = try await agent()
        let command = try #require(Self.programs[program])
        try steward.shell(command("\(server.url)/file.cbz", steward.path("dropbox").text)).check()
        try await expectOnce("file.cbz", steward)
    }
}

import DotLifeDomain
import DotLifePersistence
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("A process that dies while storing or removing")
struct StoreCrashTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The same two files and a note, each time.
    private static func request() throws -> ExperienceRequest {
        try .note(
            "two files", timestamp: Date(timeIntervalSince1970: 1_795_253_400),
            attachments: [
                AttachmentSource(.data(Data(Picture.png)), originalName: Array("a.png".utf8)),
                AttachmentSource(.data(Data(Picture.plainJPEG)), originalName: Array("b.jpg".utf8)),
            ])
    }

    /// Expects every row's files to be there and intact, and of other files only what a repair removes; then repeats
    /// the work.
    private func recover() async throws {
        let store = try await CaptureStore.open(in: folder.path.appending("captures")).store
        let found = try await store.check().findings
        #expect(found.allSatisfy { [.strayFile, .unfinishedCopy].contains($0.kind) }, "\(found)")
        let there = try await store.record(key: "k")
        let again = try await store.add(Self.request(), key: "k")
        #expect(again.isNew == (there == nil))
        #expect(again.record.attachments.count == 2)
        for file in again.record.attachments {
            #expect(try ContentHash.ofFile(store.path(of: file)).description == file.sha256)
        }
        #expect(try await store.repair().count <= found.count)
        #expect(try await store.check().findings.isEmpty)
        #expect(try await store.fetch(ExperienceFetchRequest()).count == 1)
    }

    @Test("Leaves at most unreferenced files, and the same capture is stored once", arguments: 1...12)
    func storing(point: Int) async throws {
        _ = try await CaptureStore.open(in: folder.path.appending("captures"))
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [home = folder.path.appending("captures").text as String, point = point as Int] in
            setenv("STEWARD_FAULT", "*:\(point)", 1)
            let store = try await CaptureStore.open(in: BytePath(home)).store
            _ = try await store.add(StoreCrashTests.request(), key: "k")
            kill(getpid(), SIGKILL)
        }
        try await recover()
    }

    @Test("Leaves no file of a removed capture", arguments: 1...6)
    func removing(point: Int) async throws {
        let store = try await CaptureStore.open(in: folder.path.appending("captures")).store
        _ = try await store.add(Self.request(), key: "k")
        try await store.close()
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [home = folder.path.appending("captures").text as String, point = point as Int] in
            setenv("STEWARD_FAULT", "*:\(point)", 1)
            _ = try await CaptureStore.open(in: BytePath(home)).store.remove(key: "k")
            kill(getpid(), SIGKILL)
        }
        let again = try await CaptureStore.open(in: folder.path.appending("captures")).store
        #expect(try await again.check().findings.isEmpty)
        #expect(try await again.record(key: "k") == nil)
        #expect(try fileNames(below: folder.path.appending("captures/photos")).isEmpty)
        try await recover()
    }
}

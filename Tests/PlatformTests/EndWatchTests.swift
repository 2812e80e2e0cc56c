import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Processes that end and files that change") struct EndWatchTests {
    @Test("Each is told once it happens, and nothing before", .timeLimit(.minutes(1))) func tells() async throws {
        let folder = try TemporaryFolder("ends")
        let (lock, other) = (try folder.write("lock", "a"), try folder.write("other", "a"))
        let (told, tell) = AsyncStream.makeStream(of: EndWatch.Subject.self)
        let watch = EndWatch { subject in
            tell.yield(subject)
            return access(lock.text, F_OK) != 0
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/cat")
        let input = Pipe()
        process.standardInput = input
        try process.run()
        let id = process.processIdentifier
        #expect(watch.watch(.file(other)) && watch.watch(.file(lock)) && watch.watch(.process(id)))
        #expect(!watch.watch(.file(folder.path.appending("missing"))))
        var next = told.makeAsyncIterator()
        try folder.write("lock", "b")
        #expect(await next.next() == .file(lock))
        kill(id, SIGKILL)
        process.waitUntilExit()
        // The lock's write may have raised more than one event.
        var seen = await next.next()
        while seen == .file(lock) { seen = await next.next() }
        #expect(seen == .process(id))
        #expect(!watch.watch(.process(id)), "it is gone")
        try Durable.remove(lock)
        #expect(await next.next() == .file(lock))
    }
}

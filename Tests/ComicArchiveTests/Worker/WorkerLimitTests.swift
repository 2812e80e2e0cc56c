import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// What a worker may use, and what happens to one that exceeds it: a verdict each time.
@Suite("Resource limits of a worker") struct WorkerLimitTests {
    let folder: TemporaryFolder
    let program: BytePath

    init() throws {
        folder = try TemporaryFolder("limits")
        program = try builtWorker().program
    }

    private func judge(
        _ path: BytePath, by program: BytePath, _ limits: WorkerLimits = .standard
    ) async throws -> Verdict {
        try await ComicValidator(worker: ArchiveWorker(program: program, limits: limits)).validate(path)
    }

    @Test("An archive gets ten seconds of CPU time, a solid one two minutes") func archiveTenSeconds() {
        #expect(WorkerLimits.standard == WorkerLimits(processorSeconds: 10, solidProcessorSeconds: 120, timeout: 120))
        #expect(WorkerLimits.standard.standstill == 30)
        var words: ArraySlice = ["limits=3,4", "list"]
        #expect(WorkerLimits(consuming: &words)?.solidProcessorSeconds == 4)
        #expect(words == ["list"])
        for wrong in ["limits=", "limits=0,1", "limits=4,3", "limits=1", "limits=-1,5", "limits=a,b"] {
            var words: ArraySlice = [wrong]
            #expect(WorkerLimits(consuming: &words) == nil, "\(wrong)")
        }
    }

    @Test("An archive that exceeds its CPU time is rejected") func archiveTakesMore() async throws {
        // Just under two gigabytes: seconds of inflating and hashing on any current machine.
        let part = try RawZip.Entry(
            deflating: "0.png", picture(1, size: 1 << 20) + [UInt8](repeating: 0, count: 99 << 20))
        let pages = (0..<20).map { index in
            var part = part
            part.name = Array("\(index).png".utf8)
            return part
        }
        let path = try folder.write("long.cbz", RawZip(pages).bytes)
        let limits = WorkerLimits(processorSeconds: 1, solidProcessorSeconds: 1)
        let verdict = try await judge(path, by: program, limits)
        #expect(verdict.word == "worker-limit", "\(verdict.message)")
        #expect(verdict.message.contains("long.cbz"))
    }

    // MARK: A worker that is not what it should be

    /// A program in the worker's place that sends these records after its script has run.
    private func fake(_ script: String, _ records: [WorkerRecord] = [], then last: String = "") throws -> BytePath {
        let words = try folder.write(BytePath("words-\(randomHex(4))"), records.flatMap { $0.encoded() })
        return try fakeWorker("\(script)\ncat \(words) >&4\n\(last)", in: folder)
    }

    private func header(_ position: Int, _ name: String) -> WorkerRecord {
        .header(
            EntryHeader(
                position: position, kind: .file, isEncrypted: false, declaredSize: 1, path: Array(name.utf8)))
    }

    private func structure(_ traits: ArchiveStructure.Traits) -> WorkerRecord {
        .structure(ArchiveStructure(format: .rar5, traits: traits))
    }

    private let end = WorkerRecord.end(WorkerEnd(reason: .complete, message: ""))
    private let burn =
        "while (( $(ps -o cputimes= $$ 2>/dev/null || echo 9) < 3 )); do for i in {1..20000}; do :; done; done"

    @Test("A solid archive gets more time once the worker has reported it as solid") func solidArchiveGiven()
        async throws
    {
        let path = try folder.write("a.cbr", "x")
        let limits = WorkerLimits(processorSeconds: 1, solidProcessorSeconds: 30)
        for (traits, word) in [(ArchiveStructure.Traits.solid, "no-pages"), ([], "worker-limit")] {
            let solid = try folder.write("solid", structure(traits).encoded())
            // The agent has to raise the limit before it is reached.
            let raised = traits == .solid ? "while [ $(ulimit -St) = 1 ]; do sleep 0.2; done; " : ""
            let script = "ulimit -St 1; ulimit -Ht 60; cat \(solid) >&4; \(raised)\(burn)"
            let verdict = try await judge(path, by: try fake(script, [end]), limits)
            #expect(verdict.word == word, "\(verdict.message)")
        }
    }

    @Test("A worker that hangs is killed") func workerHangsKilled() async throws {
        let path = try folder.write("a.cbr", "x")
        let limits = WorkerLimits(timeout: 1)
        for script in ["sleep 1000", "exec 4>&-; sleep 1000", "while sleep 0.1; do cat \(path) >&4; done"] {
            do {
                let verdict = try await judge(path, by: try fake(script), limits)
                #expect(["worker-limit", "worker-nonsense"].contains(verdict.word), "\(script): \(verdict.word)")
            } catch let fault as Fault {
                // It might as well be a slow disk.
                #expect(fault.kind == .transient, "\(script): \(fault)")
            }
        }
        // It has sent everything; not exiting makes no difference.
        let stays = try fake("", [structure([]), end], then: "sleep 1000")
        #expect(try await judge(path, by: stays).word == "no-pages")
    }

    @Test(
        "However it ends, there is a verdict",
        arguments: [
            ("kill -XCPU $$", "worker-limit"), ("kill -SYS $$", "worker-crashed"),
            ("kill -SEGV $$", "worker-crashed"), ("kill -ABRT $$", "worker-crashed"),
            ("head -c 3 /dev/zero >&4", "worker-nonsense"),
            ("head -c 500000 /dev/zero >&4", "worker-nonsense"), ("yes >&4", "worker-nonsense"),
        ])
    func howeverEndsVerdict(script: String, word: String) async throws {
        let path = try folder.write("a.cbr", "x")
        #expect(try await judge(path, by: try fake(script + "; exit 0")).word == word)
    }

    // MARK: What is not the archive's fault

    private func obstacle(_ program: BytePath, _ limits: WorkerLimits = .standard) async throws -> Fault? {
        let path = try folder.write("a.cbr", "x")
        return await #expect(throws: Fault.self) { try await judge(path, by: program, limits) }
    }

    @Test("A suspended worker is noticed, however long the archive may take")
    func workerSomebodyHalted() async throws {
        let limits = WorkerLimits(timeout: 100_000, standstill: 1)
        let fault = try await obstacle(try fake("kill -STOP $$"), limits)
        #expect(fault?.kind == .transient && fault?.code == Fault.machine, "\(fault?.message ?? "")")
    }

    @Test("A solid archive gets time by its size, a PDF by its pages") func solidArchiveTime() {
        let limits = WorkerLimits.standard
        #expect(limits.sized(for: 0).solidProcessorSeconds == 20)
        #expect(limits.sized(for: 200 << 20).solidProcessorSeconds == 70)
        #expect(limits.sized(for: 8 << 30).solidProcessorSeconds == 120)
        #expect(
            WorkerLimits(processorSeconds: 1, solidProcessorSeconds: 1).sized(for: 1 << 30).solidProcessorSeconds == 1)
        #expect(limits.lookingSeconds(1) == 11 && limits.lookingSeconds(2000) == 120)
    }

    @Test("A quick place is kept for as long as intact archives of that size need, and no longer") func quickPlaceKept()
    {
        let limits = WorkerLimits.standard
        #expect(limits.quickShare(for: 0).processor == 1 && limits.quickShare(for: 0).clock == 5)
        #expect(limits.quickShare(for: 16 << 20).processor == 3)
        #expect(limits.quickShare(for: 8 << 30).processor == 5)
        #expect(limits.quickShare(decoding: 40).processor == 5)
        #expect(limits.quickShare(decoding: 2000).processor == 30)
    }

    /// Uses up hundredths of CPU seconds at once, and hardly any more until the file is there: the limit is not reached,
    /// however long that takes.
    private static func use(ticks: Int, until release: BytePath) -> String {
        "while [[ ! -e '\(release)' ]]; do read -ra own < /proc/$$/stat; "
            + "(( own[13] + own[14] < \(ticks) )) || sleep 0.1; done"
    }

    @Test("Of several slow archives one continues at a time, and quick places stay free") func archivesAllSlow()
        async throws
    {
        let (slow, quick) = (try folder.write("slow.cbr", "x"), try folder.write("quick.cbr", "x"))
        // A large one keeps its place for longer than a busy machine needs to start a program.
        try Descriptor(quick, O_RDWR).truncate(to: 64 << 20)
        let release = folder.path.appending("release")
        let worker = try ArchiveWorker(
            program: try fake(
                "case $(readlink /proc/$$/fd/3) in *slow*) \(Self.use(ticks: 120, until: release));; esac",
                [structure([]), end]), count: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let aside = Count()
            for _ in 0..<5 {
                let file = try Descriptor(slow)
                group.addTask {
                    let verdict = try await worker.validate(file, aside: { aside.add() })
                    #expect(verdict.word == "no-pages", "\(verdict.message)")
                }
            }
            for _ in 0..<3 { #expect(try await worker.validate(quick).word == "no-pages") }
            // All of them, before any of them can have ended.
            while aside.value < 5 { try await Task.sleep(for: .milliseconds(20)) }
            try folder.write("release", "")
            try await group.waitForAll()
            #expect(aside.value == 5, "each is told once")
        }
    }

    @Test("If somebody suspends the worker, the archive is judged later", arguments: ["TERM", "INT", "HUP"])
    func somebodyStopsWorker(signal: String) async throws {
        let fault = try await obstacle(try fake("kill -\(signal) $$"))
        #expect(fault?.kind == .transient && fault?.code == nil, "\(fault?.message ?? "")")
    }

    @Test(
        "A worker that is killed or outputs nothing is tried again",
        arguments: ["kill -KILL $$", "exit 127", "exit 0"])
    func workerKilledSays(script: String) async throws {
        let fault = try await obstacle(try fake(script))
        #expect(fault?.kind == .transient && fault?.code == Fault.machine)
        #expect(fault?.message.contains("steward doctor") == true)
    }

    @Test(
        "A worker that fails with an intact archive too is itself at fault",
        arguments: ["kill -SYS $$", "kill -SEGV $$", "head -c 90 /dev/zero >&4", "head -c 3 /dev/zero >&4"])
    func workerFailsSound(script: String) async throws {
        let fault = try await obstacle(try fakeWorker(script, in: folder, failsAlways: true))
        #expect(fault?.kind == .transient && fault?.code == Fault.machine)
    }

    @Test("Disks get more time for larger files") func diskWaitedLonger() throws {
        let path = try folder.write("a.cbz", "")
        let file = try Descriptor(path, O_RDWR)
        #expect(try WorkerLimits.standard.timeout(for: file.status().size) == 120)
        try file.truncate(to: 2_000_000_000)
        #expect(try WorkerLimits.standard.timeout(for: file.status().size) == 1120)
    }

    @Test("Without a cage nothing is rejected, whatever is required") func withoutCageNothing() async throws {
        let path = try folder.write("a.cbz", "x")
        let open = WorkerRecord.end(WorkerEnd(reason: .noCage, message: "x"))
        let worker = try ArchiveWorker(program: try fake("", [open]))
        let target = folder.path.appending("1.png")
        let tries: [@Sendable () async throws -> Void] = [
            { _ = try await worker.list(path) }, { _ = try await worker.extract(path, [0: target]) },
            { _ = try await worker.page(path, 0, to: target) }, { _ = try await worker.validate(path) },
        ]
        for (number, attempt) in tries.enumerated() {
            let fault = await #expect(throws: Fault.self, "\(number)") { try await attempt() }
            #expect(fault?.kind == .failed, "\(number)")
        }
    }

    // MARK: What it says

    @Test("Impossible claims are rejected") func believed() async throws {
        let path = try folder.write("a.cbr", "x")
        let page = header(0, "1.png")
        func content(_ position: Int, _ size: Int64) -> WorkerRecord {
            .content(
                EntryContent(
                    position: position, state: .whole, size: size, crc32: 0, hash: nil, image: nil, message: ""))
        }
        let lies: [[WorkerRecord]] = [
            [header(1, "1.png")], [page, page], [page], [page, header(1, "2.txt")],
            [header(0, String(repeating: "n", count: 1026))], [page, content(1, 1)], [content(0, 1)],
            [page, content(0, ArchiveLimits.maxUncompressedEntrySize + 1)], [.bytes(position: 0, [1])],
            [page, .bytes(position: 0, [1])], [header(0, "ComicInfo.xml"), content(0, 5)],
            [page, content(0, .max), header(1, "2.png"), content(1, .max)],
        ]
        for lie in lies {
            let verdict = try await judge(path, by: try fake("", [structure([])] + lie + [end]))
            #expect(["worker-nonsense", "too-many-bytes"].contains(verdict.word), "\(lie): \(verdict.word)")
        }
        let crowd = (0...ArchiveLimits.maxHeaderCount).map { header($0, "\($0).txt") }
        #expect(try await judge(path, by: try fake("", crowd + [end])).word == "too-many-headers")
        let pages = (0...ArchiveLimits.maxEntryCount).flatMap { [header($0, "\($0).png"), content($0, 1)] }
        #expect(try await judge(path, by: try fake("", [structure([])] + pages + [end])).word == "too-many-pages")
        let most = ArchiveLimits.maxUncompressedEntrySize
        let bytes = (0..<21).flatMap { [header($0, "\($0).png"), content($0, most)] }
        #expect(try await judge(path, by: try fake("", [structure([])] + bytes + [end])).word == "too-many-bytes")
        let names = (0..<4300).map { header($0, String(repeating: "n", count: 1000) + "\($0).txt") }
        #expect(try await judge(path, by: try fake("", names + [end])).word == "bad-name")
    }
}

private final class Count: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }
}

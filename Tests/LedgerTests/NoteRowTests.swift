import Ledger
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Note writes, kept blocks, quarantine and history in the ledger")
struct NoteRowTests {
    private let ledger: Ledger

    init() throws { ledger = try Ledger.inMemory() }

    @Test("A begun write is stored with both tails until it is ended")
    func noteWrite() async throws {
        let write = Sample.write("/n.md", step: "j.0")
        let id = try await ledger.write { try $0.beginNoteWrite(write) }
        var expected = write
        expected.id = id
        let open = expected
        #expect(try await ledger.read { try $0.openNoteWrites() } == [open])
        #expect(try await ledger.read { try $0.noteBlock(step: "j.0") } == nil, "not before it is done")
        try await ledger.write { try $0.endNoteWrite(id) }
        #expect(try await ledger.read { try $0.openNoteWrites() } == [])
        #expect(
            try await ledger.read { try $0.noteBlock(step: "j.0") } == NoteBlockRecord(step: "j.0", token: "jrnl-0930"))
    }

    @Test("Open writes are found by their note and by the steps of their blocks")
    func openOnes() async throws {
        let one = try await ledger.write { try $0.beginNoteWrite(Sample.write("/n.md", step: "j.0")) }
        let two = try await ledger.write { try $0.beginNoteWrite(Sample.write("/m.md", step: "k.0")) }
        #expect(try await ledger.read { try $0.openNoteWrites("/n.md").map(\.id) } == [one])
        #expect(
            try await ledger.read { try $0.openNoteWrites("/m.md").map(\.blocks) } == [
                Sample.write("", step: "k.0").blocks
            ])
        #expect(try await ledger.read { try $0.openNote(step: "k.0") } == "/m.md")
        try await ledger.write { try $0.endNoteWrite(two) }
        #expect(try await ledger.read { try $0.openNote(step: "k.0") } == nil)
        #expect(try await ledger.read { try $0.openNoteWrites("/m.md") } == [])
        #expect(try await ledger.read { try $0.openNote(step: "l.0") } == nil)
    }

    @Test("A write that never took effect leaves nothing")
    func voided() async throws {
        let id = try await ledger.write { try $0.beginNoteWrite(Sample.write("/n.md", step: "j.0")) }
        try await ledger.write { try $0.voidNoteWrite(id) }
        #expect(try await ledger.read { try $0.openNoteWrites() } == [])
        #expect(try await ledger.read { try $0.noteBlock(step: "j.0") } == nil)
    }

    @Test("A step whose block is rewritten is found by the last write")
    func again() async throws {
        let first = try await ledger.write { try $0.beginNoteWrite(Sample.write("/n.md", step: "j.0", token: "a")) }
        try await ledger.write { try $0.endNoteWrite(first) }
        let second = try await ledger.write { try $0.beginNoteWrite(Sample.write("/n.md", step: "j.0", token: "b")) }
        #expect(try await ledger.read { try $0.openNoteWrites().map(\.id) } == [second])
        try await ledger.write { try $0.endNoteWrite(second) }
        #expect(try await ledger.read { try $0.noteBlock(step: "j.0")?.token } == "b")
    }

    @Test("Pruning keeps an open write and removes an ended one")
    func prune() async throws {
        let ended = try await ledger.write { try $0.beginNoteWrite(Sample.write("/a.md", step: "j.0")) }
        let open = try await ledger.write { try $0.beginNoteWrite(Sample.write("/b.md", step: "k.0")) }
        let before = Timestamp.now().adding(seconds: 60)
        try await ledger.write { try $0.endNoteWrite(ended) }
        try await ledger.prune(before: before)
        #expect(try await ledger.read { try $0.openNoteWrites().map(\.id) } == [open])
        #expect(try await ledger.read { try $0.noteBlock(step: "j.0") } == nil)
    }

    @Test("A block is begun, present, and kept with the version that added it, until it is dropped")
    func kept() async throws {
        let lines: [UInt64] = [1, .max]
        let one = KeptBlockRecord(note: "/n.md", step: "j.0", token: "a", request: "{}", lines: lines)
        let write = Sample.write("/n.md", step: "j.0", token: "a")
        let id = try await ledger.write { transaction in
            try transaction.beginKeptBlock(one)
            return try transaction.beginNoteWrite(write)
        }
        #expect(try await ledger.read { try $0.missingBlocks("/n.md") } == [one])
        try await ledger.write { transaction in
            try transaction.endNoteWrite(id)
            try transaction.noteHolds("/n.md", write.result, write.blocks)
        }
        var there = one
        (there.first, there.since, there.fate) = (1, 1, KeptBlockRecord.there)
        let expected = there
        #expect(try await ledger.read { try $0.missingBlocks("/n.md") } == [])
        #expect(try await ledger.read { try $0.keptBlocks("/n.md") } == [expected])
        #expect(try await ledger.read { try $0.keptNotes() } == ["/n.md"])
        #expect(try await ledger.read { try $0.lastNoteHash("/n.md") } == write.result)
        try await ledger.write { try $0.beginKeptBlock(one) }
        #expect(try await ledger.read { try $0.keptBlocks("/n.md") } == [expected], "what is known stays as it is")
        try await ledger.write { try $0.noteHolds("/n.md", write.base, write.blocks) }
        #expect(try await ledger.read { try $0.keptBlocks("/n.md").map(\.since) } == [2])
        #expect(try await ledger.read { try $0.keptBlocks("/n.md").map(\.first) } == [1])
        try await ledger.write { try $0.dropKeptBlock("/n.md", step: "j.0") }
        #expect(try await ledger.read { try $0.keptNotes() } == [])
    }

    @Test("A block whose write is voided was never begun; one to be restored stays as it was")
    func begunAndVoid() async throws {
        let new = KeptBlockRecord(note: "/n.md", step: "j.0", token: "a", request: "{}")
        let lost = KeptBlockRecord(
            note: "/n.md", step: "j.1", token: "b", request: "{}", first: 1, since: 3, holder: 4, gone: 5, fate: "wiped"
        )
        let write = Sample.write("/n.md", step: "j.0", token: "a")
        try await ledger.write { transaction in
            try transaction.setKeptBlock(lost)
            try transaction.beginKeptBlock(new)
            try transaction.voidNoteWrite(try transaction.beginNoteWrite(write))
        }
        #expect(try await ledger.read { try $0.keptBlocks("/n.md") } == [lost])
        #expect(try await ledger.read { try $0.keptBlocks(fates: ["wiped", "out"]) } == [lost])
    }

    @Test("A note's lines are kept with the versions that added and removed them")
    func lines() async throws {
        let state = NoteStateRecord(
            note: "/n.md", version: 7, hash: nil,
            lines: [.init(hash: .max, first: 1, since: 2, gone: 3), .init(hash: 1 << 40, first: 0, since: 0)])
        try await ledger.write { try $0.setNoteState(state) }
        #expect(try await ledger.read { try $0.noteState("/n.md") } == state)
        let unknown = NoteStateRecord(note: "/n.md", version: 8, hash: ContentHash(of: []), lines: nil)
        try await ledger.write { try $0.setNoteState(unknown) }
        #expect(try await ledger.read { try $0.noteState("/n.md") } == unknown)
    }

    @Test("A block is pruned with its write, and a note with its blocks")
    func forgotten() async throws {
        let write = Sample.write("/n.md", step: "j.0", token: "a")
        try await ledger.write { transaction in
            try transaction.beginKeptBlock(KeptBlockRecord(note: "/n.md", step: "j.0", token: "a", request: "{}"))
            try transaction.endNoteWrite(try transaction.beginNoteWrite(write))
            try transaction.noteHolds("/n.md", write.result, write.blocks)
        }
        let (past, future) = (Timestamp.now().adding(seconds: -60), Timestamp.now().adding(seconds: 60))
        try await ledger.prune(before: past)
        #expect(try await ledger.read { try $0.keptNotes() } == ["/n.md"])
        try await ledger.prune(before: future)
        #expect(try await ledger.read { try $0.keptNotes() } == [])
        #expect(try await ledger.read { try $0.noteState("/n.md") } == nil)
    }

    @Test("A refused file goes from moving to held to restored or dropped")
    func quarantine() async throws {
        var record = QuarantineRecord(
            id: "q", job: "j", place: "inbox", path: BytePath(bytes: [0xFF]), root: "/in", stored: "/q/x", reason: "bad"
        )
        for state in [QuarantineRecord.State.moving, .held, .restored, .dropped] {
            record.state = state
            let written = record
            try await ledger.write { try $0.setQuarantine(written) }
            #expect(try await ledger.read { try $0.quarantine(in: [state]) } == [written])
            let held = try await ledger.read { try $0.quarantine() }
            #expect(held == (state == .held ? [written] : []))
        }
    }

    @Test("History is read from its end, followed by number, and filtered by job")
    func history() async throws {
        try await ledger.write { transaction in
            for number in 1...5 {
                try transaction.note(
                    "step", "line \(number)", job: number.isMultiple(of: 2) ? "even" : nil, place: "inbox",
                    path: BytePath(bytes: [0xFF, UInt8(number)]))
            }
        }
        let last = try await ledger.read { try $0.history(limit: 2) }
        #expect(last.map(\.message) == ["line 4", "line 5"])
        #expect(last[1].path == BytePath(bytes: [0xFF, 5]))
        let seen = last[0].id
        #expect(try await ledger.read { try $0.history(limit: 10, after: seen).map(\.message) } == ["line 5"])
        #expect(
            try await ledger.read { try $0.history(limit: 10, job: "even").map(\.message) } == ["line 2", "line 4"])
    }

    @Test("A temporary file is identified by inode and birth time until its step is done with it")
    func staged() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(".steward-x", "")
        let file = try Descriptor(path).identity()
        try await ledger.write { try $0.setStaged(path, file, job: "j.0") }
        #expect(try await ledger.read { try $0.staged(by: "j.0") } == [file])
        #expect(try await ledger.read { try $0.staged(by: "j.1") }.isEmpty)
        #expect(try await ledger.read { try $0.staged().map(\.file) } == [file])
        let unborn = FileIdentity(device: file.device, inode: file.inode, born: nil)
        let later = FileIdentity(device: file.device, inode: file.inode, born: (file.born ?? 0) + 1)
        #expect(file.isSame(as: unborn) && unborn.isSame(as: later))
        #expect(file.born == nil || !file.isSame(as: later), "the inode of one that is gone")
        try await ledger.write { try $0.clearStaged(job: "j.1") }
        #expect(try await ledger.read { try $0.staged().count } == 1)
        try await ledger.write { try $0.clearStaged(job: "j.0") }
        #expect(try await ledger.read { try $0.staged().count } == 0)
    }

    @Test("A step's rows are deleted with its job; those of a note's own writes stay")
    func forgottenUnnamed() async throws {
        let steps = ["b1.0", "b1.10 back", "b.0", "b10.0", "a.0", "c.0", "/n.md/x"]
        try await ledger.write { transaction in
            _ = try transaction.addJob(Sample.job("b1"), steps: Sample.steps("b1"))
            for (number, step) in steps.enumerated() {
                let file = FileIdentity(device: 1, inode: UInt64(number), born: nil)
                try transaction.setStaged(BytePath("/t\(number)"), file, job: step)
                try transaction.setEffectNote("noted", step: step)
            }
            try transaction.forgetUnnamed()
            #expect(Set(try transaction.staged().map(\.job)) == ["b1.0", "b1.10 back", "/n.md/x"])
            #expect(try steps.filter { try transaction.effectNote(step: $0) != nil } == ["b1.0", "b1.10 back"])
        }
    }
}

import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicVault

@Suite("The manifest and its mark") struct MarkTests {
    let scene: ManifestScene

    init() throws { scene = try ManifestScene() }

    @discardableResult
    private func add(_ names: String..., to manifest: Manifest) throws -> [ComicEntry] {
        try names.map { name in
            let entry = try Sample.entry(BytePath(name))
            try manifest.append(.added(entry))
            return entry
        }
    }

    private func names(_ manifest: Manifest) -> [String] { manifest.state.comics.values.map(\.name.text).sorted() }

    @Test("Every process begins its own log with its first write") func everyLifeBegins() throws {
        try add("A.cbz", to: scene.create())
        _ = try scene.reopen()
        #expect(try scene.names() == ["log-1-0", "snap-1"])
        try add("B.cbz", "C.cbz", to: scene.reopen())
        try add("D.cbz", to: scene.reopen())
        #expect(try scene.names() == ["log-1-0", "log-1-1", "log-1-2", "snap-1"])
        let manifest = try scene.reopen()
        #expect(names(manifest) == ["A.cbz", "B.cbz", "C.cbz", "D.cbz"])
        // Four comics, and a first record in each of three logs.
        #expect(manifest.head.seq == 7)
        #expect(try scene.host().mark()?.head == manifest.head)
    }

    @Test("Every truncation of the last log is detected") func everyTruncationLast() throws {
        try add("A.cbz", to: scene.create())
        let manifest = try scene.reopen()
        try add("B.cbz", "C.cbz", to: manifest)
        let bytes = try scene.bytes("log-1-1")
        for length in 0..<bytes.count {
            try scene.replace("log-1-1", Array(bytes[..<length]))
            do {
                let cut = try scene.open()
                #expect(cut.freshness == .rolledBack(mark: manifest.head, disk: cut.head), "cut at \(length)")
                #expect(throws: VaultError.self) { try cut.reconcile() }
                #expect(throws: VaultError.self) { try cut.append(.added(try Sample.entry("X.cbz"))) }
                #expect(throws: VaultError.self) { try cut.consolidate() }
            } catch VaultError.manifestCorrupted {}
        }
        try Durable.remove(scene.path("log-1-1"))
        guard case .rolledBack = try scene.open().freshness else { throw TestFailure("a lost log is not seen") }
    }

    @Test("Every flipped bit of every log is detected") func everyFlippedBit() throws {
        var generator = SeededGenerator(for: "everyFlippedBitOfEveryLogIsSeen")
        try add("A.cbz", to: scene.create())
        try add("B.cbz", "C.cbz", to: scene.reopen())
        try add("D.cbz", to: scene.reopen())
        for name in ["log-1-0", "log-1-1", "log-1-2"] {
            let bytes = try scene.bytes(name)
            // Another test shows that every bit breaks the chain for a single log; this is how the manifest handles it.
            let header = 0..<((LogHeader.size + RecordCipher.prefixSize) * 8)
            let rest = header.upperBound..<(bytes.count * 8)
            for bit in Array(header) + Thoroughness.sample(rest, 100, &generator) {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << (bit % 8)
                try scene.replace(name, flipped)
                let damage = try scene.damage()
                let log = try #require(LogName(BytePath(name)))
                switch damage {
                case .header(log), .record(log, _): break
                // The salt of a log that others follow: its key fits no record, as if it were another log.
                case .gap(before: log): break
                default: Issue.record("\(name), bit \(bit): \(String(describing: damage))")
                }
            }
            try scene.replace(name, bytes)
        }
        #expect(try scene.open().freshness == .known)
    }

    @Test("A missing log is a gap") func logGoneGap() throws {
        try add("A.cbz", to: scene.create())
        try add("B.cbz", to: scene.reopen())
        try add("C.cbz", to: scene.reopen())
        for (name, next) in [("log-1-0", UInt64(1)), ("log-1-1", 2)] {
            let bytes = try scene.bytes(name)
            try Durable.remove(scene.path(name))
            #expect(try scene.damage() == .gap(before: LogName(gen: 1, n: next)))
            try scene.replace(name, bytes)
        }
    }

    /// With no remembered head, a torn end may be dropped; anything after a gap is not a torn end, however short.
    @Test("A missing log is a gap even before one that was only begun")
    func aLogThatIsGoneIsAGapAlsoBeforeOneThatWasOnlyBegun() throws {
        try add("A.cbz", to: scene.create())
        try add("B.cbz", to: scene.reopen())
        _ = try RecordLog(
            LogName(gen: 1, n: 2), in: scene.folder, keys: scene.keys, after: try scene.open().head)
        try Durable.remove(scene.path("log-1-1"))
        try Durable.remove(scene.home.path.appending("host/mark"))
        #expect(try scene.damage(dropsTornTail: true) == .gap(before: LogName(gen: 1, n: 2)))
    }

    @Test("Records missing from the end of a log in the middle are a gap")
    func recordsGoneFromTheEndOfALogInTheMiddleAreAGap() throws {
        try add("A.cbz", to: scene.create())
        let bytes = try scene.bytes("log-1-0")
        try add("B.cbz", to: scene.reopen())
        let first = try #require(RecordCipher.end(of: bytes, at: LogHeader.size))
        try scene.replace("log-1-0", Array(bytes[..<first]))
        #expect(try scene.damage() == .gap(before: LogName(gen: 1, n: 1)))
    }

    @Test("Two logs that follow one head are a fork") func twoLogsFollow() throws {
        try add("A.cbz", to: scene.create())
        let common = try scene.copy(of: scene.names())
        let mark = try #require(try scene.host().mark())
        try add("B.cbz", to: scene.reopen())
        let one = try scene.bytes("log-1-1")
        // In another run the second log was cut off as it was begun, and the third follows the first.
        try scene.restore(common + [("log-1-1", [])])
        try scene.host().replaceMark(mark)
        try add("C.cbz", to: scene.reopen())
        #expect(try scene.names().contains("log-1-2"))
        try scene.replace("log-1-1", one)
        guard case .fork = try scene.damage() else { throw TestFailure("the fork is not seen") }
    }

    @Test("An old generation that was continued is a fork") func oldGenerationWent() throws {
        let manifest = try scene.create()
        try add("A.cbz", to: manifest)
        let old = try scene.copy(of: scene.names())
        try manifest.consolidate()
        let mark = try #require(try scene.host().mark())
        let new = try scene.copy(of: scene.names())
        // Elsewhere the copy continues.
        try scene.restore(old)
        try Durable.remove(scene.home.path.appending("host/mark"))
        try add("B.cbz", to: scene.reopen())
        for (name, bytes) in new { try scene.replace(name, bytes) }
        try scene.host().replaceMark(mark)
        guard case .fork = try scene.damage() else { throw TestFailure("the fork is not seen") }
    }

    @Test("An older copy of the manifest is a rollback") func olderCopyManifest() throws {
        try add("A.cbz", to: scene.create())
        let old = try scene.copy(of: scene.names())
        let manifest = try scene.reopen()
        try add("B.cbz", to: manifest)
        let new = try scene.copy(of: scene.names())
        try scene.restore(old)
        let rolledBack = try scene.open()
        #expect(rolledBack.freshness == .rolledBack(mark: manifest.head, disk: rolledBack.head))
        #expect(names(rolledBack) == ["A.cbz"])

        try rolledBack.acceptRollback()
        #expect(rolledBack.freshness == .known)
        #expect(rolledBack.head.gen == 2)
        try add("C.cbz", to: rolledBack)
        #expect(names(try scene.reopen()) == ["A.cbz", "C.cbz"])
        // The abandoned branch comes back.
        try scene.restore(new)
        guard case .rolledBack = try scene.open().freshness else { throw TestFailure("the other branch is not seen") }
    }

    @Test("An accepted rollback is newer than both branches") func acceptedRollbackNewer() throws {
        let manifest = try scene.create()
        try add("A.cbz", to: manifest)
        let old = try scene.copy(of: scene.names())
        for _ in 0..<4 { try manifest.consolidate() }
        let new = try scene.copy(of: scene.names())
        try scene.restore(old)
        let rolledBack = try scene.open()
        try rolledBack.acceptRollback()
        #expect(rolledBack.head.gen == 6)
        try scene.restore(new)
        guard case .rolledBack = try scene.open().freshness else { throw TestFailure("the other branch is not seen") }
    }

    @Test("The mark may lag behind by as much as a crash leaves") func markLagBehind() throws {
        let manifest = try scene.create()
        try add("A.cbz", to: manifest)
        let mark = try #require(try scene.host().mark())
        try add("B.cbz", to: manifest)
        try scene.host().replaceMark(mark)
        let next = try scene.open()
        #expect(next.freshness == .known)
        try next.reconcile()
        #expect(names(next) == ["A.cbz", "B.cbz"])
        #expect(try scene.host().mark()?.head == next.head)

        // Before a consolidation whose mark was never written.
        let before = try #require(try scene.host().mark())
        try next.consolidate()
        try scene.host().replaceMark(before)
        #expect(try scene.open().freshness == .known)
    }

    @Test("An incomplete record beyond the mark is dropped, whatever its length") func incompleteRecordBeyond() throws {
        let manifest = try scene.create()
        try add("A.cbz", to: manifest)
        let mark = try #require(try scene.host().mark())
        let clean = try scene.bytes("log-1-0").count
        try add("B.cbz", to: manifest)
        let bytes = try scene.bytes("log-1-0")
        try scene.host().replaceMark(mark)
        for length in (clean + 1)..<bytes.count {
            try scene.replace("log-1-0", Array(bytes[..<length]))
            let next = try scene.open()
            #expect(next.freshness == .known)
            #expect(names(next) == ["A.cbz"])
            #expect(next.tornTail?.bytes == length - clean)
        }
        // Its blocks were never written: zeros in its place.
        try scene.replace("log-1-0", bytes[..<clean] + [UInt8](repeating: 0, count: bytes.count - clean))
        let next = try scene.reopen()
        try add("C.cbz", to: next)
        #expect(names(try scene.reopen()) == ["A.cbz", "C.cbz"])
        #expect(try scene.reopen().tornTail == nil)
    }

    @Test("A log cut off as it was begun is skipped") func logCutBegun() throws {
        try add("A.cbz", to: scene.create())
        let common = try scene.copy(of: scene.names())
        let mark = try #require(try scene.host().mark())
        try add("B.cbz", to: scene.reopen())
        let bytes = try scene.bytes("log-1-1")
        let first = try #require(RecordCipher.end(of: bytes, at: LogHeader.size))
        for length in [0, 1, 71, 72, 73, 91, 92, first - 1] {
            try scene.restore(common + [("log-1-1", Array(bytes[..<length]))])
            try scene.host().replaceMark(mark)
            #expect(names(try scene.reopen()) == ["A.cbz"])
            // Cut off again, and only then written.
            try scene.replace("log-1-2", Array(bytes[..<(length / 2)]))
            try add("C.cbz", to: scene.reopen())
            #expect(names(try scene.reopen()) == ["A.cbz", "C.cbz"])
        }
    }

    @Test("Without a mark, an incomplete record needs a person's decision") func withoutMarkIncomplete() throws {
        try add("A.cbz", "B.cbz", to: scene.create())
        let bytes = try scene.bytes("log-1-0")
        try scene.replace("log-1-0", bytes.dropLast(3))
        try Durable.remove(scene.home.path.appending("host/mark"))
        guard case .tornTail = try scene.damage() else { throw TestFailure("it was not asked") }
        let manifest = try scene.open(dropsTornTail: true)
        #expect(manifest.freshness == .firstUse)
        #expect(names(manifest) == ["A.cbz"])
        // A bad record followed by good ones is not put to the user.
        var damaged = bytes
        damaged[200] ^= 1
        try scene.replace("log-1-0", damaged)
        guard case .record = try scene.damage(dropsTornTail: true) else { throw TestFailure("it was dropped") }
    }

    @Test("A lost mark counts as first use, and is reported") func lostMarkFirst() throws {
        try add("A.cbz", to: scene.create())
        try Durable.remove(scene.home.path.appending("host/mark"))
        let manifest = try scene.open()
        #expect(manifest.freshness == .firstUse)
        try manifest.reconcile()
        #expect(try scene.open().freshness == .known)
    }

    @Test("A damaged mark is not a lost one") func damagedMarkLost() throws {
        try add("A.cbz", to: scene.create())
        let file = scene.home.path.appending("host/mark")
        let bytes = try Descriptor(file).readAll()
        for length in 0..<bytes.count {
            try Durable.replaceOwn(file, with: bytes[..<length])
            #expect(throws: VaultError.self, "cut at \(length)") { try scene.open() }
        }
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            try scene.home.write("host/mark", flipped)
            do {
                guard case .rolledBack = try scene.open().freshness else {
                    Issue.record("bit \(bit) of the mark is not seen")
                    continue
                }
            } catch is VaultError {}
        }
    }

    @Test("Another vault at the same path is foreign") func anotherVaultPlace() throws {
        _ = try scene.create()
        let other = try ManifestScene()
        _ = try other.create()
        let mark = try #require(try other.host().mark())
        try scene.host().replaceMark(mark)
        do {
            _ = try scene.open()
            Issue.record("another vault's mark was taken")
        } catch VaultError.strangeVault(let expected, let found) {
            #expect(expected == other.keys.id)
            #expect(found == scene.keys.id)
        }
    }

    @Test("Pins and deposits are read back as written") func pinsDepositsRead() throws {
        let host = try scene.host()
        #expect(try host.pins().isEmpty)
        #expect(try host.deposits().isEmpty)
        let pins = try (0..<2).map { _ in HostPin(vault: try .random(), publicKey: try SecureRandom.bytes(32)) }
        try host.replacePins(pins)
        #expect(try host.pins() == pins)
        let deposits = try (0..<3).map { number in
            HostDeposit(
                drop: try .random(), vault: scene.keys.id, length: UInt64(number), headerMAC: try SecureRandom.bytes(32)
            )
        }
        for deposit in deposits { try host.remember(deposit) }
        try host.forget(deposits[1].drop)
        #expect(try host.deposits() == [deposits[0].drop: deposits[0], deposits[2].drop: deposits[2]])
        try scene.home.write("host/pin", "steward vault 1\nnonsense\n")
        #expect(throws: VaultError.self) { try host.pins() }
    }
}

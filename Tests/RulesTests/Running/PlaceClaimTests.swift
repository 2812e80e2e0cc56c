import Glibc
import OwnFiles
import Platform
import Rules
import Synchronization
import TestSupport
import Testing

@Suite("Places claimed by one agent")
struct PlaceClaimTests {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder("claims") }

    /// An agent's claims on folders below the temporary one.
    private struct Claimant {
        let claims: PlaceClaims
        let map: PlaceMap

        /// The other agent that holds the place.
        func other(_ name: String = "p0") throws -> PlaceHolder? {
            guard let place = map[name: name], let folder = try FolderIdentity.open(place.root) else {
                throw TestFailure("there is no place \(name)")
            }
            return try claims.claim(place, in: folder)
        }
    }

    private func claimant(_ state: String, _ folders: BytePath...) throws -> Claimant {
        for folder in folders { try Durable.makeDirectory(temporary.path.appending(folder)) }
        let map = PlaceMap(
            folders.enumerated().map {
                PlaceInfo(name: "p\($0)", kind: .folder, root: temporary.path.appending($1))
            })
        return Claimant(claims: PlaceClaims(map, state: BytePath("/\(state)")), map: map)
    }

    private func move(_ from: BytePath, _ to: BytePath) throws {
        guard rename(temporary.path.appending(from).text, temporary.path.appending(to).text) == 0 else {
            throw Fault.system("rename", from)
        }
    }

    @Test("The second agent is told about the first, once, and takes over when that one releases the place")
    func inTurn() async throws {
        let one = try claimant("one", "a")
        let two = try claimant("two", "a")
        let told = Told()
        two.claims.listen { told.add($0) }
        for _ in 0..<2 { #expect(try one.other() == nil) }
        for _ in 0..<2 { #expect(try two.other() == PlaceHolder(state: "/one")) }
        #expect(two.claims.inUse == ["p0": PlaceHolder(state: "/one")])
        #expect(told.names == ["p0"])
        one.claims.release()
        #expect(try two.other() == nil && two.claims.inUse.isEmpty)
        #expect(try one.other() == PlaceHolder(state: "/two"))
    }

    @Test("The lock is on the current folder: one that was moved away blocks nobody")
    func moved() throws {
        let one = try claimant("one", "a")
        let two = try claimant("two", "a")
        #expect(try one.other() == nil)
        try move("a", "away")
        try Durable.makeDirectory(temporary.path.appending("a"))
        #expect(try two.other() == nil)
        #expect(try one.other() == PlaceHolder(state: "/two"))
        // The first has released its claim on the absent folder.
        let third = try claimant("three", "away")
        #expect(try third.other() == nil)
    }

    @Test("A lock file that somebody removes is created and locked again, by one of two agents")
    func removed() throws {
        let one = try claimant("one", "a")
        let two = try claimant("two", "a")
        #expect(try one.other() == nil)
        try Durable.remove(temporary.path.appending("a").appending(name: PlaceLock.name))
        #expect(try two.other() == nil)
        #expect(try one.other() == PlaceHolder(state: "/two"))
    }

    @Test("A nested place belongs to the agent of the outer one; another agent waits for it")
    func nested() async throws {
        let one = try claimant("one", "a", "a/b/c")
        #expect(try one.other("p0") == nil && one.other("p1") == nil)
        let two = try claimant("two", "a/b")
        #expect(try two.other() == PlaceHolder(state: "/one"))
        one.claims.release()
        try await waitUntil("it is free") { try two.other() == nil }
        // An agent whose place encloses another comes first.
        let three = try claimant("three", "a")
        #expect(try three.other() == nil)
        try await waitUntil("the inner one waits") { try two.other() == PlaceHolder(state: "/three") }
    }

    @Test("A place that cannot be locked is watched anyway, and that is reported")
    func unlockable() throws {
        let one = try claimant("one", "a")
        try Durable.makeDirectory(temporary.path.appending("a").appending(name: PlaceLock.name))
        #expect(try one.other() == nil)
        #expect(one.claims.unlockable["p0"] != nil)
    }
}

/// The notifications of a listener.
private final class Told: Sendable {
    private let all = Mutex<[String]>([])
    var names: [String] { all.withLock { $0 } }
    func add(_ name: String) { all.withLock { $0.append(name) } }
}

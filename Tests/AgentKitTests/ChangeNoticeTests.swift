import Synchronization
import Testing

@testable import AgentKit

@Suite("Signalling a change") struct ChangeNoticeTests {
    private final class Listener: Sendable {
        let told = Mutex(0)
    }

    @Test("Costs the same the millionth time as the first time") func often() {
        let notice = ChangeNotice()
        let listener = Listener()
        notice.listen { listener.told.withLock { $0 += 1 } }
        // With one nested call per notice, this would need a stack of several hundred megabytes.
        for _ in 0..<1_000_000 { notice.tell() }
        #expect(listener.told.withLock { $0 } == 1_000_000)
        notice.listen(nil)
        notice.tell()
        #expect(listener.told.withLock { $0 } == 1_000_000)
    }
}

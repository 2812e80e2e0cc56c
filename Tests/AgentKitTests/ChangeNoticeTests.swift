import Synchronization
import Testing

@testable import AgentKit

@Suite("Telling that something has changed") struct ChangeNoticeTests {
    private final class Listener: Sendable {
        let told = Mutex(0)
    }

    @Test("Costs the millionth time what it costs the first time") func often() {
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

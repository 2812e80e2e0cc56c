import NIOCore
import Synchronization

/// The connections that have sent requests.
final class OpenConnections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var abandoned = 0
    }

    private let state = Mutex(State())

    var count: Int { state.withLock(\.open.count) }
    var abandoned: Int { state.withLock(\.abandoned) }

    /// A client disconnected before its answer was complete.
    func noteAbandoned() { state.withLock { $0.abandoned += 1 } }

    func note(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isNew = state.withLock { $0.open.updateValue(channel, forKey: id) == nil }
        guard isNew else { return }
        channel.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.open.removeValue(forKey: id) } }
    }

    func closeAll() {
        for channel in state.withLock({ Array($0.open.values) }) { channel.close(promise: nil) }
    }
}

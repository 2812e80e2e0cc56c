import Glibc
import Synchronization

/// A dedicated thread, outside the cooperative pool and outside dispatch: for work that must stay on one thread.
package final class OwnerThread: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private let handle: Mutex<pthread_t?>

    /// - Throws: `Fault` if the system grants no thread.
    package init(_ body: @escaping @Sendable () -> Void) throws {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Body(body))
        let code = pthread_create(
            &thread, nil,
            { raw in
                if let raw { Unmanaged<Body>.fromOpaque(raw).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw Fault.system("start a thread", errno: code)
        }
        handle = Mutex(thread)
    }

    /// Waits until the thread has ended; a second call returns at once.
    package func join() {
        let thread = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let thread { pthread_join(thread, nil) }
    }
}

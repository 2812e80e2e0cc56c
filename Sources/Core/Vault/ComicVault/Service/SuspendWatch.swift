import CLinux
import Dispatch
import Glibc
import Platform

/// Reports a suspend of the machine as soon as it runs again, without a timer and without wake-ups in between.
final class SuspendWatch: Sendable {
    // Set in the initialiser, cancelled once; libdispatch allows that from any thread.
    nonisolated(unsafe) private let source: any DispatchSourceRead

    /// The suspend in nanoseconds below which the difference is only clock skew.
    private static let least: Int64 = 500_000_000

    /// - Parameter resumed: called once, on a private queue.
    /// - Throws: `Fault` if the kernel has no such timer.
    init(_ resumed: @Sendable @escaping () -> Void) throws {
        let raw = steward_open_clock_watch()
        guard raw >= 0 else { throw Fault.system("watch for a suspend of the machine") }
        let timer = Descriptor(owning: raw, path: "the clock watch")
        let start = steward_time_suspended()
        let queue = DispatchQueue(label: "steward.suspend")
        let source = DispatchSource.makeReadSource(fileDescriptor: raw, queue: queue)
        source.setEventHandler {
            var count: UInt64 = 0
            // Fails with ECANCELED, as intended.
            _ = read(timer.raw, &count, 8)
            if steward_time_suspended() - start >= Self.least {
                source.cancel()
                resumed()
            } else if steward_arm_clock_watch(timer.raw) != 0 {
                source.cancel()
            }
        }
        source.setCancelHandler { withExtendedLifetime(timer) {} }
        source.resume()
        self.source = source
    }

    deinit { source.cancel() }
}

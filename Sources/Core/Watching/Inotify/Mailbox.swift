import CLinux
import Dispatch
import Glibc
import Platform
import Synchronization

/// Commands for the owner thread: a queue, and an eventfd to wake its poll(2).
final class Mailbox<Owner>: Sendable {
    typealias Command = @Sendable (Owner) -> Void

    /// Tells a waiting caller whether its command ran.
    private final class Reply: Sendable {
        let isThere = DispatchSemaphore(value: 0)
        let wasObeyed = Atomic<Bool>(false)
    }

    private struct State {
        var letters: [(run: Command, done: Reply?)] = []
        var closed = false
    }

    private let state = Mutex(State())
    /// For poll(2).
    let descriptor: Descriptor

    init() throws {
        let raw = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard raw >= 0 else { throw Fault.system("make an eventfd") }
        descriptor = Descriptor(owning: raw, path: "eventfd")
    }

    /// Queues a command; false if the owner is gone.
    @discardableResult
    func post(_ command: @escaping Command) -> Bool { leave(command, nil) }

    /// Queues a command and waits until it has run; false if the owner ended first. Blocks.
    @discardableResult
    func ask(_ command: @escaping Command) -> Bool {
        let reply = Reply()
        guard leave(command, reply) else { return false }
        reply.isThere.wait()
        return reply.wasObeyed.load(ordering: .acquiring)
    }

    /// Queues an empty command and waits for its turn; false if that took longer. Blocks.
    func comesRound(within seconds: Double) -> Bool {
        let reply = Reply()
        guard leave({ _ in }, reply) else { return false }
        return reply.isThere.wait(timeout: .now() + seconds) == .success
    }

    private func leave(_ command: @escaping Command, _ done: Reply?) -> Bool {
        let open = state.withLock { state in
            if !state.closed { state.letters.append((command, done)) }
            return !state.closed
        }
        if open { _ = eventfd_write(descriptor.raw, 1) }
        return open
    }

    /// Runs all queued commands. Call on the owner thread.
    func obey(_ owner: Owner) {
        var count = eventfd_t()
        _ = eventfd_read(descriptor.raw, &count)
        let letters = state.withLock { state in
            defer { state.letters = [] }
            return state.letters
        }
        for letter in letters {
            letter.run(owner)
            letter.done?.wasObeyed.store(true, ordering: .releasing)
            letter.done?.isThere.signal()
        }
    }

    /// Refuses further commands and releases those who wait.
    func close() {
        let letters = state.withLock { state in
            state.closed = true
            defer { state.letters = [] }
            return state.letters
        }
        for letter in letters { letter.done?.isThere.signal() }
    }
}

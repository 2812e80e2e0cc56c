import Platform
import Rules

/// Changes a file's content exactly once: makes a changed copy, verifies it, and swaps it with the file if that still
/// has the judged content. The old version goes to the trash, from where undo restores it.
package struct FileRewrite: Primitive {
    private let replaced: ReplacedVersion
    private let services: FileServices
    private let pool: BlockingPool
    private let summary: String
    private let make: @Sendable (_ old: Descriptor, _ put: ([UInt8]) throws -> Void) throws -> Void
    private let verify: @Sendable (_ old: Descriptor, _ new: Descriptor) throws -> Void

    /// - Parameters:
    ///   - pool: the pool that makes and verifies the copy.
    ///   - summary: what was done.
    ///   - make: called with the file and a function that takes the next part of the new version. Blocks.
    ///   - verify: throws if the new version is wrong. Blocks.
    package init(
        _ replaced: ReplacedVersion, _ services: FileServices, on pool: BlockingPool, summary: String,
        make: @escaping @Sendable (_ old: Descriptor, _ put: ([UInt8]) throws -> Void) throws -> Void,
        verify: @escaping @Sendable (_ old: Descriptor, _ new: Descriptor) throws -> Void
    ) {
        (self.replaced, self.services, self.pool, self.summary) = (replaced, services, pool, summary)
        (self.make, self.verify) = (make, verify)
    }

    package var targets: [BytePath] { replaced.targets }

    package func perform(_ context: StepContext) async throws -> Receipt {
        try await pool.run {
            let effects =
                try replaced.finish(services, context)
                ?? replaced.replace(services, context) { old, put in
                    try make(old, put)
                } verifying: { old, new in
                    try verify(old, new)
                }
            return Receipt(summary, effects: effects)
        }
    }

    package func recover(_ context: StepContext) async throws -> Recovery {
        try await pool.run {
            try services.journal.presence.require(replaced.path)
            return try replaced.finish(services, context).map { .done(Receipt(summary, effects: $0)) } ?? .notDone
        }
    }

    package func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await pool.run { try replaced.bringBack(receipt.effects, services, context) }
    }
}

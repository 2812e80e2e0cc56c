import Platform

/// An exactly-once operation on files: it can be performed, completed or discarded after a crash, and undone. An
/// action only chooses the primitive; the primitive alone decides what is journaled, and in which order.
package protocol Primitive: Sendable {
    /// As ``RuleAction/perform(_:_:)``.
    func perform(_ context: StepContext) async throws -> Receipt

    /// As ``RuleAction/recover(_:_:)``.
    func recover(_ context: StepContext) async throws -> Recovery

    /// As ``RuleAction/undo(_:_:_:)``.
    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt

    /// The absolute paths that it may create, change or remove.
    var targets: [BytePath] { get }

    /// Where files would be afterwards; nil if not known.
    var forecast: Forecast? { get }
}

extension Primitive {
    package var forecast: Forecast? { nil }
}

/// A no-op, for input that needs nothing done.
package struct NoWork: Primitive {
    private let receipt: Receipt
    private let undone: String

    /// - Parameters:
    ///   - receipt: gives the reason, and the values for later steps.
    ///   - undone: the message for an undo.
    package init(_ receipt: Receipt, undone: String) { (self.receipt, self.undone) = (receipt, undone) }

    package var targets: [BytePath] { [] }

    package var forecast: Forecast? { Forecast() }

    package func perform(_ context: StepContext) async throws -> Receipt { receipt }

    package func recover(_ context: StepContext) async throws -> Recovery { .done(receipt) }

    package func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt { Receipt(undone) }
}

/// An action that turns its input into a primitive and does nothing else.
package protocol DecidingAction: RuleAction {
    /// The primitive that carries out the intent. Created for each call, including recovery and undo.
    func work(for intent: Intent) -> any Primitive
}

/// An action on something other than files: a program, a person, a model, its own database. It implements performing,
/// recovery and undo itself, and declares its guarantee.
package protocol ExternalAction: RuleAction {}

extension DecidingAction {
    package func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        try await work(for: intent).perform(context)
    }

    package func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        try await work(for: intent).recover(context)
    }

    package func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await work(for: intent).undo(receipt, context)
    }

    package func targets(of intent: Intent) -> [BytePath] { work(for: intent).targets }

    package func forecast(of intent: Intent) -> Forecast? { work(for: intent).forecast }
}

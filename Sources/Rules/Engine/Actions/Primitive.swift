import Platform

/// Something that is done to files exactly once: carried out, finished or taken for not done after a crash, and taken back.
/// An action decides which of them; what is journaled, and in which order, is the primitive's business alone.
package protocol Primitive: Sendable {
    /// As ``RuleAction/perform(_:_:)``.
    func perform(_ context: StepContext) async throws -> Receipt

    /// As ``RuleAction/recover(_:_:)``.
    func recover(_ context: StepContext) async throws -> Recovery

    /// As ``RuleAction/undo(_:_:_:)``.
    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt

    /// The absolute paths that it may make, change or remove.
    var targets: [BytePath] { get }

    /// Where files would lie once it was carried out; nil where that is not told.
    var forecast: Forecast? { get }
}

extension Primitive {
    package var forecast: Forecast? { nil }
}

/// For an input of which nothing is to be done.
package struct NoWork: Primitive {
    private let receipt: Receipt
    private let undone: String

    /// - Parameters:
    ///   - receipt: says why, with the values for later steps.
    ///   - undone: what is said when it is to be taken back.
    package init(_ receipt: Receipt, undone: String) { (self.receipt, self.undone) = (receipt, undone) }

    package var targets: [BytePath] { [] }

    package var forecast: Forecast? { Forecast() }

    package func perform(_ context: StepContext) async throws -> Receipt { receipt }

    package func recover(_ context: StepContext) async throws -> Recovery { .done(receipt) }

    package func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt { Receipt(undone) }
}

/// An action that turns its input into a primitive, and does nothing else by itself.
package protocol DecidingAction: RuleAction {
    /// What carries the intent out; made anew each time, also after a crash and to take it back.
    func work(for intent: Intent) -> any Primitive
}

/// An action on what is no file: a program, a person, a model, a database of its own. It says itself how it is carried out,
/// found done after a crash and taken back, and its declaration says with which guarantee.
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

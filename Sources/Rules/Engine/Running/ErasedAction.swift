import Foundation
import Platform

/// JSON as the ledger stores it: keys sorted, so that equal values are equal texts.
package enum LedgerJSON {
    package static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    package static func decode<T: Decodable>(_ type: T.Type, from text: String) throws -> T {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw Fault(.failed, "the ledger holds a \(T.self) that this version cannot read: \(error)")
        }
    }
}

/// The action protocol with its intent as JSON, so that the runner need not know the type.
extension RuleAction {
    func decide(_ input: StepInput) async throws -> String {
        try LedgerJSON.encode(try await intent(for: input))
    }

    func perform(json: String, _ context: StepContext) async throws -> Receipt {
        try await perform(try LedgerJSON.decode(Intent.self, from: json), context)
    }

    func settle(json: String, _ context: StepContext) async throws -> Settlement {
        try await settle(try LedgerJSON.decode(Intent.self, from: json), context)
    }

    func undo(json: String, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await undo(try LedgerJSON.decode(Intent.self, from: json), receipt, context)
    }

    /// What it would do, in one line; nothing is done.
    package func dryRun(_ input: StepInput) async throws -> String {
        summary(of: try await intent(for: input))
    }

    func targets(json: String) throws -> [BytePath] {
        targets(of: try LedgerJSON.decode(Intent.self, from: json))
    }

}

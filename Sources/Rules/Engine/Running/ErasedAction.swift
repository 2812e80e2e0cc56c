import Foundation
import Ledger
import Platform

/// JSON as the ledger stores it: keys sorted, so that equal values are equal texts.
package enum LedgerJSON {
    /// - Parameter names: which paths are to be hidden.
    package static func encode(_ value: some Encodable, hiding names: NameVeil? = nil) throws -> String {
        let encoder = JSONEncoder()
        if let names, let key = PathCoding.key { encoder.userInfo[key] = names.coding }
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    package static func decode<T: Decodable>(
        _ type: T.Type, from text: String, showing names: NameVeil? = nil
    ) throws -> T {
        let decoder = JSONDecoder()
        if let names, let key = PathCoding.key { decoder.userInfo[key] = names.coding }
        do {
            return try decoder.decode(type, from: Data(text.utf8))
        } catch {
            throw Fault(.failed, "the ledger holds a \(T.self) that this version cannot read: \(error)")
        }
    }
}

/// The action protocol with its intent as JSON, so that the runner need not know the type.
extension RuleAction {
    func decide(_ input: StepInput, hiding names: NameVeil) async throws -> String {
        try LedgerJSON.encode(try await intent(for: input), hiding: names)
    }

    func perform(json: String, _ names: NameVeil, _ context: StepContext) async throws -> Receipt {
        try await perform(try LedgerJSON.decode(Intent.self, from: json, showing: names), context)
    }

    func settle(json: String, _ names: NameVeil, _ context: StepContext) async throws -> Settlement {
        try await settle(try LedgerJSON.decode(Intent.self, from: json, showing: names), context)
    }

    func undo(json: String, _ names: NameVeil, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await undo(try LedgerJSON.decode(Intent.self, from: json, showing: names), receipt, context)
    }

    /// What it would do, in one line; nothing is done.
    package func dryRun(_ input: StepInput) async throws -> String {
        summary(of: try await intent(for: input))
    }

    func targets(json: String, _ names: NameVeil) throws -> [BytePath] {
        targets(of: try LedgerJSON.decode(Intent.self, from: json, showing: names))
    }

}

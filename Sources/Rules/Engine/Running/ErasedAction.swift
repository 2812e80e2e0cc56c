import Foundation
import JSONText
import Ledger
import Platform

/// JSON as the ledger stores it.
package enum LedgerJSON {
    /// - Parameters:
    ///   - names: the paths to hide.
    ///   - texts: collects the long texts, which are then stored by reference; nil to write them in full.
    package static func encode(
        _ value: some Encodable, hiding names: HiddenNames? = nil, naming texts: NamedTexts? = nil
    ) throws -> String {
        var info: [CodingUserInfoKey: any Sendable] = [:]
        if let names, let key = PathCoding.key { info[key] = names.coding }
        if let texts, let key = NamedTexts.key { info[key] = texts }
        return try JSONText.line(value, userInfo: info)
    }

    /// - Parameter texts: the texts that it may reference.
    /// - Throws: `Fault(.failed)`; otherwise as ``HiddenNames/requireLearned(_:)``.
    package static func decode<T: Decodable>(
        _ type: T.Type, from text: String, showing names: HiddenNames? = nil, knowing texts: [ContentHash: String] = [:]
    ) throws -> T {
        let decoder = JSONDecoder()
        if let names, let key = PathCoding.key { decoder.userInfo[key] = names.coding }
        if !texts.isEmpty, let key = NamedTexts.key { decoder.userInfo[key] = NamedTexts(texts) }
        do {
            return try decoder.decode(type, from: Data(text.utf8))
        } catch let fault as Fault where fault.kind == .transient {
            throw fault
        } catch {
            throw Fault(.failed, "the ledger holds a \(T.self) that this version cannot read: \(error)")
        }
    }
}

/// An intent as stored in the ledger, with the texts that it references.
struct StoredIntent: Sendable {
    let json: String
    let texts: [ContentHash: String]
}

/// A step that has been decided but not carried out.
struct DecidedStep: Sendable {
    /// The intent as it goes into the ledger.
    let json: String
    /// The texts that the intent references.
    let texts: [KeptText]
    let targets: [BytePath]
    let perform: @Sendable (StepContext) async throws -> Receipt
}

/// The action protocol with the intent as JSON, so that the runner does not need its type.
extension RuleAction {
    func decide(_ input: StepInput, hiding names: HiddenNames) async throws -> DecidedStep {
        let intent = try await intent(for: input)
        let texts = NamedTexts()
        let json = try LedgerJSON.encode(intent, hiding: names, naming: texts)
        return DecidedStep(json: json, texts: texts.all, targets: targets(of: intent)) {
            try await self.perform(intent, $0)
        }
    }

    func recover(_ stored: StoredIntent, _ names: HiddenNames, _ context: StepContext) async throws -> Recovery {
        try await recover(try decoded(stored, names), context)
    }

    func undo(
        _ stored: StoredIntent, _ names: HiddenNames, _ receipt: Receipt, _ context: StepContext
    ) async throws -> Receipt {
        try await undo(try decoded(stored, names), receipt, context)
    }

    /// What the action would do, in one line. Has no effect.
    package func dryRun(_ input: StepInput) async throws -> String {
        summary(of: try await intent(for: input))
    }

    func targets(_ stored: StoredIntent, _ names: HiddenNames) throws -> [BytePath] {
        targets(of: try decoded(stored, names))
    }

    private func decoded(_ stored: StoredIntent, _ names: HiddenNames) throws -> Intent {
        try LedgerJSON.decode(Intent.self, from: stored.json, showing: names, knowing: stored.texts)
    }
}

import Foundation
import Platform

/// A step's arguments as the ledger keeps them: a job planned under one version of a rule ends under that version,
/// whatever the rule file says by then.
extension Arguments {
    private enum Stored: Codable {
        case template(String)
        case templates([String])
        case literal(String)
        case boolean(Bool)
        case integer(Int)
        case duration(Double)
        case place(PlaceInfo)
        case map([[String]])
    }

    private struct Whole: Codable {
        let timeZone: String
        let given: [String]
        let all: [String: Stored]
    }

    /// For ``init(json:for:)``.
    func json() throws -> String {
        let stored = all.mapValues { argument -> Stored in
            switch argument {
            case .template(let template): .template(template.text)
            case .templates(let templates): .templates(templates.map(\.text))
            case .literal(let text): .literal(text)
            case .boolean(let truth): .boolean(truth)
            case .integer(let number): .integer(number)
            case .duration(let seconds): .duration(seconds)
            case .place(let place): .place(place)
            case .map(let entries): .map(entries.map { [$0.name, $0.template.text] })
            }
        }
        return try LedgerJSON.encode(Whole(timeZone: timeZone.identifier, given: given.sorted(), all: stored))
    }

    init(json: String, for declaration: ActionDeclaration) throws {
        let whole = try LedgerJSON.decode(Whole.self, from: json)
        func template(_ text: String) throws -> Template {
            do {
                return try Template(text)
            } catch {
                throw Fault(.failed, "the ledger holds a template that this version cannot read: \(error.message)")
            }
        }
        let all = try whole.all.mapValues { stored -> Argument in
            switch stored {
            case .template(let text): .template(try template(text))
            case .templates(let texts): .templates(try texts.map(template))
            case .literal(let text): .literal(text)
            case .boolean(let truth): .boolean(truth)
            case .integer(let number): .integer(number)
            case .duration(let seconds): .duration(seconds)
            case .place(let place): .place(place)
            case .map(let entries): .map(try entries.map { ($0[0], try template($0[1])) })
            }
        }
        self.init(
            action: declaration.name, timeZone: TimeZone(identifier: whole.timeZone) ?? .gmt, all: all,
            given: Set(whole.given), areStored: true)
    }
}

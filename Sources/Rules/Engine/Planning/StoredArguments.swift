import Foundation
import Platform

/// A step's arguments as stored in the ledger, from when the job was planned. They show whether the rule has changed
/// since, and allow a step to be recovered or undone if its rule is gone. They never determine new work: a step runs
/// as the rule in force defines it (``RuleSet/step(_:of:)``), so write access to a ledger cannot make it run a
/// program or fill a folder.
extension Arguments {
    private enum Stored: Codable {
        case template(String)
        case templates([String])
        case literal(String)
        case boolean(Bool)
        case integer(Int)
        case duration(Double)
        case placeName(String)
        /// Earlier versions stored all properties of the place; only its name is read.
        case place(PlaceName)
        case map([[String]])
    }

    private struct PlaceName: Codable {
        let name: String
    }

    private struct Whole: Codable {
        let timeZone: String
        let given: [String]
        let all: [String: Stored]
    }

    /// For ``init(json:for:in:)``.
    func json() throws -> String {
        let stored = all.mapValues { argument -> Stored in
            switch argument {
            case .template(let template): .template(template.text)
            case .templates(let templates): .templates(templates.map(\.text))
            case .literal(let text): .literal(text)
            case .boolean(let truth): .boolean(truth)
            case .integer(let number): .integer(number)
            case .duration(let seconds): .duration(seconds)
            case .place(let place): .placeName(place.name)
            case .map(let entries): .map(entries.map { [$0.name, $0.template.text] })
            }
        }
        return try LedgerJSON.encode(Whole(timeZone: timeZone.identifier, given: given.sorted(), all: stored))
    }

    /// - Parameter places: the configured places. A place that is not configured any more has no path.
    /// - Throws: `Fault` if the text, a template or the time zone is unknown here.
    init(json: String, for declaration: ActionDeclaration, in places: PlaceMap) throws {
        let whole = try LedgerJSON.decode(Whole.self, from: json)
        guard let timeZone = Zone(identifier: whole.timeZone) else {
            throw Fault(
                .failed,
                "the ledger holds the time zone \(printable(whole.timeZone)), which this system does not know: install "
                    + "tzdata, and tzdata-legacy for an old name")
        }
        func template(_ text: String) throws -> Template {
            do {
                return try Template(text)
            } catch {
                throw Fault(.failed, "the ledger holds a template that this version cannot read: \(error.message)")
            }
        }
        func place(_ name: String) -> Argument {
            .place(places[name: name] ?? PlaceInfo(name: name, kind: .folder, root: ""))
        }
        let all = try whole.all.mapValues { stored -> Argument in
            switch stored {
            case .template(let text): .template(try template(text))
            case .templates(let texts): .templates(try texts.map(template))
            case .literal(let text): .literal(text)
            case .boolean(let truth): .boolean(truth)
            case .integer(let number): .integer(number)
            case .duration(let seconds): .duration(seconds)
            case .placeName(let name): place(name)
            case .place(let known): place(known.name)
            case .map(let entries): .map(try entries.map { ($0[0], try template($0[1])) })
            }
        }
        self.init(
            action: declaration.name, timeZone: timeZone, all: all,
            given: Set(whole.given), areStored: true)
    }
}

import Foundation
import Platform

/// The parameters of one step, checked when the rule was loaded.
///
/// Each accessor throws `Fault(.fatal)` if the action asks for a parameter that it did not declare or declared with
/// another kind, or for an optional one that is absent and has no default: check ``has(_:)`` first.
package struct Arguments: Sendable {
    package enum Argument: Sendable {
        case template(Template)
        case templates([Template])
        case literal(String)
        case boolean(Bool)
        case integer(Int)
        case duration(Double)
        case place(PlaceInfo)
        /// In file order.
        case map([(name: String, template: Template)])
    }

    package let action: String
    /// For the `date` filter of templates.
    package let timeZone: Zone
    /// By parameter, including defaults.
    package let all: [String: Argument]
    /// The parameters given in the rule.
    package let given: Set<String>
    /// Whether they come from the ledger: the rule was valid once, but the configuration may have changed since.
    package let areStored: Bool

    package init(
        action: String, timeZone: Zone, all: [String: Argument], given: Set<String>, areStored: Bool = false
    ) {
        self.action = action
        self.timeZone = timeZone
        self.all = all
        self.given = given
        self.areStored = areStored
    }

    /// Whether the rule gives the parameter, or it has a default.
    package func has(_ name: String) -> Bool { all[name] != nil }

    /// A `.template`, rendered.
    package func text(_ name: String, values: Values) throws -> String {
        try template(name).rendered(TemplateContext(values: values, timeZone: timeZone))
    }

    /// A `.templateList`, rendered.
    package func texts(_ name: String, values: Values) throws -> [String] {
        let context = TemplateContext(values: values, timeZone: timeZone)
        return try templates(name).map { try $0.rendered(context) }
    }

    /// A `.templateList`, as it is written.
    package func templates(_ name: String) throws -> [Template] {
        guard case .templates(let templates) = try argument(name) else { throw mistaken(name) }
        return templates
    }

    /// A `.templateMap`, rendered, in file order.
    package func map(_ name: String, values: Values) throws -> [(name: String, text: String)] {
        guard case .map(let entries) = try argument(name) else { throw mistaken(name) }
        let context = TemplateContext(values: values, timeZone: timeZone)
        return try entries.map { ($0.name, try $0.template.rendered(context)) }
    }

    package func template(_ name: String) throws -> Template {
        guard case .template(let template) = try argument(name) else { throw mistaken(name) }
        return template
    }

    package func literal(_ name: String) throws -> String {
        guard case .literal(let text) = try argument(name) else { throw mistaken(name) }
        return text
    }

    package func choice(_ name: String) throws -> String { try literal(name) }

    /// A `.choice` whose words are the raw values of an enum.
    package func choice<C: RawRepresentable<String>>(_ name: String, as type: C.Type) throws -> C {
        guard let choice = C(rawValue: try literal(name)) else { throw mistaken(name) }
        return choice
    }

    package func bool(_ name: String) throws -> Bool {
        guard case .boolean(let truth) = try argument(name) else { throw mistaken(name) }
        return truth
    }

    package func int(_ name: String) throws -> Int {
        guard case .integer(let number) = try argument(name) else { throw mistaken(name) }
        return number
    }

    /// Seconds.
    package func duration(_ name: String) throws -> Double {
        guard case .duration(let seconds) = try argument(name) else { throw mistaken(name) }
        return seconds
    }

    package func place(_ name: String) throws -> PlaceInfo {
        guard case .place(let place) = try argument(name) else { throw mistaken(name) }
        return place
    }

    /// The places that the step names, for ``RuleCheck``.
    package var places: [PlaceInfo] {
        all.keys.sorted().compactMap { if case .place(let place)? = all[$0] { place } else { nil } }
    }

    /// The names of all values that the step's templates use.
    package var valueNames: Set<String> { Set(templates.flatMap { $0.references.map(\.name) }) }

    private var templates: [Template] {
        all.values.flatMap { argument -> [Template] in
            switch argument {
            case .template(let template): [template]
            case .templates(let templates): templates
            case .map(let entries): entries.map(\.template)
            case .literal, .boolean, .integer, .duration, .place: []
            }
        }
    }

    private func argument(_ name: String) throws -> Argument {
        guard let argument = all[name] else {
            throw Fault(
                .fatal, "`\(action)` asks for its parameter `\(name)`, which the rule does not give; this is a bug")
        }
        return argument
    }

    private func mistaken(_ name: String) -> Fault {
        Fault(.fatal, "`\(action)` reads its parameter `\(name)` as another kind than it declares; this is a bug")
    }
}

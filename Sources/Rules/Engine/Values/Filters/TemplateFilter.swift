import Foundation
import Platform

/// A filter for values, declared once for the loader, the schema and the manual.
package struct TemplateFilter: Sendable {
    package enum Argument: Sendable {
        case none
        case required
        case optional
    }

    /// The text after a filter's name: `format: "d. MMMM", locale: de`.
    struct Setting: Sendable {
        /// Empty if there is none.
        var argument = ""
        var options: [String: String] = [:]
    }

    package let name: String
    package let summary: String
    /// A whole `{{ … }}`.
    package let example: String
    let argument: Argument
    /// Names of the options allowed after a quoted argument: `, locale: de`.
    let options: [String]
    /// Returns the error in a setting, or nil.
    let fault: @Sendable (Setting) -> String?
    /// The other value that an argument refers to, if any.
    let reference: @Sendable (String) -> String?
    /// How a filter treats the value's markup in Markdown; such a filter must be the last.
    let markup: Markup?
    let apply: @Sendable (FilterCall) throws -> Value?

    init(
        name: String, summary: String, example: String, argument: Argument, options: [String] = [],
        fault: @escaping @Sendable (Setting) -> String? = { _ in nil },
        reference: @escaping @Sendable (String) -> String? = { _ in nil }, markup: Markup? = nil,
        apply: @escaping @Sendable (FilterCall) throws -> Value?
    ) {
        self.name = name
        self.summary = summary
        self.example = example
        self.argument = argument
        self.options = options
        self.fault = fault
        self.reference = reference
        self.markup = markup
        self.apply = apply
    }

    /// Sorted by name.
    package static let all: [TemplateFilter] = (basic + dates + numbers + texts).sorted { $0.name < $1.name }

    package static func named(_ name: String) -> TemplateFilter? { all.first { $0.name == name } }

    /// - Parameters:
    ///   - argument: nil if the template gives none.
    ///   - options: those given in the template.
    ///   - place: of the filter in its template.
    /// - Returns: the setting, if it is valid.
    func checked(
        _ argument: String?, _ options: [String: String], _ place: Template.Place
    ) throws(Template.Fault) -> Setting {
        func refused(_ message: String) -> Template.Fault {
            Template.Fault(message: message, hint: "as in `\(example)`", place: place)
        }
        switch (self.argument, argument) {
        case (.none, .some):
            throw Template.Fault(message: "the filter `\(name)` takes no argument", hint: nil, place: place)
        case (.required, .none): throw refused("the filter `\(name)` needs an argument")
        default: break
        }
        for option in options.keys.sorted() where !self.options.contains(option) {
            throw refused("the filter `\(name)` has no option `\(printable(option))`")
        }
        let setting = Setting(argument: argument ?? "", options: options)
        guard argument != nil, let message = fault(setting) else { return setting }
        throw refused(message)
    }
}

/// A filter with its setting.
struct AppliedFilter: Sendable {
    let filter: TemplateFilter
    let setting: TemplateFilter.Setting

    func apply(_ value: Value?, _ name: String, _ context: TemplateContext) throws -> Value? {
        try filter.apply(FilterCall(value: value, setting: setting, name: name, context: context))
    }
}

/// One call of a filter.
struct FilterCall: Sendable {
    /// nil if nothing provides it.
    let value: Value?
    let setting: TemplateFilter.Setting
    /// The value's name, for messages.
    let name: String
    let context: TemplateContext

    var argument: String { setting.argument }
    var timeZone: Zone { context.timeZone }

    /// The value as text; nil if it is missing or empty.
    var text: String? {
        guard let text = value?.shown(timeZone), !text.isEmpty else { return nil }
        return text
    }

    /// The value with its text transformed, or each text of a list.
    func mapped(_ change: (String) -> String) -> Value? { value.map { $0.mapped(timeZone, change) } }

    /// The message for the person who has to fix a file or a rule.
    func refusal(_ value: Value, holds what: String, _ advice: String) -> Fault {
        Fault(.refused, "`\(name)` holds no \(what) but `\(printable(value.shown(timeZone)))`; \(advice)")
    }
}

extension Value {
    /// The value without filters: dates as ISO 8601 with the zone's offset, lists with commas.
    package func shown(_ timeZone: Zone) -> String {
        switch self {
        case .text(let text): text
        case .integer(let number): String(number)
        case .boolean(let truth): truth ? "true" : "false"
        case .date(let time): Value.local(timeZone.local(at: time)).shown(timeZone)
        case .local(let local): DateFormat("%FT%T%z", timeZone: timeZone).string(local)
        case .list(let items): items.map { $0.shown(timeZone) }.joined(separator: ", ")
        }
    }

    func json(_ timeZone: Zone) -> JSON {
        switch self {
        case .text, .date, .local: .string(shown(timeZone))
        case .integer(let number): .integer(number)
        case .boolean(let truth): .bool(truth)
        case .list(let items): .array(items.map { $0.json(timeZone) })
        }
    }

    func mapped(_ timeZone: Zone, _ change: (String) -> String) -> Value {
        guard case .list(let items) = self else { return .text(change(shown(timeZone))) }
        return .list(items.map { $0.mapped(timeZone, change) })
    }
}

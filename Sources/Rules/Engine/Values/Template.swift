import Foundation
import Platform

/// The input for rendering a template.
package struct TemplateContext: Sendable {
    package let values: Values
    /// For the `date` filter; never that of the process.
    package let timeZone: Zone

    package init(values: Values, timeZone: Zone) {
        self.values = values
        self.timeZone = timeZone
    }
}

/// Text with `{{ name | filter: argument }}` in it. Rendered in one pass, without logic. Values are data and never
/// parsed as templates. `\{{` or `{{ "{{" }}` gives literal braces.
package struct Template: Sendable {
    /// A value used by the template, with its position.
    package struct Reference: Sendable {
        package let name: String
        package let place: Place
    }

    /// A position in a template: the zero-based number of the `{{`, and the characters after it.
    package struct Place: Sendable, Hashable {
        package let braces: Int
        package let offset: Int

        package init(braces: Int, offset: Int) {
            self.braces = braces
            self.offset = offset
        }
    }

    package struct Fault: Error, Sendable {
        package let message: String
        package let hint: String?
        package let place: Place
    }

    enum Segment: Sendable {
        case text(String)
        case value(String, Markup)
    }

    private enum Source: Sendable {
        case name(String)
        case text(String)
    }

    private enum Part: Sendable {
        case text(String)
        case value(Source, [AppliedFilter])
    }

    /// The source text.
    package let text: String
    private let parts: [Part]
    /// In text order.
    package let references: [Reference]

    /// - Throws: ``Fault``, the first one.
    package init(_ text: String) throws(Fault) {
        let (template, faults) = Self.read(text)
        if let fault = faults.first { throw fault }
        self = template
    }

    /// Parses as much of a template as possible and returns all errors. Skips unknown filters; malformed braces end
    /// parsing.
    package static func read(_ text: String) -> (Template, [Fault]) {
        var scanner = TemplateScanner(text)
        var parts: [Part] = []
        var references: [Reference] = []
        var faults: [Fault] = []
        do throws(Fault) {
            while !scanner.isAtEnd {
                if scanner.skip("\\{{") {
                    scanner.braces += 1
                    parts.append(.text("{{"))
                } else if scanner.skip("{{") {
                    scanner.enterBraces()
                    parts.append(try value(&scanner, &references, &faults))
                } else {
                    parts.append(.text(String(scanner.next())))
                }
            }
        } catch {
            faults.append(error)
        }
        return (Template(text: text, parts: joined(parts), references: references), faults)
    }

    private init(text: String, parts: [Part], references: [Reference]) {
        self.text = text
        self.parts = parts
        self.references = references
    }

    /// Text without values.
    package init(literal: String) {
        text = literal
        parts = [.text(literal)]
        references = []
    }

    /// - Throws: `Fault(.refused)` if a filter rejects a value, such as an invalid date.
    package func rendered(_ context: TemplateContext) throws -> String {
        try rendered(context) { value, _ in value }
    }

    /// As ``rendered(_:)``, with each value passed through `guarding` together with its position.
    func rendered(_ context: TemplateContext, guarding: (String, TemplatePiece) -> String) throws -> String {
        var out = ""
        for part in parts {
            switch part {
            case .text(let text): out += text
            case .value(let source, let filters):
                let name = if case .name(let name) = source { name } else { "" }
                let piece = TemplatePiece(
                    name: name, beginsText: out.isEmpty, beginsPart: out.isEmpty || out.hasSuffix("/"))
                out += guarding(try Self.render(source, filters, context), piece)
            }
        }
        return out
    }

    /// For ``SafeMarkdown``: the template's own text, and each value with the treatment of its markup.
    /// ``SafeMarkdown`` applies the filter for that itself.
    func segments(_ context: TemplateContext) throws -> [Segment] {
        try parts.map { part in
            switch part {
            case .text(let text): return .text(text)
            case .value(let source, let filters):
                let markup = filters.last?.filter.markup
                let others = markup == nil ? filters : filters.dropLast()
                return .value(try Self.render(source, others, context), markup ?? .escaped)
            }
        }
    }

    private static func render(_ source: Source, _ filters: [AppliedFilter], _ context: TemplateContext) throws
        -> String
    {
        var value: Value? =
            switch source {
            case .name(let name): context.values[name]
            case .text(let text): .text(text)
            }
        let name = if case .name(let name) = source { name } else { "text" }
        for filter in filters { value = try filter.apply(value, name, context) }
        return value?.shown(context.timeZone) ?? ""
    }

    private static func value(
        _ scanner: inout TemplateScanner, _ references: inout [Reference], _ faults: inout [Fault]
    ) throws(Fault) -> Part {
        scanner.skipSpaces()
        let source: Source
        let start = scanner.place
        if let quoted = try scanner.quoted() {
            source = .text(quoted)
        } else {
            let word = scanner.word()
            guard !word.isEmpty else {
                throw Fault(
                    message: "`{{` needs the name of a value", hint: "write `\\{{` for the braces themselves",
                    place: start)
            }
            let (name, key) = try planned(word, &scanner)
            source = .name(name)
            references += [name, key].compactMap { $0 }.map { Reference(name: $0, place: start) }
        }
        var filters: [AppliedFilter] = []
        while true {
            scanner.skipSpaces()
            if scanner.skip("}}") { return .value(source, filters) }
            guard scanner.skip("|") else {
                if scanner.isAtEnd { throw scanner.unclosed }
                throw Fault(
                    message: "`\(printable(String(scanner.peek)))` is not understood here",
                    hint: "write `{{ name | filter: argument }}`", place: scanner.place)
            }
            scanner.skipSpaces()
            let place = scanner.place
            let name = scanner.word()
            scanner.skipSpaces()
            var argument: String?
            var options: [String: String] = [:]
            if scanner.skip(":") {
                scanner.skipSpaces()
                if let quoted = try scanner.quoted() {
                    argument = quoted
                    options = try scanner.options()
                } else {
                    argument = scanner.bareArgument()
                }
            }
            guard let spec = TemplateFilter.named(name) else {
                let hint = Suggest.hint(for: name, among: TemplateFilter.all.map(\.name))
                faults.append(Fault(message: "unknown filter `\(printable(name))`", hint: hint, place: place))
                continue
            }
            if let last = filters.last?.filter, last.markup != nil {
                faults.append(
                    Fault(message: "nothing can follow the filter `\(last.name)`", hint: "put it last", place: place))
                continue
            }
            do throws(Fault) {
                let setting = try spec.checked(argument, options, place)
                filters.append(AppliedFilter(filter: spec, setting: setting))
                if let named = spec.reference(setting.argument) {
                    references.append(Reference(name: named, place: place))
                }
            } catch {
                faults.append(error)
            }
        }
    }

    /// The full name of a value that is fixed at planning, `counter:NAME` or `lookup:TABLE.COLUMN[KEY]`, and the name
    /// of the value that holds its key.
    private static func planned(
        _ word: String, _ scanner: inout TemplateScanner
    ) throws(Fault) -> (name: String, key: String?) {
        guard ["counter", "lookup"].contains(word), scanner.skip(":") else { return (word, nil) }
        let place = scanner.place
        let text = scanner.bareArgument()
        if word == "counter" {
            if let message = CounterName.fault(text) { throw Fault(message: message, hint: nil, place: place) }
            return (CounterName.prefix + text, nil)
        }
        guard let name = LookupName(value: LookupName.prefix + text) else {
            throw Fault(
                message: "a look-up is written `lookup:table.column[value]`",
                hint: "as in `{{ lookup:customers.email[match.id] }}`", place: place)
        }
        return (name.value, name.key)
    }

    private static func joined(_ parts: [Part]) -> [Part] {
        var result: [Part] = []
        for part in parts {
            if case .text(let new) = part, case .text(let old)? = result.last {
                result[result.count - 1] = .text(old + new)
            } else {
                result.append(part)
            }
        }
        return result
    }
}

import Foundation
import JSONText
import Platform

/// What a filter makes of a value; declared once, here, for the loader, the schema and the manual.
package struct TemplateFilter: Sendable {
    package enum Argument: Sendable {
        case none
        case required
        case optional
    }

    package let name: String
    package let summary: String
    /// A whole `{{ … }}`.
    package let example: String
    let argument: Argument
    /// Says what is wrong with an argument.
    let fault: @Sendable (String) -> String?
    /// What becomes of the value's markup in Markdown, for a filter that says so; it stands last.
    var markup: Markup?
    /// Takes the value (nil: not provided), the argument, the value's name and the context.
    let apply: @Sendable (Value?, String, String, TemplateContext) throws -> Value?

    package static let all: [TemplateFilter] = [
        TemplateFilter(
            name: "default", summary: "The argument where the value is missing or empty.",
            example: "{{ front.title | default: \"untitled\" }}", argument: .required, fault: { _ in nil }
        ) { value, argument, _, context in
            guard let value, !value.shown(context.timeZone).isEmpty else { return .text(argument) }
            return value
        },
        TemplateFilter(
            name: "date",
            summary:
                "A date in the agent's time zone, by strftime's letters: "
                + "`%Y %m %d %H %M %S %j %y %e %B %b %A %a %V %u %z %s %F %T %%`. "
                + "Text that begins with an ISO 8601 date is understood too.",
            example: "{{ arrived | date: \"%Y-%m-%d %H%M\" }}", argument: .required, fault: DateFormat.fault
        ) { value, argument, name, context in
            guard let value, !value.shown(context.timeZone).isEmpty else { return nil }
            guard let date = DateFormat.date(value, context.timeZone) else {
                throw Fault(
                    .refused,
                    "`\(name)` holds no date but `\(printable(value.shown(context.timeZone)))`; write it as 2026-11-21")
            }
            return .text(DateFormat(argument, timeZone: context.timeZone).string(date))
        },
        TemplateFilter(
            name: "json", summary: "The value as JSON: text in quotes, lists in brackets.",
            example: "{{ file.name | json }}", argument: .none, fault: { _ in nil }
        ) { value, _, _, context in
            .text(value?.json(context.timeZone).line ?? "null")
        },
        TemplateFilter(
            name: "md",
            summary:
                "In Markdown, the value as plain text: all of its own markup is escaped, and `*` is an asterisk. Stands last.",
            example: "**{{ comic.title | md }}**", argument: .none, fault: { _ in nil }, markup: .escaped
        ) { value, _, _, context in
            value.map { .text(SafeMarkdown.escaped($0.shown(context.timeZone))) }
        },
        TemplateFilter(
            name: "raw",
            summary:
                "In Markdown, the value as it is, on purpose: its tags, pictures and links work. In the `text` of "
                + "`write-note` its lines stay, too, and only an anchor at the beginning of one is escaped; in other "
                + "places it still is one line that begins no block. Stands last.",
            example: "{{ file.text | raw }}", argument: .none, fault: { _ in nil }, markup: .raw
        ) { value, _, _, _ in value },
        TemplateFilter(
            name: "slug",
            summary: "Lower-case letters `a-z`, digits and single hyphens only, for file names and links.",
            example: "{{ file.stem | slug }}", argument: .none, fault: { _ in nil }
        ) { value, _, _, context in
            value.map { .text(slug($0.shown(context.timeZone))) }
        },
        TemplateFilter(
            name: "truncate", summary: "At most so many characters, the last one `…` where something was cut.",
            example: "{{ block.text | truncate: 60 }}", argument: .required,
            fault: {
                Int($0).map { $0 > 0 && $0 <= 1_000_000 } == true
                    ? nil : "`truncate` needs a number of characters, from 1"
            }
        ) { value, argument, _, context in
            guard let text = value?.shown(context.timeZone), let limit = Int(argument) else { return nil }
            return .text(text.count > limit ? text.prefix(limit - 1) + "…" : text)
        },
    ]

    package static func named(_ name: String) -> TemplateFilter? { all.first { $0.name == name } }

    func checked(_ argument: String?, _ place: Template.Place) throws(Template.Fault) -> String {
        switch (self.argument, argument) {
        case (.none, .some):
            throw Template.Fault(message: "the filter `\(name)` takes no argument", hint: nil, place: place)
        case (.required, .none):
            throw Template.Fault(
                message: "the filter `\(name)` needs an argument", hint: "as in `\(example)`", place: place)
        case (_, let argument?):
            if let message = fault(argument) {
                throw Template.Fault(message: message, hint: "as in `\(example)`", place: place)
            }
            return argument
        case (_, .none): return ""
        }
    }

    private static func slug(_ text: String) -> String {
        let folded = text.folding(options: [.diacriticInsensitive, .caseInsensitive, .widthInsensitive], locale: nil)
            .lowercased()
            .replacing("ß", with: "ss")
        let kept = folded.unicodeScalars.map { scalar -> Character in
            ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) ? Character(scalar) : "-"
        }
        return kept.split(separator: "-").map { String($0) }.joined(separator: "-")
    }
}

/// A filter with its argument.
struct AppliedFilter: Sendable {
    let filter: TemplateFilter
    let argument: String

    func apply(_ value: Value?, _ name: String, _ context: TemplateContext) throws -> Value? {
        try filter.apply(value, argument, name, context)
    }
}

extension Value {
    /// As a template without filters shows it: dates as ISO 8601 with the zone's offset, lists with commas.
    package func shown(_ timeZone: TimeZone) -> String {
        switch self {
        case .text(let text): text
        case .integer(let number): String(number)
        case .boolean(let truth): truth ? "true" : "false"
        case .date(let time): DateFormat("%Y-%m-%dT%H:%M:%S%z", timeZone: timeZone).string(time)
        case .list(let items): items.map { $0.shown(timeZone) }.joined(separator: ", ")
        }
    }

    func json(_ timeZone: TimeZone) -> JSON {
        switch self {
        case .text, .date: .string(shown(timeZone))
        case .integer(let number): .integer(number)
        case .boolean(let truth): .bool(truth)
        case .list(let items): .array(items.map { $0.json(timeZone) })
        }
    }
}

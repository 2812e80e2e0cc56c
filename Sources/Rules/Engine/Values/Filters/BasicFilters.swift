import Foundation
import Platform

extension TemplateFilter {
    static let basic: [TemplateFilter] = [
        TemplateFilter(
            name: "default", summary: "The argument where the value is missing or empty.",
            example: "{{ front.title | default: \"untitled\" }}", argument: .required
        ) { call in call.text == nil ? .text(call.argument) : call.value },
        TemplateFilter(
            name: "json", summary: "The value as JSON: text in quotes, lists in brackets.",
            example: "{{ file.name | json }}", argument: .none
        ) { call in .text(call.value?.json(call.timeZone).line ?? "null") },
        TemplateFilter(
            name: "md",
            summary:
                "In Markdown, the value as plain text, as without a filter: its own markup is escaped, and `*` is an asterisk. "
                + "Stands last.",
            example: "**{{ comic.title | md }}**", argument: .none, markup: .escaped
        ) { call in call.value.map { .text(SafeMarkdown.escaped($0.shown(call.timeZone))) } },
        TemplateFilter(
            name: "raw",
            summary:
                "In Markdown, the value as it is, on purpose: its tags, pictures and links work. In the `text` of "
                + "`write-note` its lines stay, too, and only an anchor at the beginning of one is escaped; in other "
                + "places it still is one line that begins no block. Stands last.",
            example: "{{ file.text | raw }}", argument: .none, markup: .raw
        ) { $0.value },
        TemplateFilter(
            name: "truncate", summary: "At most so many characters, the last one `…` where something was cut.",
            example: "{{ block.text | truncate: 60 }}", argument: .required,
            fault: {
                Int($0.argument).map { $0 > 0 && $0 <= 1_000_000 } == true
                    ? nil : "`truncate` needs a number of characters, from 1"
            }
        ) { call in
            guard let text = call.value?.shown(call.timeZone), let limit = Int(call.argument) else { return nil }
            return .text(text.count > limit ? text.prefix(limit - 1) + "…" : text)
        },
    ]
}

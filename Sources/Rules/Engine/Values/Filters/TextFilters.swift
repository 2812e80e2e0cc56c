import Foundation
import Platform

extension TemplateFilter {
    static let texts: [TemplateFilter] = [
        TemplateFilter(
            name: "ascii",
            summary:
                "Letters of any script as plain ones: `Łódź` is `Lodz`, `Привет` is `Privet`. By a language where one is "
                + "named: `ä` is `ae` with `de`, `ø` is `oe` with `da`, `nb` and `nn`. What has no plain letter is left out.",
            example: "{{ file.stem | ascii: de | slug }}", argument: .optional,
            fault: { Transliteration.fault($0.argument) }
        ) { call in call.mapped { Transliteration.ascii($0, language: call.argument) } },
        TemplateFilter(
            name: "first", summary: "The first one of a list.", example: "{{ front.tags | first }}", argument: .none
        ) { call in
            guard case .list(let items)? = call.value else { return call.value }
            return items.first
        },
        TemplateFilter(
            name: "join", summary: "A list as text, with this between any two.",
            example: "{{ front.authors | join: \" and \" }}", argument: .required
        ) { call in
            guard case .list(let items)? = call.value else { return call.value }
            return .text(items.map { $0.shown(call.timeZone) }.joined(separator: call.argument))
        },
        TemplateFilter(
            name: "last", summary: "The last one of a list.",
            example: "{{ file.folder | split: \"/\" | last }}", argument: .none
        ) { call in
            guard case .list(let items)? = call.value else { return call.value }
            return items.last
        },
        TemplateFilter(
            name: "lower", summary: "In small letters.", example: "{{ file.stem | lower }}", argument: .none
        ) { call in call.mapped { $0.lowercased() } },
        TemplateFilter(
            name: "match",
            summary:
                "What a regular expression finds first: all of it, or what its first named group has taken, or the one that "
                + "`group` names. Nothing where it finds nothing.",
            example: "{{ file.stem | match: \"RE-(?<year>\\d{4})-(?<number>\\d+)\", group: number }}",
            argument: .required, options: ["group"], fault: faultOfPattern
        ) { call in
            guard let text = call.text, let pattern = TextPattern(call.argument) else { return nil }
            switch pattern.firstMatch(in: text) {
            case .none: return nil
            case .gaveUp:
                throw Fault(
                    .refused,
                    "searching `\(call.name)` for `\(printable(call.argument))` takes too long; simplify the pattern")
            case .found(let whole, let values):
                let group = call.setting.options["group"].map { "match.\($0)" } ?? pattern.provides.first?.name
                return group.map { values[$0] } ?? .text(whole)
            }
        },
        TemplateFilter(
            name: "replace",
            summary: "With each place where the argument stands replaced by `with`, or left out without it.",
            example: "{{ file.stem | replace: \"_\", with: \" \" }}", argument: .required, options: ["with"],
            fault: { $0.argument.isEmpty ? "`replace` needs the text to be replaced" : nil }
        ) { call in
            call.mapped { $0.replacingOccurrences(of: call.argument, with: call.setting.options["with"] ?? "") }
        },
        TemplateFilter(
            name: "safe-name",
            summary:
                "As a file may be called on every system, Windows and exFAT too: `A: B?` is `A - B_`, `CON` is `CON_`.",
            example: "{{ front.title | safe-name }}", argument: .none
        ) { call in
            call.mapped {
                let line = SafeText.withoutSlashes(SafeText.withoutControls($0))
                return String(decoding: PortableName.of(Array(line.utf8)), as: UTF8.self)
            }
        },
        TemplateFilter(
            name: "slug",
            summary:
                "Lower-case letters `a-z`, digits and single hyphens only, for file names and links. Letters that have no "
                + "such form are lost: put `ascii` before it.",
            example: "{{ file.stem | slug }}", argument: .none
        ) { call in call.value.map { .text(slug($0.shown(call.timeZone))) } },
        TemplateFilter(
            name: "split",
            summary: "A list of the parts between which this stands, without spaces around them; empty ones go.",
            example: "{{ front.keywords | split: \",\" | first }}", argument: .required,
            fault: { $0.argument.isEmpty ? "`split` needs the text that stands between the parts" : nil }
        ) { call in
            guard let text = call.text else { return nil }
            let parts = text.components(separatedBy: call.argument).map {
                $0.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            return .list(parts.filter { !$0.isEmpty }.map { .text($0) })
        },
        TemplateFilter(
            name: "title", summary: "With a capital at the beginning of each word; the other letters stay.",
            example: "{{ file.stem | title }}", argument: .none
        ) { call in call.mapped(titled) },
        TemplateFilter(
            name: "trim", summary: "Without spaces and line breaks at its ends.", example: "{{ front.title | trim }}",
            argument: .none
        ) { call in call.mapped { $0.trimmingCharacters(in: .whitespacesAndNewlines) } },
        TemplateFilter(
            name: "upper", summary: "In capitals.", example: "{{ file.extension | upper }}", argument: .none
        ) { call in call.mapped { $0.uppercased() } },
    ]

    private static func faultOfPattern(_ setting: Setting) -> String? {
        guard !setting.argument.isEmpty, let pattern = TextPattern(setting.argument) else {
            return "`\(printable(setting.argument))` is no regular expression"
        }
        guard let group = setting.options["group"], !pattern.provides.contains(where: { $0.name == "match.\(group)" })
        else { return nil }
        return "the pattern has no group `\(printable(group))`; name one as in `(?<\(printable(group))>…)`"
    }

    private static func titled(_ text: String) -> String {
        var out = ""
        var beginsWord = true
        for character in text {
            out += beginsWord ? character.uppercased() : String(character)
            beginsWord = character.isWhitespace
        }
        return out
    }

    /// The result for a given name must never change: rules find earlier output by it.
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

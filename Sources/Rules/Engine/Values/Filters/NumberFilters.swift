import Foundation
import Platform

extension TemplateFilter {
    static let numbers: [TemplateFilter] = [
        TemplateFilter(
            name: "divided-by",
            summary: "The number divided by another, or by the value that is named; exact to 18 decimals.",
            example: "{{ front.total | divided-by: 12 | round: 2 }}", argument: .required,
            fault: { Operand.fault($0.argument, of: "divided-by") }, reference: Operand.reference
        ) { call in
            try call.calculated { number, other in
                guard other != 0 else { throw Fault(.refused, "`\(call.name)` cannot be divided by nothing") }
                return number / other
            }
        },
        TemplateFilter(
            name: "minus",
            summary: "A number less another, or less the value that is named; a date so long before: `30d`, `1 month`.",
            example: "{{ front.due | minus: 2w | date: %F }}", argument: .required,
            fault: { Operand.fault($0.argument, of: "minus", takesSpans: true) }, reference: Operand.reference
        ) { call in try call.shifted(-1) ?? call.calculated { $0 - $1 } },
        TemplateFilter(
            name: "pad", summary: "With noughts before it, so many characters at least: `0042`.",
            example: "{{ counter:invoices | pad: 4 }}", argument: .required,
            fault: {
                Int($0.argument).map { (1...100).contains($0) } == true ? nil : "`pad` needs a number from 1 to 100"
            }
        ) { call in
            guard let text = call.text, let width = Int(call.argument) else { return nil }
            let sign = text.hasPrefix("-") ? "-" : ""
            let digits = text.dropFirst(sign.count)
            return .text(sign + String(repeating: "0", count: max(0, width - text.count)) + digits)
        },
        TemplateFilter(
            name: "plus",
            summary:
                "A number and another, or the value that is named; a date so long after: `30d`, `1 month`, `2 years 3 months`.",
            example: "{{ arrived | plus: 1 month | date: %F }}", argument: .required,
            fault: { Operand.fault($0.argument, of: "plus", takesSpans: true) }, reference: Operand.reference
        ) { call in try call.shifted(1) ?? call.calculated { $0 + $1 } },
        TemplateFilter(
            name: "round", summary: "To the next whole number, or with so many decimals, all of them shown: `12.50`.",
            example: "{{ front.total | times: 1.19 | round: 2 }}", argument: .optional,
            fault: {
                Int($0.argument).map { (0...12).contains($0) } == true ? nil : "`round` needs a number from 0 to 12"
            }
        ) { call in try call.number().map { .text(DecimalText.rounded($0, Int(call.argument) ?? 0)) } },
        TemplateFilter(
            name: "size",
            summary:
                "Bytes as people read them, `1.4 MiB`: in the unit that is named "
                + "(\(DecimalText.unitNames)), else in the one that fits.",
            example: "{{ file.size | size: MiB }}", argument: .optional,
            fault: { setting in
                DecimalText.units.contains { $0.name == setting.argument }
                    ? nil : "`\(printable(setting.argument))` is no unit of sizes"
            }
        ) { call in try call.number().map { .text(DecimalText.size($0, call.argument)) } },
        TemplateFilter(
            name: "times", summary: "The number multiplied by another, or by the value that is named.",
            example: "{{ front.total | times: 1.19 | round: 2 }}", argument: .required,
            fault: { Operand.fault($0.argument, of: "times") }, reference: Operand.reference
        ) { call in try call.calculated { $0 * $1 } },
    ]
}

/// The operand of a filter: a number, a span of time, or the name of a value.
enum Operand {
    static func fault(_ text: String, of filter: String, takesSpans: Bool = false) -> String? {
        if DecimalText.number(text) != nil || takesSpans && CalendarSpan(text) != nil || isName(text) { return nil }
        return
            "`\(filter)` needs a number\(takesSpans ? ", a span of time such as `30d`" : "") or the name of a value, "
            + "not `\(printable(text))`"
    }

    static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first.properties.isAlphabetic else { return false }
        return text.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "._-".unicodeScalars.contains($0)
        }
    }

    static func reference(_ text: String) -> String? {
        DecimalText.number(text) == nil && CalendarSpan(text) == nil && isName(text) ? text : nil
    }
}

extension FilterCall {
    /// The number in the value; nil if it is missing or empty.
    ///
    /// - Throws: `Fault(.refused)` for anything else.
    func number() throws -> Decimal? {
        guard let value, let text else { return nil }
        if let number = DecimalText.number(text) { return number }
        throw refusal(value, holds: "number", "write it as 1234.50, with a point and nothing else between the digits")
    }

    /// The result of the operation on value and argument; nil if one of them is missing.
    func calculated(_ operation: (Decimal, Decimal) throws -> Decimal) throws -> Value? {
        let other = DecimalText.number(argument)
        let named = FilterCall(value: context.values[argument], setting: setting, name: argument, context: context)
        guard let left = try number(), let right = try other ?? named.number() else { return nil }
        let result = try operation(left, right)
        guard let value = DecimalText.value(result) else {
            throw Fault(
                .refused,
                "calculating with `\(name)` gives a number of more than \(DecimalText.digits) digits before the point")
        }
        return value
    }

    /// The value as a date, shifted by the argument; nil if that is not a span of time. A missing value stays
    /// missing.
    func shifted(_ sign: Int) throws -> Value?? {
        guard let span = CalendarSpan(argument) else { return nil }
        guard let date = try self.date(), let shown = try local() else { return .some(nil) }
        guard let shifted = span.added(to: date, shown: shown, timeZone, times: sign) else {
            throw Fault(.refused, "`\(name)` leads to no date between 1678 and 2261")
        }
        return .some(.date(shifted))
    }
}

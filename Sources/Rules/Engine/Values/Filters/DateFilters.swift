import Platform

extension TemplateFilter {
    static let dates: [TemplateFilter] = [
        TemplateFilter(
            name: "date",
            summary:
                "A date in the agent's time zone, by strftime's letters: "
                + "`%Y %m %d %H %M %S %j %y %e %B %b %A %a %V %u %z %s %F %T %%`. "
                + "Text that begins with an ISO 8601 date is understood too.",
            example: "{{ arrived | date: \"%Y-%m-%d %H%M\" }}", argument: .required,
            fault: { DateFormat.fault($0.argument) }
        ) { call in
            try call.local().map { .text(DateFormat(call.argument, timeZone: call.timeZone).string($0)) }
        },
        TemplateFilter(
            name: "days-since",
            summary:
                "How many days of the calendar have passed from the date to the file's arrival, or to the date that is "
                + "named: never to today, so that a second try gives the same.",
            example: "{{ front.begun | days-since }}", argument: .optional, fault: { faultOfName($0.argument) },
            reference: otherDate
        ) { call in try days(call, sign: 1) },
        TemplateFilter(
            name: "days-until",
            summary:
                "The number of calendar days between the file's arrival, or the given date, and the date.",
            example: "{{ front.due | days-until }}", argument: .optional, fault: { faultOfName($0.argument) },
            reference: otherDate
        ) { call in try days(call, sign: -1) },
        TemplateFilter(
            name: "end-of",
            summary: "The last second of the date's \(CalendarTime.unitNames).",
            example: "{{ arrived | end-of: month | date: %F }}", argument: .required, fault: faultOfUnit
        ) { call in try bounds(call).map { .date($0.1) } },
        TemplateFilter(
            name: "format",
            summary:
                "A date in the agent's time zone, by the letters of Unicode's CLDR (`d MMMM yyyy`, `EEEE`, `HH:mm`, text in "
                + "single quotes), with names in the language of `locale`, by default English.",
            example: "{{ arrived | format: \"d. MMMM yyyy\", locale: de }}", argument: .required, options: ["locale"],
            fault: LocaleFormat.fault
        ) { call in
            guard let date = try call.date(), let local = try call.local() else { return nil }
            return .text(
                LocaleFormat.string(
                    date, local, call.argument, locale: call.setting.options["locale"], call.timeZone))
        },
        TemplateFilter(
            name: "start-of",
            summary:
                "The first second of the date's \(CalendarTime.unitNames); "
                + "weeks begin on Mondays.",
            example: "{{ arrived | start-of: week | date: %F }}", argument: .required, fault: faultOfUnit
        ) { call in try bounds(call).map { .date($0.0) } },
    ]

    private static func faultOfUnit(_ setting: Setting) -> String? {
        CalendarTime.units.contains(setting.argument)
            ? nil : "`\(printable(setting.argument))` is none of \(CalendarTime.units.joined(separator: ", "))"
    }

    private static func otherDate(_ argument: String) -> String? { argument.isEmpty ? nil : argument }

    private static func faultOfName(_ argument: String) -> String? {
        Operand.isName(argument) ? nil : "`\(printable(argument))` is not the name of a date"
    }

    private static func bounds(_ call: FilterCall) throws -> (Timestamp, Timestamp)? {
        guard let date = try call.local() else { return nil }
        return CalendarTime.bounds(call.argument, of: date, call.timeZone)
    }

    private static func days(_ call: FilterCall, sign: Int) throws -> Value? {
        let name = call.argument.isEmpty ? "arrived" : call.argument
        let other = FilterCall(
            value: call.context.values[name], setting: call.setting, name: name, context: call.context)
        guard let date = try call.local(), let reference = try other.local() else { return nil }
        return .integer(sign * (reference.civil.date.daysSince1970 - date.civil.date.daysSince1970))
    }
}

extension FilterCall {
    /// The date in the value; nil if it is missing or empty.
    ///
    /// - Throws: `Fault(.refused)` for anything else.
    func date() throws -> Timestamp? { try found(DateFormat.date) }

    /// The same as local time.
    func local() throws -> LocalTime? { try found(DateFormat.local) }

    private func found<Found>(_ read: (Value, Zone) -> Found?) throws -> Found? {
        guard let value, text != nil else { return nil }
        if let found = read(value, timeZone) { return found }
        throw refusal(value, holds: "date", "write it as 2026-11-21")
    }
}

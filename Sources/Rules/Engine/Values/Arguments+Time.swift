import Platform

extension Arguments {
    /// A `.template` that renders to a date, parsed as by the filter `date`; nil if it is not a date.
    package func time(_ name: String, values: Values) throws -> Timestamp? {
        DateFormat.date(.text(try text(name, values: values)), timeZone)
    }
}

import Platform

extension Arguments {
    /// A `.template` that renders to a date, read as the filter `date` reads one; nil where it is none.
    package func time(_ name: String, values: Values) throws -> Timestamp? {
        DateFormat.date(.text(try text(name, values: values)), timeZone)
    }
}

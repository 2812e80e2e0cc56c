/// The headers of a request or response, in order; names are case-insensitive and may be repeated.
public struct HeaderFields: Sendable {
    /// Names in their original case, and values.
    public private(set) var fields: [(name: String, value: String)]

    /// Headers from names and values.
    ///
    /// - Parameter fields: Names and values in order.
    public init(_ fields: [(String, String)] = []) {
        self.fields = fields.map { (name: $0.0, value: $0.1) }
    }

    /// All values of a header, in order.
    ///
    /// - Parameter name: The header, in any case.
    /// - Returns: Its values.
    public func values(_ name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    /// A header's first value; setting it replaces all of them, in place of the first one, and nil removes them.
    ///
    /// - Parameter name: The header, in any case.
    public subscript(name: String) -> String? {
        get { fields.first { Self.isSame($0.name, name) }?.value }
        set {
            let place = fields.firstIndex { Self.isSame($0.name, name) } ?? fields.endIndex
            fields.removeAll { Self.isSame($0.name, name) }
            if let newValue { fields.insert((name: name, value: newValue), at: place) }
        }
    }

    /// Appends a value to the existing ones.
    ///
    /// - Parameters:
    ///   - name: The header.
    ///   - value: The new value.
    public mutating func add(_ name: String, _ value: String) { fields.append((name: name, value: value)) }

    private static func isSame(_ one: String, _ other: String) -> Bool { one.lowercased() == other.lowercased() }
}

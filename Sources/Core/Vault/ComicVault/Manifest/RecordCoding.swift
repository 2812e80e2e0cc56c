import Platform

/// Writes the fields of a record in order, integers big-endian.
struct RecordEncoder {
    private(set) var bytes: [UInt8] = []

    mutating func integer(_ value: some FixedWidthInteger) { bytes += value.bigEndianBytes }

    /// Bytes of a fixed length.
    mutating func fixed(_ value: [UInt8]) { bytes += value }

    /// Length-prefixed bytes. The types' own checks have refused values that do not fit.
    mutating func counted(_ value: some Collection<UInt8>) {
        integer(UInt16(clamping: value.count))
        bytes += value.prefix(Int(UInt16.max))
    }

    mutating func text(_ value: String) { counted(Array(value.utf8)) }

    mutating func optional<T>(_ value: T?, _ write: (inout RecordEncoder, T) -> Void) {
        integer(UInt8(value == nil ? 0 : 1))
        if let value { write(&self, value) }
    }

    mutating func list<T>(_ values: some Collection<T>, _ write: (inout RecordEncoder, T) -> Void) {
        integer(UInt32(clamping: values.count))
        for value in values { write(&self, value) }
    }
}

/// Reads the output of ``RecordEncoder``, exactly to its last byte; each encoding has a single reading.
struct RecordDecoder {
    /// The bytes are not valid in this version of the format.
    struct Mismatch: Error {
        let field: String
    }

    private var reader: ByteReader

    init(_ bytes: [UInt8]) { reader = ByteReader(bytes) }

    mutating func integer<I: FixedWidthInteger>(_ field: String, _: I.Type = I.self) throws -> I {
        guard let value = reader.integer(I.self) else { throw Mismatch(field: field) }
        return value
    }

    mutating func fixed(_ field: String, _ count: Int) throws -> [UInt8] {
        guard let value = reader.read(count) else { throw Mismatch(field: field) }
        return value
    }

    mutating func counted(_ field: String) throws -> [UInt8] {
        try fixed(field, Int(try integer(field, UInt16.self)))
    }

    mutating func text(_ field: String) throws -> String {
        guard let text = String(validating: try counted(field), as: UTF8.self) else { throw Mismatch(field: field) }
        return text
    }

    mutating func identifier<I: VaultIdentifier>(_ field: String, _: I.Type = I.self) throws -> I {
        guard let value = I(bytes: try fixed(field, I.size)) else { throw Mismatch(field: field) }
        return value
    }

    mutating func optional<T>(_ field: String, _ read: (inout RecordDecoder) throws -> T) throws -> T? {
        switch try integer(field, UInt8.self) {
        case 0: nil
        case 1: try read(&self)
        default: throw Mismatch(field: field)
        }
    }

    mutating func list<T>(_ field: String, _ read: (inout RecordDecoder) throws -> T) throws -> [T] {
        let count = try integer(field, UInt32.self)
        // An element takes at least one byte: a false count is caught before memory is allocated for it.
        guard Int(count) <= reader.remaining else { throw Mismatch(field: field) }
        return try (0..<count).map { _ in try read(&self) }
    }

    var isAtEnd: Bool { reader.isAtEnd }

    func end() throws {
        guard isAtEnd else { throw Mismatch(field: "end") }
    }
}

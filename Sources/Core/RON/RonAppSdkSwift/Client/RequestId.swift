/// Ids that identify a call.
enum RequestId {
    private static let digits = Array("0123456789abcdef".utf8)

    /// A random UUID (RFC 9562, version 4), in lower case.
    ///
    /// Foundation's implementation opens `/dev/urandom` each time; this one asks the kernel directly, at a tenth of the
    /// cost.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { bytes in
            var place = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    bytes[place] = UInt8(ascii: "-")
                    place += 1
                }
                let half = nibble < 16 ? high : low
                bytes[place] = digits[Int(truncatingIfNeeded: half >> UInt64(60 - nibble % 16 * 4)) & 15]
                place += 1
            }
            return place
        }
    }
}

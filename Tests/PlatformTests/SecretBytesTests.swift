import Foundation
import Platform
import Testing

@Suite("Keys in memory")
struct SecretBytesTests {
    @Test("A key in memory that need not be locked is intact, however often it is read, and whatever its size")
    func lockedWherePossible() {
        // More than any user's limit on locked memory.
        for size in [0, 1, 32, 5_000, 3 << 20] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let secret = SecretBytes(lockedWherePossible: bytes)
            #expect(secret.count == size)
            #expect(secret.withBytes { Array($0) } == bytes)
            #expect(secret.matches(SecretBytes(lockedWherePossible: bytes)))
            #expect(!secret.matches(SecretBytes(lockedWherePossible: bytes + [1])))
        }
    }

    @Test("HMAC-SHA256 matches RFC 4231, wherever the key is and however the text is split")
    func known() throws {
        let key = Array("Jefe".utf8)
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        #expect(try hexadecimal(HMACSHA256.tag(key, Array("what do ya want for nothing?".utf8))) == expected)
        let parts = ["what do ya ", "", "want for nothing?"].map { Array($0.utf8) }
        #expect(try hexadecimal(HMACSHA256.tag(key, parts[0], parts[1], parts[2])) == expected)
        let secret = SecretBytes(lockedWherePossible: key)
        #expect(try hexadecimal(HMACSHA256.tag(secret, parts[0], parts[2])) == expected)
        let long = [UInt8](repeating: 0xAA, count: 131)
        let text = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            try hexadecimal(HMACSHA256.tag(long, text))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }
}

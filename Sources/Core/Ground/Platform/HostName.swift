import Glibc

/// The name of this machine, shortened to fit an A4 anchor suffix and a file name.
package func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    gethostname(&buffer, 255)
    let name = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let kept = String(decoding: name, as: UTF8.self).lowercased().unicodeScalars.filter {
        ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "-"
    }
    return kept.isEmpty ? "host" : String(String.UnicodeScalarView(kept.prefix(24)))
}

/// The container that the worker reads, by its bytes; ``ComicFileType`` tells files apart more finely.
package enum ContainerFormat: String, Sendable, Codable, CaseIterable {
    case zip, rar, rar5, sevenZip = "7z", tar, unknown
    /// Drawn by a foreign program, in the worker's second profile.
    case pdf
    /// A ZIP whose pages stand in the order of its spine.
    case epub

    /// How the worker's records name it.
    var code: UInt64 { UInt64(Self.allCases.firstIndex(of: self) ?? 255) }

    init?(code: UInt64) {
        guard code < UInt64(Self.allCases.count) else { return nil }
        self = Self.allCases[Int(code)]
    }

    /// - Parameter head: the first 1024 bytes, or all of a shorter file.
    package static func detect(_ head: [UInt8]) -> ContainerFormat {
        switch ComicFileType.family(of: head) {
        case .zip, .epub: .zip
        case .rar: head.starts(with: Rar5Headers.signature) ? .rar5 : .rar
        case .sevenZip: .sevenZip
        case .tar: .tar
        case .pdf: .pdf
        default: .unknown
        }
    }
}

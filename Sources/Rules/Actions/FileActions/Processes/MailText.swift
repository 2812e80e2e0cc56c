import Foundation
import Platform

/// A mail for sendmail(8): plain text, with headers that values cannot extend or end.
enum MailText {
    /// Whether the text is one plain address, without characters that could end a header or a list.
    static func isAddress(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21..<0x7F).contains($0) && !#"",;:<>()[]\"#.utf8.contains($0) }
            && text.split(separator: "@", omittingEmptySubsequences: false).map(\.isEmpty) == [false, false]
            && !text.hasPrefix("-")
    }

    /// - Parameter id: of the step. Sending the mail again reuses its Message-ID.
    static func message(to address: String, subject: String, text: String, id: String) -> String {
        let domain = address.split(separator: "@").last ?? "localhost"
        let lines = [
            "To: \(address)", "Subject: \(encoded(subject))",
            "Message-ID: <steward.\(ContentHash(of: Array(id.utf8)).description.prefix(32))@\(domain)>",
            "Auto-Submitted: auto-generated", "MIME-Version: 1.0", "Content-Type: text/plain; charset=UTF-8",
            "Content-Transfer-Encoding: base64", "",
        ]
        return (lines + folded(Data(text.utf8).base64EncodedString())).joined(separator: "\n") + "\n"
    }

    /// RFC 2047: encoded words of whole characters, in lines of at most 76 bytes.
    static func encoded(_ text: String) -> String {
        let isPlain =
            text.utf8.count <= 60 && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && !text.contains("=?")
        if isPlain { return text }
        var words: [String] = []
        var rest = text.unicodeScalars[...]
        while !rest.isEmpty {
            var part = ""
            while let next = rest.first, (part + String(next)).utf8.count <= 36 {
                part.unicodeScalars.append(next)
                rest = rest.dropFirst()
            }
            words.append("=?UTF-8?B?\(Data(part.utf8).base64EncodedString())?=")
        }
        return words.joined(separator: "\n ")
    }

    private static func folded(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: 76).map {
            String(decoding: bytes[$0..<min($0 + 76, bytes.count)], as: UTF8.self)
        }
    }
}

import Foundation

extension GatewayAddress {
    /// The URL of a path below `/app` and a query, both plain text.
    ///
    /// Special characters are percent-encoded, so that neither leads out of `/app`; the query is sorted by the bytes of
    /// its names, so that equal requests have equal URLs.
    func url(path: String, query: [String: String]) throws(LocalNetworkError) -> URL {
        var text = appRoot
        text.reserveCapacity(appRoot.utf8.count + path.utf8.count + 16)
        for segment in try Self.segments(of: path) {
            text += "/"
            text += PercentEncoding.segment(segment)
        }
        if !query.isEmpty {
            let items = query.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            text += "?"
            text += items.map { "\(PercentEncoding.query($0.key))=\(PercentEncoding.query($0.value))" }
                .joined(separator: "&")
        }
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw LocalNetworkError(code: "local_invalid_path", message: "the path makes no URL")
        }
        return url
    }

    /// The URL of a request, or why it is invalid.
    func url(for request: AppRequest) -> Result<URL, LocalNetworkError> {
        do throws(LocalNetworkError) {
            return .success(try url(path: request.path, query: request.query))
        } catch {
            return .failure(error)
        }
    }

    /// The segments of a path, without a leading `/app`.
    fileprivate static func segments(of path: String) throws(LocalNetworkError) -> [Substring] {
        if path.isEmpty { return [] }
        var segments = path.split(separator: "/", omittingEmptySubsequences: false)
        if segments.first?.isEmpty == true { segments.removeFirst() }
        if segments.first == "app" { segments.removeFirst() }
        for (place, segment) in segments.enumerated() {
            // Servers that decode twice would see the decoded form.
            if isDots(segment)
                || segment.utf8.contains(UInt8(ascii: "%")) && isDots(segment.removingPercentEncoding ?? "")
            {
                throw LocalNetworkError(
                    code: "local_invalid_path",
                    message: "the path holds . or .. between slashes; write the path that is meant")
            }
            if segment.isEmpty, place < segments.count - 1 {
                throw LocalNetworkError(code: "local_invalid_path", message: "the path holds // where one / is meant")
            }
            if segment.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                throw LocalNetworkError(code: "local_invalid_path", message: "the path holds a control character")
            }
        }
        return segments
    }

    private static func isDots(_ segment: some StringProtocol) -> Bool { segment == "." || segment == ".." }
}

/// Validates paths before there is a request.
package enum AppPath {
    /// - Parameter path: below `/app`, plain text.
    /// - Returns: why no request can be sent there; nil if it can.
    package static func problem(_ path: String) -> String? {
        do throws(LocalNetworkError) {
            _ = try GatewayAddress.segments(of: path)
            return nil
        } catch {
            return error.message
        }
    }
}

/// Percent-encoding of UTF-8 (RFC 3986).
enum PercentEncoding {
    static func segment(_ text: Substring) -> String { encode(text, except: isPlainInSegment) }

    static func query(_ text: String) -> String { encode(Substring(text), except: isPlain) }

    /// Characters that never need encoding.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Of the other valid characters in a segment, `&`, `+` and `;` are encoded nonetheless, because some servers
    /// interpret them.
    private static func isPlainInSegment(_ byte: UInt8) -> Bool { isPlain(byte) || "!$'()*,:=@".utf8.contains(byte) }

    private static func encode(_ text: Substring, except isPlain: (UInt8) -> Bool) -> String {
        if text.utf8.allSatisfy(isPlain) { return String(text) }
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

import NoteActions
import OwnFiles
import Platform
import TKCore

/// A document that the client has open. Its text is the client's; nothing is read from disk but the review beside it.
struct OpenDraft: Sendable {
    let uri: String
    /// nil for a document that is no file.
    let path: BytePath?
    /// The workspace folder that it is in; nil if none is known.
    var folder: BytePath?
    var version: Int
    var text: EditedText
    /// Of its latest text, so that only changed blocks are read.
    let memory = QuickMemory()
    let styleMemory = StyleMemory()
    /// What the last examination found; nil before the first.
    var view: DraftView?
    /// The latest reviewed state, also with answers that no file holds yet.
    var state: ReviewState?
    /// Hash of the state's file that ``state`` goes back to; nil if there was none.
    var stored: ContentHash?
    /// Ids of findings that were skipped here.
    var skipped: Set<String> = []
    /// Ids of findings whose words this server put into the buffer, until their review on disk says so.
    var taken: Set<String> = []
    /// Keys of findings whose words the client has refused since the last save: it may have asked its user.
    var declined: Set<String> = []

    init(uri: String, version: Int, text: String) {
        self.uri = uri
        self.version = version
        self.text = EditedText(text)
        path = FileURI.path(uri)
    }

    /// A sidecar holds quotations and answers, no prose of its own.
    var isSidecar: Bool { SidecarMark.begins(text.bytes) }

    var name: String { path?.nameText ?? uri }
}

/// A version of a draft with its findings.
struct DraftView: Sendable {
    let version: Int
    let draft: DraftText
    let state: ReviewState

    /// Those without an answer, by position.
    var open: [ReviewFinding] { state.findings.filter { $0.state == .pending } }

    func finding(_ key: String) -> ReviewFinding? { state.findings.first { $0.key == key && $0.isOpen } }

    /// A finding's place in this version.
    func range(of finding: ReviewFinding) -> Range<Int> {
        let anchor = finding.suggestion.anchor
        let start = min(max(anchor.start, 0), draft.count)
        return start..<min(max(anchor.end, start), draft.count)
    }
}

/// `file:` addresses, whose escapes stand for the bytes of a name.
enum FileURI {
    /// nil for another scheme or another machine.
    static func path(_ uri: String) -> BytePath? {
        guard uri.hasPrefix("file://") else { return nil }
        let rest = uri.dropFirst(7)
        guard let slash = rest.firstIndex(of: "/"), rest[..<slash] == "" || rest[..<slash] == "localhost" else {
            return nil
        }
        var bytes: [UInt8] = []
        var left = rest[slash...].utf8[...]
        while let byte = left.popFirst() {
            let digits = left.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                left = left.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes.contains(0) ? nil : BytePath(bytes: bytes)
    }

    static func of(_ path: BytePath) -> String {
        let plain = Set("/-._~".utf8)
        return "file://"
            + path.bytes.map { byte in
                let isPlain =
                    plain.contains(byte) || byte < 0x80 && Unicode.Scalar(byte).properties.isAlphabetic
                    || (0x30...0x39).contains(byte)
                if isPlain { return String(Unicode.Scalar(byte)) }
                let digits = String(byte, radix: 16, uppercase: true)
                return "%" + (digits.count == 1 ? "0" : "") + digits
            }.joined()
    }
}

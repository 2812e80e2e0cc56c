import Glibc
import Sandbox

/// Sends findings to the agent; the text up to its limit.
final class ContentOutput {
    private let descriptor: Int32
    private var text: [UInt8] = []
    private var told = 0
    /// Whether there was more text than the limit.
    private(set) var isFull = false
    /// Whether the output so far ends a line or is empty.
    private var isAtLineStart = true
    private var owesBlank = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    func field(_ field: ContentField, _ value: String) {
        if !value.isEmpty { put(ContentRecord.field(field, value)) }
    }

    func field(_ name: ContentField, _ value: Int?) {
        if let value, value > 0 { field(name, String(value)) }
    }

    func entry(path: [UInt8], isFolder: Bool, isEncrypted: Bool) {
        guard path.count <= ContentRecord.nameLength else { return }
        put(.entry(path: path, isFolder: isFolder, isEncrypted: isEncrypted))
    }

    /// A piece of the old file.
    func kept(offset: Int64, length: Int64) { put(.kept(offset: offset, length: length)) }

    /// Bytes of the new file.
    func own(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            put(.own(Array(rest.prefix(ContentRecord.textLength))))
            rest = rest.dropFirst(ContentRecord.textLength)
        }
    }

    /// Text, unchanged.
    func raw(_ bytes: some Collection<UInt8>) {
        let room = ContentLimits.text - told
        if bytes.count > room { isFull = true }
        text += bytes.prefix(max(0, room))
        told += min(bytes.count, max(0, room))
        if text.count >= ContentRecord.textLength { flush(keeping: ContentRecord.textLength - 1) }
    }

    /// Text from markup, with each run of white space collapsed to one blank.
    func flowing(_ bytes: UnsafeBufferPointer<UInt8>) {
        var out: [UInt8] = []
        for byte in bytes {
            if byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
                owesBlank = !isAtLineStart
                continue
            }
            if owesBlank { out.append(0x20) }
            (owesBlank, isAtLineStart) = (false, false)
            out.append(byte)
        }
        if !out.isEmpty { raw(out) }
    }

    /// Ends a line, unless one has just ended.
    func lineEnd() {
        if !isAtLineStart { raw([0x0A]) }
        (isAtLineStart, owesBlank) = (true, false)
    }

    /// Sends the final record and exits.
    func end(_ reason: ContentEnd.Reason, _ message: String = "") -> Never {
        flush(keeping: 0)
        put(.end(ContentEnd(reason == .complete && isFull ? .cut : reason, message)))
        _exit(0)
    }

    private func flush(keeping least: Int) {
        while text.count > least {
            put(.text(Array(text.prefix(ContentRecord.textLength))))
            text.removeFirst(min(text.count, ContentRecord.textLength))
        }
    }

    /// Blocks until the agent has taken it; exits if the pipe is no longer read.
    private func put(_ record: ContentRecord) {
        record.encoded().withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let put = write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                if put < 0 && errno != EINTR { _exit(74) }
                done += max(0, put)
            }
        }
    }
}

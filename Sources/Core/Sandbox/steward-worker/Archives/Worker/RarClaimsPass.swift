import Platform
import Sandbox

/// The worker's command `claims`: what the headers of a RAR 4 say about its entries. Sends a header for each and, as
/// its content, the expected size and checksum; unpacks nothing.
enum RarClaimsPass {
    static func tell(_ bytes: HandedFile, _ output: RecordOutput) throws {
        func end(_ reason: WorkerEnd.Reason, _ message: String = "") {
            output.send(.end(WorkerEnd(reason: reason, message: message)))
        }
        let scan = try Rar4Headers.scan(bytes, start: 0, withNames: true)
        output.send(.structure(scan.structure))
        if scan.structure.traits.contains(.tooManyHeaders) { return end(.tooManyHeaders) }
        if !scan.structure.traits.isDisjoint(with: [.multiVolume, .encryptedHeaders]) { return end(.unreadable) }
        var names = 0
        for (position, file) in (scan.rarFiles ?? []).enumerated() {
            guard position < ArchiveLimits.maxHeaderCount else { return end(.tooManyHeaders) }
            // One byte over the limit, so that the agent sees that it is too long.
            let name = Array(file.name.prefix(ArchiveLimits.maxNameLength + 1))
            names += name.count
            guard names <= ArchiveLimits.maxNamesLength else { return end(.tooManyNames) }
            guard let size = Int64(exactly: file.unpackedSize) else { return end(.tooManyBytes) }
            output.queue(
                .header(
                    EntryHeader(
                        position: position, kind: file.kind, isEncrypted: file.isEncrypted, declaredSize: size,
                        path: name)))
            output.queue(
                .content(
                    EntryContent(
                        position: position, state: .whole, size: size, crc32: file.crc32 ?? 0, hash: nil, image: nil,
                        message: "")))
        }
        if let missing = scan.missing(entries: scan.rarFiles?.count ?? 0, format: .rar) {
            return end(.unreadable, missing)
        }
        end(.complete)
    }
}

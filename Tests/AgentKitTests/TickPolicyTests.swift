import AgentKit
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Whose ticks count")
struct TickPolicyTests {
    /// A note, who may answer, and the objection to a tick in it; nil if the tick counts.
    struct Case: Sendable, CustomTestStringConvertible {
        var mode: mode_t = 0o600
        /// The note's owner; nil for the user running the tests.
        var writer: uid_t?
        /// A user with write permission in the note's access control list.
        var listed: uid_t?
        var owner = false
        var group: String?
        /// The owner of the file in question.
        var asked: uid_t? = 65_002
        let objection: String?

        var testDescription: String { "\(self)" }
    }

    private func objection(_ one: Case) throws -> String? {
        let folder = try TemporaryFolder()
        let path = try folder.write("note.md", "- [x] Delete it?\n")
        if let writer = one.writer { try #require(chown(path.text, writer, writer) == 0) }
        let note = try Descriptor(path)
        try #require(chmod(path.text, one.mode) == 0)
        if let listed = one.listed {
            // Owner, one user, group, mask, others, in the kernel's format.
            var list: [UInt8] = [2, 0, 0, 0]
            let nobody = UInt32.max
            for (tag, bits, id) in [
                (1, 6, nobody), (2, 6, listed), (4, 4, nobody), (0x10, 6, nobody), (0x20, 0, nobody),
            ] {
                list += [UInt8(tag), 0, UInt8(bits), 0] + (0..<4).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
            }
            try ExtendedAttributes.set("system.posix_acl_access", list, on: note)
        }
        var policy = TickPolicy()
        (policy.owner, policy.group) = (one.owner, one.group)
        return try policy.objection(to: note, asked: one.asked)
    }

    @Test(
        "A tick counts only if nobody else can write the note",
        arguments: [
            Case(mode: 0o666, objection: nil),
            Case(owner: true, objection: nil),
            Case(mode: 0o644, owner: true, objection: nil),
            Case(mode: 0o602, owner: true, objection: "everybody may write it"),
            Case(mode: 0o620, owner: true, objection: "the group \(getegid()) may write it"),
            Case(listed: 65_003, owner: true, objection: "the user 65003 may write it"),
            Case(listed: 65_002, owner: true, objection: nil),
            Case(listed: 65_002, owner: true, asked: nil, objection: "the user 65002 may write it"),
            Case(mode: 0o620, group: "root", objection: getegid() == 0 ? nil : "the group \(getegid()) may write it"),
        ])
    func ownNote(one: Case) throws {
        #expect(try objection(one) == one.objection)
    }

    @Test(
        "The owner of the note may answer; otherwise the message names the owner",
        .enabled(if: geteuid() == 0, "only root can give a file away"),
        arguments: [
            Case(writer: 65_002, owner: true, objection: nil),
            Case(writer: 65_003, owner: true, objection: "the user 65003 may write it"),
            // It cannot write the note as it is, but may change the mode.
            Case(mode: 0o400, writer: 65_003, owner: true, objection: "the user 65003 may write it"),
            Case(writer: 65_002, group: "daemon", objection: "the user 65002 may write it"),
            // On every Debian the user `daemon` has this number, and is in the group of the same name.
            Case(mode: 0o660, writer: 1, group: "daemon", objection: nil),
            Case(writer: 1, group: "bin", objection: "the user 1 may write it"),
        ])
    func othersNote(one: Case) throws {
        #expect(try objection(one) == one.objection)
    }
}

import AgentKit
import Foundation
import Logging
import Platform
import TestSupport
import Testing

@Suite("Journal entries")
struct JournalSocketTests {
    /// The fields of an entry, as the journal reads them (systemd.io/JOURNAL_NATIVE_PROTOCOL).
    private func fields(_ datagram: [UInt8]) throws -> [String: String] {
        var rest = datagram[...]
        var fields: [String: String] = [:]
        while let end = rest.firstIndex(of: 0x0A) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            if let equals = line.firstIndex(of: "=") {
                fields[String(line[..<equals])] = String(line[line.index(after: equals)...])
            } else {
                let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                fields[line] = String(decoding: rest.dropFirst(8).prefix(length), as: UTF8.self)
                rest = rest.dropFirst(8 + length + 1)
            }
        }
        return fields
    }

    private func logger(_ receiver: DatagramReceiver, json: Bool = false) throws -> Logger {
        let journal = try #require(JournalSocket(receiver.path))
        return Logger(label: "test") { _ in
            StewardLogHandler(
                level: .debug, format: LogFormat(json: json, stamps: false), output: LogOutput(journal: journal))
        }
    }

    @Test("An entry has its priority as a number, and its subject as fields")
    func fields() async throws {
        let receiver = try DatagramReceiver()
        try logger(receiver).warning(
            "parked: no room", metadata: ["job": "0123456789ab", "rule": "Sort it", "place": "inbox", "path": "a/b"])
        try await waitUntil("it has come") { receiver.datagrams.count == 1 }
        let found = try fields(receiver.datagrams[0])
        #expect(
            found == [
                "MESSAGE": "warning: parked: no room job=0123456789ab rule=Sort it", "PRIORITY": "4",
                "SYSLOG_IDENTIFIER": "steward", "STEWARD_JOB": "0123456789ab", "STEWARD_RULE": "Sort it",
                "STEWARD_PLACE": "inbox", "STEWARD_PATH": "a/b",
            ])
    }

    @Test("Text from outside never becomes a field or a line of its own", arguments: [false, true])
    func hostile(json: Bool) async throws {
        let receiver = try DatagramReceiver()
        let evil = "x\nPRIORITY=0\nSTEWARD_RULE=other\u{1B}[2J"
        try logger(receiver, json: json).error("\(evil)", metadata: ["path": "\(evil)", "rule": "mine"])
        try await waitUntil("it has come") { receiver.datagrams.count == 1 }
        let found = try fields(receiver.datagrams[0])
        #expect(found["PRIORITY"] == "3")
        #expect(found["STEWARD_RULE"] == "mine")
        #expect(found["STEWARD_PATH"] == #"x\x0APRIORITY=0\x0ASTEWARD_RULE=other\x1B[2J"#)
        #expect(found["MESSAGE"]?.contains("\n") == false)
        #expect(found.count == 5)
    }

    @Test("Without a journal nothing is sent; an entry that is too long goes to the stream only")
    func absent() throws {
        let folder = try TemporaryFolder()
        #expect(JournalSocket(folder.path.appending("socket")) == nil)
        let receiver = try DatagramReceiver()
        let journal = try #require(JournalSocket(receiver.path))
        #expect(!journal.send(JournalSocket.entry(String(repeating: "x", count: 8 << 20), .info, [:])))
    }
}

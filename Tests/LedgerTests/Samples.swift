import Ledger
import Platform
import TestSupport

/// Records for tests, with default values for everything a test does not care about.
enum Sample {
    static func hash(_ text: String) -> ContentHash { ContentHash(of: Array(text.utf8)) }

    static func print(_ inode: UInt64, size: Int64 = 3, modified: Int64 = 1) -> Fingerprint {
        Fingerprint(device: 7, inode: inode, size: size, modified: modified, changed: modified)
    }

    static func file(_ path: BytePath, inode: UInt64 = 1, content: String? = "abc", version: Int = 1) -> FileRecord {
        FileRecord(place: "inbox", path: path, fingerprint: print(inode), hash: content.map(hash), version: version)
    }

    static func job(
        _ id: String, rule: String = "R", path: BytePath = "a.txt", lineage: String? = nil, depth: Int = 0
    ) -> JobRecord {
        JobRecord(
            id: id, rule: rule, digest: "d", event: "arrived", place: "inbox", path: path, file: "{}",
            hash: hash("abc"),
            firstJob: lineage ?? id, depth: depth, arrived: Timestamp(nanoseconds: 1_234_567_890_123_456_789),
            values: "{}",
            refused: "leave")
    }

    static func steps(_ job: String, _ count: Int = 2) -> [StepRecord] {
        (0..<count).map { StepRecord(job: job, number: $0, action: "act\($0)", arguments: "{}", repeatSafe: $0 == 1) }
    }

    static func write(_ note: BytePath, step: String, token: String = "jrnl-0930") -> NoteWriteRecord {
        NoteWriteRecord(
            note: note, device: .max, inode: .max - 1, base: hash("old"), result: hash("new"), position: 4,
            oldTail: [0, 255], newTail: [1, 2, 3], blocks: [NoteBlockRecord(step: step, token: token)])
    }
}

extension Ledger {
    /// A ledger on the disk, for a test.
    static func fresh(_ directory: BytePath) throws -> Ledger { try open(directory: directory).ledger }
}

/// Its SQLite changes a database behind the program's back.
let python = "/usr/bin/python3"

/// Executes statements, separated by `;`, on a database that is not in use.
func changeDatabase(_ file: BytePath, _ statements: String) throws {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()"
    try runProgram([python, "-c", script, file.text, statements]).check()
}

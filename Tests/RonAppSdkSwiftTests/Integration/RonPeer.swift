import Foundation
import Platform
import TestSupport

/// The Python client that calls are compared with (`Peers/ron_peer.py`), in an environment with httpx that is created
/// once in the build folder; if that is not possible, or with STEWARD_TEST_PEERS=0, tests that need it are skipped.
enum RonPeer {
    private static let folder = BytePath(#filePath).parent.parent.appending("Peers")

    private static let installed = Task<String?, Never> {
        guard ProcessInfo.processInfo.environment["STEWARD_TEST_PEERS"] != "0" else { return nil }
        do {
            // Beside the test's program, where a later run finds it.
            guard let program = BytePath("/proc/self/exe").real else { return nil }
            let run = try await runProgramAside([
                "/bin/sh", folder.appending("ron-peers.sh").text, program.parent.appending("ron-peers").text,
            ])
            guard run.status == 0, let path = run.output.split(separator: "\n").last else {
                print("tests that want ron-peers.sh are skipped: \(run.errors)")
                return nil
            }
            return String(path)
        } catch {
            print("tests that want ron-peers.sh are skipped: \(error)")
            return nil
        }
    }

    static var isThere: Bool {
        get async { await installed.value != nil }
    }

    /// Makes the calls of a file.
    ///
    /// - Returns: the result of each, as a JSON object.
    static func call(_ url: String, _ calls: BytePath) async throws -> [[String: Any]] {
        guard let environment = await installed.value else { throw TestFailure("the peer is not installed") }
        let run = try await runProgramAside([
            environment + "/bin/python", folder.appending("ron_peer.py").text, url, calls.text,
        ]).check()
        return try run.output.split(separator: "\n").map { line in
            guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                throw TestFailure("the peer said \(line)")
            }
            return object
        }
    }
}

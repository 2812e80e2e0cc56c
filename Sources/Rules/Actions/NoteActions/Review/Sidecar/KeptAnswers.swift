import Foundation
import JSONText
import Platform
import Synchronization
import TKCore

/// Models' raw answers, one file each. They are durable before they are read, so that an answer that has arrived is
/// never paid for again, whatever happens to the agent (`docs/review.md`).
package final class KeptAnswers: CallRecorder {
    private let folder: BytePath
    private let pool: BlockingPool
    private let used = Mutex<[String: CallSummary]>([:])

    /// - Parameter folder: created with the first answer.
    package init(folder: BytePath, pool: BlockingPool) {
        self.folder = folder
        self.pool = pool
    }

    /// Keys of the answers that were served or arrived.
    package var keys: [String] { used.withLock { $0.keys.sorted() } }

    /// What they cost, by key, as far as prices are known.
    func costs(_ prices: ModelTable) -> [String: Cost] {
        used.withLock { $0 }.compactMapValues { call in
            call.usage.flatMap { prices.cost(provider: call.provider, model: call.model, $0) }
        }
    }

    /// The stored answer to an equal call, however old.
    ///
    /// - Throws: `Fault(.failed)` for an invalid file; it is not replaced by a paid call.
    package func before(_ call: PlannedCall) async throws -> LLMResponse? {
        let path = path(call)
        let files = HeldFiles(own: folder)
        let found = try await pool.run { () -> LLMResponse? in
            guard try files.status(path) != nil else { return nil }
            do {
                return try JSONDecoder().decode(LLMResponse.self, from: Data(try files.open(path).readAll()))
            } catch let error as DecodingError {
                throw Fault(
                    .failed,
                    "\(path) is not an answer of a model's (\(error)); remove it to have the model asked again",
                    path: path)
            }
        }
        if let found { used.withLock { $0[call.key] = CallSummary(found) } }
        return found
    }

    /// Stores an answer, complete or truncated. A failure without text is not stored.
    package func after(_ call: PlannedCall, _ outcome: CallOutcome) async throws {
        let answer: LLMResponse
        switch outcome {
        case .answered(let response): answer = response
        case .failed(let error):
            guard let partial = (error as? LLMError)?.partial, !partial.text.isEmpty else { return }
            answer = partial
        }
        let path = path(call)
        let files = HeldFiles(own: folder)
        try await pool.run {
            FaultPoint.reach("answer arrived")
            try files.makeFolders(for: path, mode: 0o700)
            try files.replaceOwn(path, with: Array(try JSONText.line(answer).utf8))
            FaultPoint.reach("answer kept")
        }
        used.withLock { $0[call.key] = CallSummary(answer) }
    }

    private func path(_ call: PlannedCall) -> BytePath { folder.appending("\(call.key).json") }
}

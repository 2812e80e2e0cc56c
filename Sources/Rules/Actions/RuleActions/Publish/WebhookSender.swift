import Foundation
import Platform
import RonAppSdkSwift

/// Provides tokens and secrets by the name that a target gives; called for each attempt.
package typealias CredentialSource = @Sendable (_ name: String) async throws -> SecretBytes?

/// Sends events to a webhook: a POST with the event's id as `Idempotency-Key`, and a signature.
struct WebhookSender: EventSender {
    private let target: PublishTarget
    private let transport: any RonTransport
    private let credential: CredentialSource

    /// Maximum number of bytes read from a response.
    private static let answerLimit = 16 << 10

    /// - Parameters:
    ///   - target: a webhook.
    ///   - transport: carries requests; not closed here.
    ///   - credential: provides the target's token and secret.
    init(_ target: PublishTarget, transport: any RonTransport, credential: @escaping CredentialSource) {
        self.target = target
        self.transport = transport
        self.credential = credential
    }

    func send(_ event: OutgoingEvent) async -> SendOutcome {
        let request: TransportRequest
        do {
            request = try await self.request(event)
        } catch {
            return .notSent(reason: AnswerJudgement.line(explain(error)))
        }
        do {
            let answer = try await transport.send(request)
            let body = await opening(of: answer.body)
            return AnswerJudgement.outcome(
                status: answer.status,
                RonProblem(status: answer.status, headers: answer.headerFields, body: body))
        } catch {
            return AnswerJudgement.outcome(error)
        }
    }

    func unreachable() async -> String? {
        let request = TransportRequest(
            method: "HEAD", url: target.url, headers: [("User-Agent", "steward")], timeouts: timeouts)
        do {
            _ = try await transport.send(request)
            return nil
        } catch {
            return error.description
        }
    }

    private func request(_ event: OutgoingEvent) async throws -> TransportRequest {
        let body = Data(event.body.utf8)
        let time = Int64(Timestamp.now().seconds)
        var headers = [
            ("Content-Type", "application/json"), ("Accept", "application/json"), ("User-Agent", "steward"),
            ("Idempotency-Key", event.id), ("X-Idempotency-Key", event.id), ("X-Steward-Event", event.event),
            ("X-Steward-Delivery", "\(event.id)/\(event.attempt)"), ("X-Steward-Timestamp", "\(time)"),
        ]
        if let name = target.secret {
            let secret = try await found(name)
            headers.append(
                ("X-Steward-Signature", try WebhookSignature.header(secret, timestamp: time, id: event.id, body: body)))
        }
        if let name = target.token {
            headers.append(("Authorization", try PublishToken.authorization(await found(name), name)))
        }
        return TransportRequest(
            method: "POST", url: try url(event.path), headers: headers, body: body, timeouts: timeouts)
    }

    private func found(_ name: String) async throws -> SecretBytes {
        guard let secret = try await credential(name) else { throw PublishToken.missing(name) }
        return secret
    }

    /// Inserts the path after the URL's own, before the query.
    private func url(_ path: String) throws -> URL {
        guard var parts = URLComponents(url: target.url, resolvingAgainstBaseURL: false) else {
            throw Fault(.failed, "the URL of \(target.name) cannot be read")
        }
        if !path.isEmpty {
            let own = parts.percentEncodedPath
            parts.percentEncodedPath = (own.hasSuffix("/") ? String(own.dropLast()) : own) + path
        }
        guard let url = parts.url else { throw Fault(.failed, "\(path) makes no URL with that of \(target.name)") }
        return url
    }

    private var timeouts: Timeouts {
        let whole = Int(target.timeout * 1000)
        return Timeouts(overallMs: whole, connectMs: min(whole, 5_000), readMs: whole, writeMs: whole)
    }

    /// The start of a response, within the attempt's timeout. The status alone decides, so a partial body is fine.
    private func opening(of body: TransportBody) async -> Data {
        await withTaskGroup(of: Data?.self) { group in
            group.addTask {
                var bytes = Data()
                do {
                    for try await piece in body {
                        bytes.append(contentsOf: piece.prefix(Self.answerLimit - bytes.count))
                        if bytes.count >= Self.answerLimit { break }
                    }
                } catch {
                    // A partial body is good enough.
                    return bytes
                }
                return bytes
            }
            group.addTask { [timeout = target.timeout] in
                do { try await Task.sleep(for: .seconds(timeout)) } catch { return nil }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? Data()
        }
    }
}

/// Formats credentials for headers.
enum PublishToken {
    /// - Parameters:
    ///   - token: the credential; without a scheme it becomes a bearer token.
    ///   - name: for messages.
    /// - Returns: the value of `Authorization`.
    /// - Throws: `Fault(.failed)` if it contains characters that are not allowed in a header.
    static func authorization(_ token: SecretBytes, _ name: String) throws -> String {
        let text = token.withBytes { String(decoding: $0, as: UTF8.self) }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Fault(.failed, "the credential `\(name)` holds what no header may: line breaks, or other than ASCII")
        }
        return text.contains(" ") ? text : "Bearer \(text)"
    }

    /// - Parameter name: of the credential.
    /// - Returns: the fault for a missing credential.
    static func missing(_ name: String) -> Fault {
        Fault(.transient, "there is no credential `\(name)`; docs/publish.md says where it is looked for")
    }
}

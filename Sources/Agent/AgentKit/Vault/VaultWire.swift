import ComicVault
import ControlSocket
import Foundation
import Glibc
import JSONText
import Platform

/// Frames on the control socket after a vault request: a byte for the type, four bytes for the length, then the
/// payload. Secrets travel the other way, unframed, when requested.
enum VaultFrame: UInt8 {
    /// The daemon is ready for the next secret.
    case secretWanted
    case progress
    /// Part of a comic.
    case bytes
    /// A JSON document; the last frame.
    case answer
    /// A ``VaultFailure``; the last frame.
    case failure

    static let limit = 64 << 20
}

struct VaultProgress: Codable {
    let done: Int64
    let total: Int64
    let text: String
}

struct VaultFailure: Codable {
    let message: String
    let kind: Fault.Kind
    let code: String?

    init(_ error: any Error) {
        let fault = (error as? VaultError)?.codedFault ?? (error as? Fault)
        message = fault?.message ?? explain(error)
        kind = fault?.kind ?? .failed
        code = fault?.code
    }

    var fault: Fault { Fault(kind, message, code: code) }
}

extension ControlConnection {
    func send(_ frame: VaultFrame, _ bytes: UnsafeRawBufferPointer) throws {
        let header = [frame.rawValue] + UInt32(bytes.count).bigEndianParts
        try header.withUnsafeBytes { try write($0) }
        try write(bytes)
    }

    func send(_ frame: VaultFrame, _ value: some Encodable) throws {
        try Array(try JSONText.line(value).utf8).withUnsafeBytes { try send(frame, $0) }
    }

    /// - Throws: `Fault` if the peer disconnects or sends something invalid.
    func receiveFrame() throws -> (VaultFrame, [UInt8]) {
        let header = try exactly(5)
        // A refusal sent before vaults come into play, such as that the daemon is busy.
        if header[0] == UInt8(ascii: "{") {
            throw try JSONDecoder().decode(ControlRefusal.self, from: Data(header) + receiveLine()).fault
        }
        let count = header[1...].reduce(0) { $0 << 8 | Int($1) }
        guard let frame = VaultFrame(rawValue: header[0]), count <= VaultFrame.limit else {
            throw Self.foreign
        }
        return (frame, try exactly(count))
    }

    private func exactly(_ count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            try read(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]))
            filled = count
        }
    }

    /// Reads a secret directly into locked memory.
    func receiveSecret(_ secret: VaultSecret) throws -> Credential {
        guard (1...Credential.keyFileSizes.upperBound).contains(secret.count) else {
            throw Fault(.usage, "a password or key file of \(secret.count) bytes is not valid")
        }
        try send(.secretWanted, UnsafeRawBufferPointer(start: nil, count: 0))
        return try .received(secret.kind, SecretBytes(count: secret.count) { try read($0) })
    }
}

extension UInt32 {
    /// Its four bytes, most significant first.
    fileprivate var bigEndianParts: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) } }
}

/// The command's end.
package enum VaultClient {
    private static func frame(_ connection: ControlConnection) throws -> (VaultFrame, [UInt8]) {
        do {
            return try connection.receiveFrame()
        } catch let fault as Fault where fault.code == ControlConnection.ended {
            throw Fault(
                .failed,
                "the agent closed the connection before answering: the vault was locked in the meantime, or the agent stopped; "
                    + "see `steward vault status`, and try again")
        }
    }

    /// Sends a request to the daemon, and the secrets when it asks for them. Blocks until it has answered.
    ///
    /// - Parameter vault: its name in the configuration.
    /// - Returns: nil if no daemon is listening.
    /// - Throws: `Fault` with the daemon's error; with the code ``VaultKeeper/unknown`` if it does not know the vault.
    package static func ask<R: VaultRequest>(
        _ request: R, of vault: String, _ secrets: [Credential] = [], at socket: BytePath,
        _ outlet: VaultOutlet = VaultOutlet()
    ) throws -> R.Answer? {
        guard let connection = try ControlConnection.connect(socket) else { return nil }
        let promised = secrets.map { VaultSecret(kind: $0.kind, count: $0.bytes.count) }
        do {
            try connection.send(
                ControlRequest(VaultConversation(vault: vault, secrets: promised, arguments: request)))
        } catch {
            // A server that is full sends its refusal before reading the request.
            _ = try Self.frame(connection)
            throw error
        }
        let answer = try answer(connection, vault, secrets, outlet)
        do {
            return try JSONDecoder().decode(R.Answer.self, from: Data(answer))
        } catch is DecodingError {
            throw ControlConnection.foreign
        }
    }

    /// - Returns: the answer's JSON.
    private static func answer(
        _ connection: ControlConnection, _ vault: String, _ secrets: [Credential], _ outlet: VaultOutlet
    ) throws -> [UInt8] {
        var rest = secrets[...]
        while true {
            let (frame, bytes) = try Self.frame(connection)
            switch frame {
            case .secretWanted:
                guard let secret = rest.popFirst() else {
                    throw Fault(.failed, "the agent asks for an unexpected password; nothing was sent")
                }
                try secret.bytes.withBytes { try connection.write($0) }
            case .progress:
                let step = try JSONDecoder().decode(VaultProgress.self, from: Data(bytes))
                try outlet.progress(step.done, step.total, step.text)
            case .bytes: try bytes.withUnsafeBytes { try outlet.bytes($0) }
            case .answer: return bytes
            case .failure:
                let fault = try JSONDecoder().decode(VaultFailure.self, from: Data(bytes)).fault
                guard fault.code == VaultKeeper.unknown else { throw fault }
                throw Fault(
                    .failed,
                    "the agent does not know the vault \(vault): it reads the list of vaults when it starts; restart it",
                    code: fault.code)
            }
        }
    }
}

import ControlSocket
import Platform

/// The command's end of the control socket.
package enum ControlClient {
    /// Sends a command to the daemon. Blocks until it has answered.
    ///
    /// - Parameter timeout: timeout in seconds; nil for the command's default, which may be none.
    /// - Returns: nil if no daemon is listening.
    /// - Throws: `Fault` with the daemon's error, or if it does not answer.
    package static func ask<C: Command>(
        _ command: C, at socket: BytePath, timeout: Int? = nil
    ) throws -> C.Answer? {
        let timeout = timeout ?? C.timeout
        let reply: ControlReply<C.Answer>?
        do {
            reply = try ControlConnection.connect(socket, timeout: timeout).map {
                try Self.reply(to: command, over: $0)
            }
        } catch let fault as Fault where fault.code == ControlConnection.late {
            throw silence(socket, timeout)
        } catch is DecodingError {
            throw ControlConnection.foreign
        }
        return try reply?.get()
    }

    private static func silence(_ socket: BytePath, _ timeout: Int?) -> Fault {
        let time = timeout.map { " for \($0) s" } ?? ""
        return Fault(
            .failed,
            "the agent does not answer: at \(socket) there was no reply\(time); see its log and `systemctl "
                + "status steward` to find out whether it is still starting, which may take minutes, or working; restart it "
                + "only if it does neither", path: socket)
    }

    private static func reply<C: Command>(
        to command: C, over connection: ControlConnection
    ) throws -> ControlReply<C.Answer> {
        do {
            try connection.send(ControlRequest(command))
        } catch {
            // A server that is full sends its refusal before reading the request.
            guard let refusal = try? connection.receive(ControlRefusal.self) else { throw error }
            return .refusal(refusal)
        }
        return try connection.receive(ControlReply<C.Answer>.self)
    }
}

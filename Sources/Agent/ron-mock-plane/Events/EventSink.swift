import Foundation
import JSONText
import Platform
import Synchronization

/// Accepts each event once: the first with an id counts, and a repeat gets the same answer. With a file, an event is on
/// the disk before it is answered, so it survives a kill of the plane.
final class EventSink: Sendable {
    enum Outcome {
        case taken(sequence: Int, isRepeat: Bool)
        /// The id belongs to another event.
        case conflict
    }

    private struct State {
        var events: [ReceivedEvent] = []
        /// Index into `events` by id.
        var places: [String: Int] = [:]
    }

    private let state: Mutex<State>
    private let file: LineFile?
    private let pool = BlockingPool("ron-mock-plane.events")

    /// - Throws: `Fault` if the file cannot be opened or contains anything but events.
    init(_ path: BytePath?) async throws {
        guard let path else {
            file = nil
            state = Mutex(State())
            return
        }
        let (file, found) = try await pool.run {
            let file = try LineFile(path)
            let decoder = JSONDecoder()
            let events = try file.found.enumerated().map { number, line in
                do {
                    return try decoder.decode(ReceivedEvent.self, from: Data(line.utf8))
                } catch {
                    throw Fault(
                        .usage,
                        "line \(number + 1) of \(path) is not an event: name the store of a mock plane, or a new file",
                        path: path)
                }
            }
            return (file, events)
        }
        var places: [String: Int] = [:]
        for (place, event) in found.enumerated() { if let id = event.id { places[id] = place } }
        self.file = file
        state = Mutex(State(events: found, places: places))
    }

    var events: [ReceivedEvent] { state.withLock(\.events) }

    /// - Parameters:
    ///   - id: identifies repeats; events without one are all counted.
    ///   - path: the request's path.
    ///   - body: any bytes.
    /// - Throws: `Fault` if it cannot be stored; then it does not count.
    func take(id: String?, path: String, body: [UInt8]) async throws -> Outcome {
        // Serialized, in the file as in memory: a repeat may arrive while the first is being written.
        try await pool.run { [self] in
            try state.withLock { state in
                let event = ReceivedEvent(sequence: state.events.count + 1, id: id, path: path, body: body)
                if let id, let place = state.places[id] {
                    let first = state.events[place]
                    return event.isSame(as: first) ? .taken(sequence: first.sequence, isRepeat: true) : .conflict
                }
                try file?.append(JSONText.line(event), synced: true)
                if let id { state.places[id] = state.events.count }
                state.events.append(event)
                return .taken(sequence: event.sequence, isRepeat: false)
            }
        }
    }
}

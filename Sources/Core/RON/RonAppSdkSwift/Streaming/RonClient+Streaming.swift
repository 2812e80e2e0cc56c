extension RonClient {
    /// The events of a stream, each read from its JSON:
    ///
    /// ```swift
    /// let stream = try await client.subscribe(Event.self, path: "/events/logs")
    /// for try await event in stream { print(event.kind) }
    /// ```
    ///
    /// Nothing is sent before the first event is asked for. A connection that breaks, is silent for too long, or ends is
    /// made anew after a wait, and the server goes on behind the last event; status 204 ends the stream. After
    /// ``StreamSettings/tries`` connections in a row without an event, and where another try makes no sense, the loop
    /// throws the last ``RonProblem``. The client's timeouts hold until the head of the answer is there;
    /// ``StreamSettings/idleTimeout`` holds after that.
    ///
    /// - Parameters:
    ///   - type: What an event's data is read as. Events named in ``StreamSettings/heartbeats`` are passed over.
    ///   - path: The stream's path below `/app`.
    ///   - query: The query.
    ///   - headers: Headers of the stream's requests alone.
    ///   - settings: How the stream is held open.
    /// - Returns: The events.
    /// - Throws: ``RonSdkError/config(_:)`` for settings that make no sense; ``LocalNetworkError`` for a path that leads
    ///   out of `/app`.
    public func subscribe<Event: Decodable & Sendable>(
        _ type: Event.Type, path: String, query: [String: String] = [:], headers: [String: String] = [:],
        settings: StreamSettings = StreamSettings()
    ) async throws -> DecodedEventStream<Event> {
        DecodedEventStream(
            try await subscribe(path: path, query: query, headers: headers, settings: settings),
            heartbeats: settings.heartbeats)
    }

    /// The events of a stream as they came, heartbeats included; otherwise as
    /// ``subscribe(_:path:query:headers:settings:)``.
    ///
    /// - Parameters:
    ///   - path: The stream's path below `/app`.
    ///   - query: The query.
    ///   - headers: Headers of the stream's requests alone.
    ///   - settings: How the stream is held open.
    /// - Returns: The events.
    /// - Throws: As the other one.
    public func subscribe(
        path: String, query: [String: String] = [:], headers: [String: String] = [:],
        settings: StreamSettings = StreamSettings()
    ) async throws -> RonEventStream {
        do {
            try settings.check()
        } catch {
            throw RonSdkError.config(error)
        }
        _ = try buildUrl(path, query: query)
        let request = AppRequest(
            .get, path, query: query, headers: headers.filter { $0.key.lowercased() != "last-event-id" })
        return RonEventStream(settings: settings) { lastEventID in
            await self.connect(request, lastEventID: lastEventID)
        }
    }

    private func connect(
        _ request: AppRequest, lastEventID: String?
    ) async -> Result<TransportResponse, RonProblem> {
        var request = request
        if let lastEventID, !lastEventID.isEmpty { request.headers["Last-Event-ID"] = lastEventID }
        var timeouts = settings.timeouts
        // A stream may be silent for longer than a call; how long is its own setting.
        timeouts.readMs = 0
        do throws(RonProblem) {
            return .success(try await open(request, accept: "text/event-stream", timeouts: timeouts))
        } catch {
            return .failure(error)
        }
    }
}

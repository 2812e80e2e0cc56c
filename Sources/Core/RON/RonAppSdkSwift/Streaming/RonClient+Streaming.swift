extension RonClient {
    /// The events of a stream, each decoded from its JSON:
    ///
    /// ```swift
    /// let stream = try await client.subscribe(Event.self, path: "/events/logs")
    /// for try await event in stream { print(event.kind) }
    /// ```
    ///
    /// Nothing is sent before the first event is requested. A connection that breaks, is idle for too long, or ends is
    /// re-established after a backoff, and the server continues after the last event; status 204 ends the stream. After
    /// ``StreamSettings/tries`` connections in a row without an event, or if a retry is pointless, the loop throws the
    /// last ``RonProblem``. The client's timeouts apply until the answer's head has arrived;
    /// ``StreamSettings/idleTimeout`` applies after that.
    ///
    /// - Parameters:
    ///   - type: The type of an event's data. Events named in ``StreamSettings/heartbeats`` are skipped.
    ///   - path: The stream's path below `/app`.
    ///   - query: The query.
    ///   - headers: Headers of the stream's requests alone.
    ///   - settings: The stream's reconnects and limits.
    /// - Returns: The events.
    /// - Throws: ``RonSdkError/config(_:)`` for invalid settings; ``LocalNetworkError`` for a path that leads out of
    ///   `/app`.
    public func subscribe<Event: Decodable & Sendable>(
        _ type: Event.Type, path: String, query: [String: String] = [:], headers: [String: String] = [:],
        settings: StreamSettings = StreamSettings()
    ) async throws -> DecodedEventStream<Event> {
        DecodedEventStream(
            try await subscribe(path: path, query: query, headers: headers, settings: settings),
            heartbeats: settings.heartbeats)
    }

    /// The raw events of a stream, including heartbeats; otherwise like ``subscribe(_:path:query:headers:settings:)``.
    ///
    /// - Parameters:
    ///   - path: The stream's path below `/app`.
    ///   - query: The query.
    ///   - headers: Headers of the stream's requests alone.
    ///   - settings: The stream's reconnects and limits.
    /// - Returns: The events.
    /// - Throws: Like the decoding variant.
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
        // A stream may be idle for longer than a call; it has its own setting.
        timeouts.readMs = 0
        do throws(RonProblem) {
            return .success(try await open(request, accept: "text/event-stream", timeouts: timeouts))
        } catch {
            return .failure(error)
        }
    }
}

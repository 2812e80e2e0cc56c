/// Why an interceptor ended a call.
struct InterceptorFailure: Error, CustomStringConvertible {
    /// What it did.
    enum Reason: Sendable {
        /// It threw; the error's text may hold anything, so it is for debug logs only.
        case threw(any Error)
        /// It set a header that it may not.
        case header(String)
    }

    /// The interceptor's type.
    let interceptor: String
    let reason: Reason

    /// For people: holds nothing that the interceptor said.
    var description: String {
        switch reason {
        case .threw: "The interceptor \(interceptor) failed"
        case .header(let name): "The interceptor \(interceptor) may not set the header \(name)"
        }
    }
}

/// Calls interceptors in their order, and holds them to what they may touch.
struct InterceptorChain: Sendable {
    let interceptors: [any RonInterceptor]

    /// What is sent after all interceptors have had their say.
    ///
    /// - Parameter request: As the client would send it.
    /// - Throws: ``InterceptorFailure``, or `CancellationError` where the task was cancelled meanwhile.
    func prepare(_ request: InterceptedRequest) async throws -> InterceptedRequest {
        var request = request
        for interceptor in interceptors {
            var seen = request
            seen.headers = Self.shown(request.headers, to: interceptor)
            do {
                try await interceptor.intercept(request: &seen)
            } catch {
                throw try Self.failure(of: interceptor, error)
            }
            request.headers = try Self.taken(seen.headers, from: interceptor, instead: request.headers)
        }
        return request
    }

    /// The head of a response after all interceptors have had their say, the last one first.
    ///
    /// - Parameters:
    ///   - response: As the server sent it.
    ///   - request: What ``prepare(_:)`` gave.
    /// - Throws: As ``prepare(_:)``.
    func receive(_ response: InterceptedResponse, to request: InterceptedRequest) async throws -> InterceptedResponse {
        var response = response
        for interceptor in interceptors.reversed() {
            var sent = request
            sent.headers = Self.shown(request.headers, to: interceptor)
            do {
                try await interceptor.intercept(response: &response, to: sent)
            } catch {
                throw try Self.failure(of: interceptor, error)
            }
        }
        return response
    }

    private static func shown(_ headers: HeaderFields, to interceptor: any RonInterceptor) -> HeaderFields {
        guard !interceptor.handlesCredentials else { return headers }
        return HeaderFields(headers.fields.filter { !isHidden($0.name) }.map { ($0.name, $0.value) })
    }

    /// What an interceptor made of the headers that it was shown, together with those that it was not.
    private static func taken(
        _ changed: HeaderFields, from interceptor: any RonInterceptor, instead before: HeaderFields
    ) throws -> HeaderFields {
        let isTrusted = interceptor.handlesCredentials
        for (name, value) in changed.fields {
            let isForbidden =
                RequestHeaders.framing.contains(name.lowercased())
                ? !before.values(name).contains(value)
                : !isTrusted
                    && (InterceptedRequest.protectedHeaders.contains(name.lowercased())
                        || isHidden(name) && before[name] != nil)
            if isForbidden {
                throw InterceptorFailure(interceptor: self.name(of: interceptor), reason: .header(name.lowercased()))
            }
        }
        guard !isTrusted else { return changed }
        var headers = changed
        for (name, value) in before.fields where isHidden(name) { headers.add(name, value) }
        return headers
    }

    private static func failure(of interceptor: any RonInterceptor, _ error: any Error) throws -> InterceptorFailure {
        if error is CancellationError, Task.isCancelled { throw error }
        return InterceptorFailure(interceptor: name(of: interceptor), reason: .threw(error))
    }

    private static func name(of interceptor: any RonInterceptor) -> String { String(describing: type(of: interceptor)) }

    /// Also what a provider or a caller sends by a name that says so, as `x-api-key`.
    private static func isHidden(_ name: String) -> Bool { Redaction.isSensitive(name) }
}

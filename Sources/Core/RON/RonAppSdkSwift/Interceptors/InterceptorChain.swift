/// Why an interceptor ended a call.
struct InterceptorFailure: Error, CustomStringConvertible {
    /// The interceptor's offence.
    enum Reason: Sendable {
        /// It threw; the error's text may contain anything, so it is for debug logs only.
        case threw(any Error)
        /// It set a forbidden header.
        case header(String)
    }

    /// The interceptor's type.
    let interceptor: String
    let reason: Reason

    /// For display: contains none of the interceptor's own text.
    var description: String {
        switch reason {
        case .threw: "The interceptor \(interceptor) failed"
        case .header(let name): "The interceptor \(interceptor) may not set the header \(name)"
        }
    }
}

/// Calls interceptors in order, and enforces their restrictions.
struct InterceptorChain: Sendable {
    let interceptors: [any RonInterceptor]

    /// The request after all interceptors.
    ///
    /// - Parameter request: The client's request.
    /// - Throws: ``InterceptorFailure``, or `CancellationError` if the task was cancelled in the meantime.
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

    /// The head of a response after all interceptors, called in reverse order.
    ///
    /// - Parameters:
    ///   - response: The server's response.
    ///   - request: The result of ``prepare(_:)``.
    /// - Throws: Like ``prepare(_:)``.
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

    /// Merges the headers as changed by an interceptor with those that were hidden from it.
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

    /// Also headers of a provider or a caller whose names suggest a credential, such as `x-api-key`.
    private static func isHidden(_ name: String) -> Bool { Redaction.isSensitive(name) }
}

import Foundation
import Hummingbird
import Logging
import NIOCore
import RonAppSdkSwift

/// Converts the SDK's errors from handlers to problems in JSON, and propagates the ids of requests
/// (docs/design/ron.md, "Decisions").
///
/// ```swift
/// let router = Router()
/// router.add(middleware: RonProblemMiddleware())
/// router.get("/ride/:id") { _, context -> Ride in
///     try await client.get("/rides/\(context.parameters.require("id"))").get()
/// }
/// ```
///
/// | thrown | status |
/// |---|---|
/// | `RonProblem` with a status from 400 to 599 | that one |
/// | a problem of kind `transport` without an answer | 504 for `local_timeout`, else 502 |
/// | a problem of kind `local`, `SdkConfigError`, `LocalNetworkError` | 500, without their text (about this server) |
/// | an answer that could not be read, was too long, or had no data | 502 |
/// | any other problem | 500 |
/// | Hummingbird's errors | their own |
/// | anything else | 500 with the code `internal`; the log has the details |
///
/// Every answer gets `x-request-id` and `x-correlation-id`.
public struct RonProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    private let makeId: @Sendable () -> String

    /// Creates the middleware.
    ///
    /// - Parameter requestIdFactory: Makes the id of a request without one; 32 random hexadecimal digits by default.
    public init(
        requestIdFactory: @escaping @Sendable () -> String = {
            UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
        }
    ) {
        makeId = requestIdFactory
    }

    /// Handles a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: Its context; its logger gets both ids.
    ///   - next: The next handlers.
    /// - Returns: Their answer, or the problem that they threw.
    /// - Throws: An error while answering with a problem; handlers' errors become an answer.
    @concurrent public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let ids = RonCorrelation(of: request.headers, makeId: makeId)
        var context = context
        context.logger[metadataKey: "ron.request_id"] = .string(ids.requestId)
        context.logger[metadataKey: "ron.correlation_id"] = .string(ids.correlationId)
        var response = try await RonCorrelation.$current.withValue(ids) {
            try await answer(request, context, ids, next)
        }
        ids.stamp(&response.headers)
        return response
    }

    @concurrent private func answer(
        _ request: Request, _ context: Context, _ ids: RonCorrelation,
        _ next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            // Hummingbird would do the same, but outside of this middleware, without the ids.
            return try error.response(from: request, context: context)
        } catch {
            guard let problem = ShownProblem(error) else {
                context.logger.error("a handler failed", metadata: ["error": .string(String(reflecting: error))])
                return try ShownProblem.ofOthers.response(ids)
            }
            context.logger.debug(
                "answered with a problem", metadata: ["ron.code": .string(problem.problem.countedCode)])
            return try problem.response(ids)
        }
    }
}

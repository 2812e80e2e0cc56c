import Hummingbird
import NIOCore

/// A request's connection.
struct PlaneContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// All routes and their middleware.
enum PlaneRouter {
    static func build(_ options: MockPlaneOptions, _ parts: Parts) -> Router<PlaneContext> {
        let router = Router(context: PlaneContext.self)
        router.add(middleware: Gateway(options, parts))
        router.add(middleware: FaultInjection(parts))
        GatewayRoutes.add(to: router)
        ExampleRoutes.add(to: router)
        ProblemRoutes.add(to: router)
        ListRoutes.add(to: router)
        FacetRoutes.add(to: router)
        StreamRoutes.add(to: router, parts)
        EventRoutes.add(to: router, parts.sink)
        FaultInjection.addRoutes(to: router)
        return router
    }
}

extension RouterMethods {
    /// - Parameters:
    ///   - method: one verb.
    ///   - path: in Hummingbird's syntax.
    ///   - handler: creates the answer.
    func answer(
        _ method: HTTPRequest.Method, _ path: RouterPath,
        use handler: @escaping @concurrent @Sendable (Request, Context) async throws -> Response
    ) {
        on(path, method: method, use: handler)
    }

    /// Registers a path for the app plane's five verbs.
    func anyVerb(
        _ path: RouterPath,
        use handler: @escaping @concurrent @Sendable (Request, Context) async throws -> Response
    ) {
        for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] {
            answer(method, path, use: handler)
        }
    }
}

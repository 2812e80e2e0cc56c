import Hummingbird
import NIOCore

/// What a request knows of its connection.
struct PlaneContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// All routes, with what every request passes on its way to them.
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
    ///   - path: as Hummingbird has it.
    ///   - handler: makes the answer.
    func answer(
        _ method: HTTPRequest.Method, _ path: RouterPath,
        use handler: @escaping @concurrent @Sendable (Request, Context) async throws -> Response
    ) {
        on(path, method: method, use: handler)
    }

    /// The five verbs of the app plane at one path.
    func anyVerb(
        _ path: RouterPath,
        use handler: @escaping @concurrent @Sendable (Request, Context) async throws -> Response
    ) {
        for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] {
            answer(method, path, use: handler)
        }
    }
}

// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let http: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHTTP: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let toml: Target.Dependency = .product(name: "TOMLKit", package: "TOMLKit")

// RON's SDK beside the client that it is built on, for `Benchmarks/ron.py`; `Sources` is a link to the project's, and the
// packages are those that the project was built with.
let package = Package(
    name: "ron-bench",
    dependencies: ["async-http-client", "swift-log", "swift-metrics", "swift-nio", "swift-nio-ssl", "TOMLKit"].map {
        .package(path: "../../.build/checkouts/\($0)")
    },
    targets: [
        .target(
            name: "HTTPKit", dependencies: [http, nio, nioPosix, nioHTTP, nioTLS], path: "Sources/Core/Ground/HTTPKit",
            swiftSettings: strict),
        .target(
            name: "RonAppSdkSwift",
            dependencies: ["HTTPKit", nio, nioTLS, log, metrics, toml],
            path: "Sources/Core/RON/RonAppSdkSwift", swiftSettings: strict),
        .executableTarget(
            name: "ron-bench", dependencies: ["RonAppSdkSwift", http, nio, nioHTTP], path: "Bench",
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

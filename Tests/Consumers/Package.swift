// swift-tools-version: 6.2
import PackageDescription

// What another package sees of this one: only products and public declarations. `.ci/run` builds and runs it.

let strict: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error)]

let package = Package(
    name: "consumers",
    dependencies: [
        .package(name: "steward", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
    ],
    targets: [
        .executableTarget(
            name: "dot-example", dependencies: [.product(name: "DotLifeDomain", package: "steward")],
            swiftSettings: strict),
        .executableTarget(
            name: "a4-example", dependencies: [.product(name: "A4CoreSwift", package: "steward")],
            swiftSettings: strict),
        .executableTarget(
            name: "ron-example",
            dependencies: [
                .product(name: "RonAppSdkSwift", package: "steward"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

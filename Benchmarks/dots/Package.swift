// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")

func core(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/Core/\(folder)/\(name)", swiftSettings: strict)
}

// The dot store without the agent around it, for `Benchmarks/dots.py`; `Sources` is a link to the project's, and GRDB is
// the one that the project was built with.
let package = Package(
    name: "dots-bench",
    dependencies: ["GRDB.swift", "swift-collections"].map { .package(path: "../../.build/checkouts/\($0)") },
    targets: [
        .systemLibrary(name: "COpenSSL", path: "Sources/Core/Ground/System/COpenSSL", pkgConfig: "libcrypto"),
        .target(name: "CLinux", path: "Sources/Core/Ground/System/CLinux"),
        core("Platform", in: "Ground", ["CLinux", "COpenSSL", deque, heap]),
        core("OwnFiles", in: "Ground", ["Platform"]),
        core("JSONText", in: "Ground", ["Platform"]),
        core("Sandbox", in: "Sandbox", ["CLinux", "Platform"]),
        core("SQLiteFile", in: "Storage", ["JSONText", "OwnFiles", "Platform", grdb]),
        core("DotLifeDomain", in: "Dots", ["Platform"]),
        core(
            "DotLifePersistence", in: "Dots", ["DotLifeDomain", "OwnFiles", "Platform", "SQLiteFile", "Sandbox", grdb]),
        .executableTarget(
            name: "dots-bench", dependencies: ["DotLifeDomain", "DotLifePersistence", "OwnFiles", "Platform"],
            path: "Bench", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

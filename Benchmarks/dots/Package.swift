// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")

func core(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/Core/\(name)", swiftSettings: strict)
}

// The dot store without the agent around it, for `Benchmarks/dots.py`; `Sources` is a link to the project's, and GRDB is
// the one that the project was built with.
let package = Package(
    name: "dots-bench",
    dependencies: [.package(path: "../../.build/checkouts/GRDB.swift")],
    targets: [
        .systemLibrary(name: "COpenSSL", path: "Sources/Core/System/COpenSSL", pkgConfig: "libcrypto"),
        .target(name: "CLinux", path: "Sources/Core/System/CLinux"),
        core("Platform", ["CLinux", "COpenSSL"]),
        core("OwnFiles", ["Platform"]),
        core("SQLiteFile", ["OwnFiles", "Platform", grdb]),
        core("DotLifeDomain", []),
        core("DotLifePersistence", ["DotLifeDomain", "OwnFiles", "Platform", "SQLiteFile", grdb]),
        .executableTarget(
            name: "dots-bench", dependencies: ["DotLifeDomain", "DotLifePersistence", "OwnFiles", "Platform"],
            path: "Bench", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

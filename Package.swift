// swift-tools-version: 6.2
import PackageDescription

// Which module may import which is decided here and explained in ARCHITECTURE.md; CI builds with
// `--explicit-target-dependency-import-check error`, so an arrow that is not here does not compile.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Linker settings of the released programs, for a quick start: most of it is spent in the dynamic linker.
///
/// Nothing loads code into them, so they export nothing, and unused code is removed. lld packs the 100,000 relocations
/// processed at each start, which gold cannot. Library functions are resolved at the start (`now`); afterwards the
/// addresses are read-only.
let slim: [LinkerSetting] = [
    .unsafeFlags(
        ["-use-ld=lld"]
            + ["--no-export-dynamic", "-z", "now", "-z", "pack-relative-relocs"].flatMap { ["-Xlinker", $0] },
        .when(configuration: .release))
]

/// For programs that load no C++ library: the part of the C++ runtime that Swift needs is linked in.
let withoutCxxLibraries: [LinkerSetting] = [
    .unsafeFlags(
        ["-L\(Context.packageDirectory)/packaging/link", "-Xclang-linker", "-static-libgcc"],
        .when(configuration: .release))
]

/// Printed by `--version` after the number. Unset outside of `make release`, so that a commit does not cause a rebuild.
let commit: [CSetting] =
    Context.environment["STEWARD_COMMIT"].map { [.define("STEWARD_COMMIT", to: "\"\($0)\"")] } ?? []

/// A module of `Sources/Core`, in the folder of its system.
func core(
    _ name: String, in folder: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil,
    linkerSettings: [LinkerSetting]? = nil
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/Core/\(folder)/\(name)", resources: resources,
        swiftSettings: strict, linkerSettings: linkerSettings)
}

func actions(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: ["Rules", "Platform"] + dependencies, path: "Sources/Rules/Actions/\(name)",
        swiftSettings: strict)
}

func suite(
    _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource]? = nil
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["OwnFiles", "TestSupport"], path: "Tests/\(name)", exclude: exclude,
        resources: resources, swiftSettings: strict)
}

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let metricsTests: Target.Dependency = .product(name: "MetricsTestKit", package: "swift-metrics")
let toml: Target.Dependency = .product(name: "TOMLKit", package: "TOMLKit")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTLS: Target.Dependency = .product(name: "HummingbirdTLS", package: "hummingbird")

let http: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")

let package = Package(
    name: "steward",
    products: [
        .executable(name: "steward", targets: ["steward"]),
        .executable(name: "steward-worker", targets: ["steward-worker"]),
        .executable(name: "tk", targets: ["tk"]),
        .executable(name: "ron-hello", targets: ["ron-hello"]),
        .executable(name: "ron-mock-plane", targets: ["ron-mock-plane"]),
        .library(name: "A4CoreSwift", targets: ["A4CoreSwift"]),
        .library(name: "DotLifeDomain", targets: ["DotLifeDomain"]),
        .library(name: "RonAppSdkSwift", targets: ["RonAppSdkSwift"]),
        .library(name: "RonHummingbird", targets: ["RonHummingbird"]),
        .library(name: "TKCore", targets: ["TKCore"]),
    ],
    traits: [
        .trait(
            name: "LibInotifyTools",
            description: """
                Events come through libinotifytools. It is GPL-2 only and the rest is under the Apache License 2.0, so a \
                binary with it is for one's own use; without it inotify's own system calls serve.
                """),
        .default(enabledTraits: ["LibInotifyTools"]),
    ],
    // Exact versions: each was tested, and a release does not change unnoticed. These and their own dependencies are listed
    // in packaging/swift-packages.txt.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections.git", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/LebJe/TOMLKit", exact: "0.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "COpenSSL", path: "Sources/Core/Ground/System/COpenSSL", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CInotifyTools", path: "Sources/Core/Ground/System/CInotifyTools",
            providers: [.apt(["libinotifytools0-dev"])]),
        .systemLibrary(
            name: "CArchive", path: "Sources/Core/Ground/System/CArchive", pkgConfig: "libarchive",
            providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(
            name: "CCmarkGfm", path: "Sources/Core/Ground/System/CCmarkGfm", pkgConfig: "libcmark-gfm",
            providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]),
        .systemLibrary(
            name: "CXml", path: "Sources/Core/Ground/System/CXml", pkgConfig: "libxml-2.0",
            providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(
            name: "CTextCat", path: "Sources/Core/Ground/System/CTextCat", pkgConfig: "libexttextcat",
            providers: [.apt(["libexttextcat-dev"])]),
        .target(name: "CTag", path: "Sources/Core/Ground/System/CTag", linkerSettings: [.linkedLibrary("tag")]),
        .target(name: "CHunspell", path: "Sources/Core/Ground/System/CHunspell"),
        .target(name: "CLinux", path: "Sources/Core/Ground/System/CLinux"),
        .target(name: "CCommit", path: "Sources/Core/Ground/System/CCommit", cSettings: commit),

        core("Platform", in: "Ground", ["CLinux", "COpenSSL", deque, heap]),
        core("OwnFiles", in: "Ground", ["Platform"]),
        // Not in Platform, which the worker uses as well: it loads nothing of Foundation.
        core("JSONText", in: "Ground", ["Platform"]),
        core("ControlSocket", in: "Ground", ["JSONText", "OwnFiles", "Platform"]),
        core("HTTPKit", in: "Ground", [http, nio, nioPosix, nioHTTP, nioTLS]),

        core("Sandbox", in: "Sandbox", ["CLinux", "Platform"]),
        .executableTarget(
            name: "steward-worker",
            dependencies: ["Sandbox", "OwnFiles", "Platform", "CArchive", "CLinux", "CTag", "CTextCat", "CXml"],
            path: "Sources/Core/Sandbox/steward-worker", swiftSettings: strict, linkerSettings: slim),

        core("SQLiteFile", in: "Storage", ["JSONText", "OwnFiles", "Platform", grdb]),
        core("Ledger", in: "Storage", ["JSONText", "OwnFiles", "Platform", "SQLiteFile", grdb]),
        .target(
            name: "Watching",
            dependencies: [
                "CLinux", "Platform",
                .target(name: "CInotifyTools", condition: .when(traits: ["LibInotifyTools"])),
            ],
            path: "Sources/Core/Watching", swiftSettings: strict),

        core("A4CoreSwift", in: "A4", ["OwnFiles", "Platform"]),
        core("DotLifeDomain", in: "Dots", ["Platform"]),
        core(
            "DotLifePersistence", in: "Dots", ["DotLifeDomain", "OwnFiles", "Platform", "SQLiteFile", "Sandbox", grdb]),
        core("ComicArchive", in: "Comics", ["CLinux", "OwnFiles", "Platform", "SQLiteFile", "Sandbox", grdb]),
        core("ComicVault", in: "Vault", ["CLinux", "COpenSSL", "OwnFiles", "Platform"]),
        core(
            "TKCore", in: "TK",
            [
                "HTTPKit", "JSONText", "OwnFiles", "Platform", "SQLiteFile", "CCmarkGfm", "CHunspell", grdb, nioTLS,
                yams,
            ],
            resources: [.copy("Resources")],
            // Foundation's own copy of ICU: its regular expressions have a step limit.
            linkerSettings: [.linkedLibrary("_FoundationICU")]),
        core(
            "RonAppSdkSwift", in: "RON", ["HTTPKit", "Platform", nio, nioTLS, log, metrics, toml]),
        core("RonHummingbird", in: "RON", ["RonAppSdkSwift", hummingbird, httpTypes, nio, log]),

        .target(
            name: "Rules", dependencies: ["JSONText", "Ledger", "Platform", deque, yams, log, metrics],
            path: "Sources/Rules/Engine", swiftSettings: strict),
        actions("FileActions", ["ComicArchive", "ComicVault", "JSONText", "Ledger", "Sandbox"]),
        actions(
            "NoteActions",
            ["A4CoreSwift", "DotLifeDomain", "DotLifePersistence", "FileActions", "JSONText", "Ledger", "TKCore", log]),
        actions(
            "RuleActions",
            ["ComicVault", "FileActions", "Ledger", "NoteActions", "RonAppSdkSwift", log]),

        .target(
            name: "AgentKit",
            dependencies: [
                "RuleActions", "FileActions", "NoteActions", "Rules", "Watching", "ControlSocket", "JSONText", "Ledger",
                "OwnFiles", "Platform", "A4CoreSwift", "CLinux", "ComicArchive", "ComicVault", "DotLifeDomain",
                "DotLifePersistence",
                "RonAppSdkSwift", "SQLiteFile", "Sandbox", "TKCore", yams, log, metrics, nio, nioPosix, nioHTTP,
                lifecycle,
            ],
            path: "Sources/Agent/AgentKit", swiftSettings: strict),
        .executableTarget(
            name: "steward",
            dependencies: [
                "AgentKit", "TKCommands", "ComicArchive", "ComicVault", "JSONText", "Rules",
                "Ledger", "OwnFiles", "Platform", arguments, log, lifecycle, signals,
            ],
            path: "Sources/Agent/steward",
            swiftSettings: strict, linkerSettings: slim + withoutCxxLibraries),
        .target(
            name: "TKCommands",
            dependencies: [
                "CCommit", "CLinux", "ControlSocket", "NoteActions", "TKCore", "OwnFiles", "Platform", arguments,
            ],
            path: "Sources/Agent/TKCommands", swiftSettings: strict),
        .executableTarget(
            name: "tk", dependencies: ["TKCommands"], path: "Sources/Agent/tk", swiftSettings: strict,
            linkerSettings: slim + withoutCxxLibraries),

        .executableTarget(
            name: "ron-mock-plane",
            dependencies: [
                "JSONText", "OwnFiles", "Platform", hummingbird, hummingbirdCore, hummingbirdTLS, httpTypes, nio,
                nioHTTP, nioTLS,
                arguments, log, lifecycle, signals,
            ],
            path: "Sources/Agent/ron-mock-plane", swiftSettings: strict),
        .executableTarget(
            name: "ron-hello", dependencies: ["RonAppSdkSwift", "Platform"], path: "Sources/Agent/ron-hello",
            swiftSettings: strict),

        .target(
            name: "TestSupport", dependencies: ["OwnFiles", "Platform"], path: "Tests/Support", swiftSettings: strict),
        .target(
            name: "ComicTestSupport",
            dependencies: ["ComicArchive", "OwnFiles", "Platform", "CArchive", "TestSupport"],
            path: "Tests/ComicSupport", swiftSettings: strict),
        suite("PlatformTests", ["JSONText", "Platform", "CLinux"]),
        suite("LedgerTests", ["Ledger", "Platform", "SQLiteFile", grdb]),
        suite("WatchingTests", ["Watching", "Platform"]),
        suite("A4CoreSwiftTests", ["A4CoreSwift"]),
        suite("A4GoldenParityTests", ["A4CoreSwift"]),
        suite(
            "ComicArchiveTests",
            ["ComicArchive", "ComicTestSupport", "Platform", "Sandbox", "CArchive", "steward-worker", grdb]),
        suite("ContentTests", ["FileActions", "Platform", "Rules", "Sandbox", "steward-worker"]),
        suite("ComicVaultTests", ["ComicVault", "Platform"], resources: [.copy("Vectors")]),
        suite("DotLifeTests", ["DotLifeDomain", "DotLifePersistence", "Platform", grdb]),
        suite("TKCoreTests", ["HTTPKit", "TKCore", "Platform"], exclude: ["Peers"]),
        suite("TKCommandTests", ["ControlSocket", "NoteActions", "TKCommands", "TKCore", "Platform", "tk"]),
        suite(
            "RonAppSdkSwiftTests",
            [
                "RonAppSdkSwift", "RonHummingbird", "Platform", "ron-hello", "ron-mock-plane",
                hummingbird,
                http, nio, nioPosix, nioHTTP, nioTLS, log, metricsTests,
            ], exclude: ["Peers"]),
        suite("RulesTests", ["Rules", "Ledger", "Platform", "CCmarkGfm", log]),
        suite(
            "RuleActionsTests",
            [
                "RuleActions", "FileActions", "NoteActions", "Rules", "Ledger", "Platform", "A4CoreSwift",
                "ComicArchive",
                "ComicTestSupport", "ComicVault", "DotLifePersistence", "DotLifeDomain", "RonAppSdkSwift", "Sandbox",
                "TKCore", "steward-worker", grdb, log,
            ]),
        suite(
            "AgentKitTests",
            [
                "AgentKit", "ControlSocket", "FileActions", "NoteActions", "RuleActions", "Rules", "Watching", "Ledger",
                "Platform",
                "ComicArchive", "ComicTestSupport", "ComicVault", "DotLifeDomain", "DotLifePersistence", "Sandbox",
                "steward", "steward-worker", log, metrics, lifecycle,
            ]),
        suite(
            "EndToEnd",
            [
                "ComicArchive", "ComicTestSupport", "ComicVault", "Platform", "ron-mock-plane", "steward",
                "steward-worker", "tk",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// For quick builds while working on one module: `STEWARD_TESTS=RulesTests,LedgerTests swift build --build-tests` builds
// only these suites and their dependencies. `make release` selects the programs this way, to build them at once.
if let some = Context.environment["STEWARD_TESTS"]?.split(separator: ",").map(String.init), !some.isEmpty {
    var needed: Set<String> = []
    func need(_ name: String) {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            return
        }
        for dependency in target.dependencies {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): need(name)
            default: break
            }
        }
    }
    some.forEach(need)
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { product in
        switch product {
        case let product as Product.Executable: !product.targets.allSatisfy(needed.contains)
        case let product as Product.Library: !product.targets.allSatisfy(needed.contains)
        default: false
        }
    }
}

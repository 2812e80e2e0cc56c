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

/// How the programs are linked in a release, for a quick start: most of it is spent by the dynamic linker.
///
/// Nothing loads code into them, so they export nothing, and what nobody calls is left out. lld packs the 100,000
/// addresses that are corrected at each start, which gold cannot.
let slim: [LinkerSetting] = [
    .unsafeFlags(
        ["-use-ld=lld"]
            + ["--no-export-dynamic", "-z", "pack-relative-relocs"].flatMap { ["-Xlinker", $0] },
        .when(configuration: .release))
]

/// For programs that load no library written in C++: what Swift needs of that language becomes part of them.
let withoutCxxLibraries: [LinkerSetting] = [
    .unsafeFlags(
        ["-L\(Context.packageDirectory)/packaging/link", "-Xclang-linker", "-static-libgcc"],
        .when(configuration: .release))
]

func core(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/Core/\(name)", swiftSettings: strict)
}

/// A system's actions, or what several of them share.
func actions(_ name: String, _ folder: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: ["Rules", "Platform"] + dependencies, path: "Sources/Rules/Actions/\(folder)",
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
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let http: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")

let package = Package(
    name: "steward",
    products: [
        .executable(name: "steward", targets: ["steward"]),
        .executable(name: "steward-unpack", targets: ["steward-unpack"]),
        .executable(name: "tk", targets: ["tk"]),
        .library(name: "A4CoreSwift", targets: ["A4CoreSwift"]),
        .library(name: "DotLifeDomain", targets: ["DotLifeDomain"]),
        .library(name: "TKCore", targets: ["TKCore"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "COpenSSL", path: "Sources/Core/System/COpenSSL", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CInotifyTools", path: "Sources/Core/System/CInotifyTools",
            providers: [.apt(["libinotifytools0-dev"])]),
        .systemLibrary(
            name: "CArchive", path: "Sources/Core/System/CArchive", pkgConfig: "libarchive",
            providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(
            name: "CCmarkGfm", path: "Sources/Core/System/CCmarkGfm", pkgConfig: "libcmark-gfm",
            providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]),
        .target(name: "CLinux", path: "Sources/Core/System/CLinux"),

        core("Platform", ["CLinux", "COpenSSL"]),
        core("OwnFiles", ["Platform"]),
        core("JSONText", ["Platform"]),
        core("PeopleFiles", ["CLinux", "Platform"]),
        core("SQLiteFile", ["OwnFiles", "Platform", grdb]),
        core("Watching", ["Platform", "CInotifyTools"]),
        core("Ledger", ["JSONText", "OwnFiles", "Platform", "SQLiteFile", grdb]),
        core("A4CoreSwift", ["OwnFiles", "PeopleFiles", "Platform"]),
        core("DotLifeDomain"),
        core("ComicParsing", ["Platform"]),
        core("ComicUnpacking", ["ComicParsing", "OwnFiles", "Platform", "CArchive", "CLinux"]),
        core("ComicArchive", ["ComicParsing", "OwnFiles", "Platform", "SQLiteFile", "CLinux", grdb]),
        core("ComicVault", ["JSONText", "OwnFiles", "Platform", "CLinux", "COpenSSL"]),
        core("DotLifePersistence", ["DotLifeDomain", "OwnFiles", "Platform", "SQLiteFile", grdb]),
        .target(
            name: "TKCore",
            dependencies: [
                "JSONText", "OwnFiles", "PeopleFiles", "Platform", "SQLiteFile", "CCmarkGfm", grdb, http, nio, nioPosix,
                nioHTTP,
                nioTLS,
            ],
            path: "Sources/Core/TKCore", resources: [.copy("Resources")], swiftSettings: strict),

        .target(
            name: "Rules", dependencies: ["JSONText", "Ledger", "Platform", yams, log], path: "Sources/Rules/Engine",
            swiftSettings: strict),
        actions("FilePlacing", "file-placing"),
        actions("NoteWriting", "note-writing", ["A4CoreSwift", "Ledger", "PeopleFiles", log]),
        actions("NoteActions", "notes", ["NoteWriting", "FilePlacing", "A4CoreSwift"]),
        actions("FileActions", "files", ["FilePlacing"]),
        actions("CaptureActions", "captures", ["DotLifeDomain", "DotLifePersistence"]),
        actions("ComicActions", "comics", ["FilePlacing", "ComicArchive", "ComicVault", "JSONText", "Ledger"]),
        actions("ReviewActions", "review", ["NoteWriting", "JSONText", "Ledger", "PeopleFiles", "TKCore"]),
        actions("ProcessActions", "process"),
        actions(
            "RuleActions", "registry",
            [
                "NoteActions", "FileActions", "CaptureActions", "ComicActions", "ReviewActions", "ProcessActions",
                "NoteWriting", "FilePlacing", "ComicVault",
            ]),

        .target(
            name: "AgentKit",
            dependencies: [
                "RuleActions", "CaptureActions", "ComicActions", "FilePlacing", "NoteWriting", "ProcessActions",
                "ReviewActions", "Rules", "Watching", "JSONText", "Ledger", "OwnFiles", "Platform", "A4CoreSwift",
                "ComicArchive",
                "ComicVault", "DotLifeDomain", "DotLifePersistence", "TKCore", yams, log, lifecycle,
            ],
            path: "Sources/Agent/AgentKit", swiftSettings: strict),
        .executableTarget(
            name: "steward",
            dependencies: [
                "AgentKit", "ComicArchive", "ComicVault", "JSONText", "Rules", "Ledger", "OwnFiles", "Platform",
                arguments, log,
                lifecycle, signals,
            ],
            path: "Sources/Agent/steward",
            swiftSettings: strict, linkerSettings: slim + withoutCxxLibraries),
        .executableTarget(
            name: "tk", dependencies: ["TKCore", "JSONText", "OwnFiles", "Platform", arguments],
            path: "Sources/Agent/tk", swiftSettings: strict, linkerSettings: slim + withoutCxxLibraries),

        .executableTarget(
            name: "steward-unpack", dependencies: ["ComicUnpacking"], path: "Sources/Agent/steward-unpack",
            swiftSettings: strict, linkerSettings: slim),

        .target(
            name: "TestSupport", dependencies: ["OwnFiles", "Platform"], path: "Tests/Support", swiftSettings: strict),
        .target(
            name: "ComicTestSupport",
            dependencies: ["ComicArchive", "OwnFiles", "Platform", "CArchive", "TestSupport"],
            path: "Tests/ComicSupport", swiftSettings: strict),
        suite("PlatformTests", ["JSONText", "Platform", "CLinux"]),
        suite("PeopleFilesTests", ["PeopleFiles", "Platform"]),
        suite("LedgerTests", ["Ledger", "Platform"]),
        suite("WatchingTests", ["Watching", "Platform"]),
        suite("A4CoreSwiftTests", ["A4CoreSwift"]),
        suite("A4GoldenParityTests", ["A4CoreSwift"]),
        suite(
            "ComicArchiveTests",
            [
                "ComicArchive", "ComicParsing", "ComicUnpacking", "ComicTestSupport", "Platform", "CArchive",
                "steward-unpack", grdb,
            ]),
        suite("ComicVaultTests", ["ComicVault", "Platform", crypto, cryptoExtras], resources: [.copy("Vectors")]),
        suite("DotLifeTests", ["DotLifeDomain", "DotLifePersistence", "Platform", grdb]),
        suite("TKCoreTests", ["JSONText", "TKCore", "Platform"], exclude: ["Peers"]),
        suite("TKCommandTests", ["TKCore", "Platform", "tk"]),
        suite("RulesTests", ["JSONText", "Rules", "Ledger", "Platform", "CCmarkGfm", log]),
        suite(
            "RuleActionsTests",
            [
                "RuleActions", "CaptureActions", "ComicActions", "FilePlacing", "NoteWriting", "ProcessActions",
                "ReviewActions", "Rules", "Ledger", "Platform", "A4CoreSwift", "ComicArchive", "ComicTestSupport",
                "ComicVault", "DotLifePersistence", "DotLifeDomain", "TKCore", "steward-unpack", log,
            ]),
        suite(
            "AgentKitTests",
            [
                "AgentKit", "NoteWriting", "ProcessActions", "Rules", "Watching", "Ledger", "Platform", "ComicArchive",
                "ComicTestSupport", "ComicVault", "steward-unpack", log,
            ]),
        suite("EndToEnd", ["ComicArchive", "ComicTestSupport", "ComicVault", "Platform", "steward", "steward-unpack"]),
    ],
    swiftLanguageModes: [.v6]
)

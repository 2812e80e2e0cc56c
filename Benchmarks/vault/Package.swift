// swift-tools-version: 6.2
import PackageDescription

// The vault's store without the agent around it, for `Benchmarks/vault.py`; `Sources` is a link to the project's.
let package = Package(
    name: "vault-bench",
    targets: [
        .systemLibrary(name: "COpenSSL", path: "Sources/Core/System/COpenSSL", pkgConfig: "libcrypto"),
        .target(name: "CLinux", path: "Sources/Core/System/CLinux"),
        .target(name: "Platform", dependencies: ["CLinux", "COpenSSL"], path: "Sources/Core/Platform"),
        .target(name: "ComicVault", dependencies: ["Platform", "CLinux", "COpenSSL"], path: "Sources/Core/ComicVault"),
        .executableTarget(name: "vault-bench", dependencies: ["ComicVault", "Platform"], path: "Bench"),
    ],
    swiftLanguageModes: [.v6]
)

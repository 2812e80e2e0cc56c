// swift-tools-version: 6.2
import PackageDescription

// The vault's store without the agent around it, for `Benchmarks/vault.py`; `Sources` is a link to the project's.
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")

let package = Package(
    name: "vault-bench",
    dependencies: [.package(path: "../../.build/checkouts/swift-collections")],
    targets: [
        .systemLibrary(name: "COpenSSL", path: "Sources/Core/Ground/System/COpenSSL", pkgConfig: "libcrypto"),
        .target(name: "CLinux", path: "Sources/Core/Ground/System/CLinux"),
        .target(
            name: "Platform", dependencies: ["CLinux", "COpenSSL", deque, heap], path: "Sources/Core/Ground/Platform"),
        .target(name: "OwnFiles", dependencies: ["Platform"], path: "Sources/Core/Ground/OwnFiles"),
        .target(
            name: "ComicVault", dependencies: ["CLinux", "COpenSSL", "OwnFiles", "Platform"],
            path: "Sources/Core/Vault/ComicVault"),
        .executableTarget(name: "vault-bench", dependencies: ["ComicVault", "Platform"], path: "Bench"),
    ],
    swiftLanguageModes: [.v6]
)

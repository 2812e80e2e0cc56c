import Testing

/// The entry point of the tests. SwiftPM takes a file of this name instead of writing one; it would look for XCTest's
/// tests, of which there are none, in an index that costs a fifth of the build.
@main struct Runner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}

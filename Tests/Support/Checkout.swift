import Platform

/// The repository that the tests were built from.
package enum Checkout {
    /// Absolute; as the compiler was told it, so links may be in it.
    package static let root = BytePath(#filePath).parent.parent.parent
}

import Platform

/// Text from outside as it may stand in a message: no controls, at most 80 characters.
package func printable(_ text: String) -> String {
    let safe = BytePath.escape(Array(text.utf8.prefix(320)))
    return safe.count > 80 ? safe.prefix(79) + "…" : safe
}

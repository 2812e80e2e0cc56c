import Platform

/// Untrusted text made safe for messages: no control characters, at most 80 characters.
package func printable(_ text: String) -> String {
    let safe = BytePath.escape(Array(text.utf8.prefix(320)))
    return safe.count > 80 ? safe.prefix(79) + "…" : safe
}

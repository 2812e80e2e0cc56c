import Foundation
import Glibc

/// A call of the freedesktop.org desktop notifications specification 1.2, for busctl(1).
enum DesktopCall {
    /// The session bus of the agent's user; nil if there is none.
    static func bus(_ environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"), !runtime.contains(";"),
            access("\(runtime)/bus", F_OK) == 0
        else { return nil }
        return "unix:path=\(runtime)/bus"
    }

    /// The arguments. After `--` no value can become an option.
    static func words(_ title: String, _ text: String, _ urgency: NotifyPerson.Urgency) -> [String] {
        let level = urgency == .low ? "0" : urgency == .normal ? "1" : "2"
        return ["--user", "--timeout=10", "--", "call"] + [
            "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
            "Notify",
        ] + ["susssasa{sv}i", "Steward", "0", "", shown(title), marked(text), "0", "1", "urgency", "y", level, "-1"]
    }

    /// NUL would end the argument.
    private static func shown(_ text: String) -> String { text.replacingOccurrences(of: "\0", with: " ") }

    /// The text may contain markup, so values are escaped.
    private static func marked(_ text: String) -> String {
        shown(text).replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }
}

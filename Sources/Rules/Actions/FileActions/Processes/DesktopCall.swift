import Foundation
import Glibc

/// A call of the freedesktop.org desktop notifications specification 1.2, for busctl(1).
enum DesktopCall {
    /// The bus of the user whom the agent runs as; nil where there is none.
    static func bus(_ environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"), !runtime.contains(";"),
            access("\(runtime)/bus", F_OK) == 0
        else { return nil }
        return "unix:path=\(runtime)/bus"
    }

    /// What follows the program's name. Whatever a value begins with, it is no option.
    static func words(_ title: String, _ text: String, _ urgency: NotifyPerson.Urgency) -> [String] {
        let level = urgency == .low ? "0" : urgency == .normal ? "1" : "2"
        return ["--user", "--timeout=10", "--", "call"] + [
            "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
            "Notify",
        ] + ["susssasa{sv}i", "Steward", "0", "", shown(title), marked(text), "0", "1", "urgency", "y", level, "-1"]
    }

    /// A NUL ends an argument.
    private static func shown(_ text: String) -> String { text.replacingOccurrences(of: "\0", with: " ") }

    /// The text may be markup there: a value is none.
    private static func marked(_ text: String) -> String {
        shown(text).replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }
}

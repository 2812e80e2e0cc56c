import TKCommands

/// `tk` as a separate program, built for tests. A release installs `steward` under this name as well.
@main
enum Program {
    static func main() async { await runTK() }
}

import Platform

/// The file written by `steward init`.
package enum ConfigurationTemplate {
    /// - Parameter base: the folder for the places, as the user writes it.
    package static func text(base: String) -> String {
        """
        # Steward's configuration. `steward check` says whether it is valid, and where it is not.

        # The folders that Steward watches. The kind decides what rules do by default:
        #   notes    the A4 vault: Markdown notes with anchored blocks
        #   drafts   texts that you work on
        #   inbox    comics and other files to be taken in: what a rule refuses goes to quarantine
        #   dropbox  captures: notes, links, photos, dots
        #   folder   any other folder, for rules that move or copy things there
        places:
          notes:   { kind: notes, path: \(base)/notes }
          drafts:  { kind: drafts, path: \(base)/drafts }
          comics:  { kind: inbox, path: \(base)/comics }
          dropbox: { kind: dropbox, path: \(base)/dropbox }
          # Where comics go from the inbox; `steward comics` looks for them here.
          library: { kind: folder, path: \(base)/library }
          # archive: { kind: folder, path: \(base)/archive }
          # Links inside a place lead nowhere, unless it says `follow-links: inside`. Files beyond `limits: { size: 64 GiB }`
          # are not processed.
          # A network file system that sends no events is polled automatically; `watch: poll` forces it.

        # Folders for encrypted comics (docs/vault.md): created by `steward vault init`. An unlocked vault is locked after a
        # while without use.
        vaults:
          main: { path: \(base)/vault, lock-after: 15m }

        # time-zone: Europe/Berlin     # for times in anchors and templates; by default the system's
        # device: laptop               # the suffix of anchors that a note already holds; by default the host's name

        # Ignored names: `*` is anything, `?` any one byte, NNN three digits, XXXXXX at the end a suffix of mkstemp (six letters
        # and digits, not all of them small letters). After a `!`, names that are never ignored.
        # ignore: ["*.bak", "!invoice.tmp"]
        # These are always included, left behind by systems:
        \(listed(WorkNames.litter))
        # and these, which programs use while they work:
        \(listed(WorkNames.work))

        # How long a file must be unchanged before rules see it, unless a rule says otherwise.
        # settle: 1s

        # Whether rules may run programs (action `run`), and for how long.
        # run: { allow: false, timeout: 5m }

        # The program by which the action `notify` sends mail; without it rules send none.
        # notify: { sendmail: /usr/sbin/sendmail }

        # Writing to notes: how long to wait while somebody has one open, and while there is an editor's swap file.
        # notes: { wait-open: 30s, wait-editor: 1m }

        # Whose ticks in notes answer questions of the action `confirm`: the owner of the file, members of a group. Without
        # this, anybody who can write the note (docs/security.md).
        # confirm: { owner: true, group: family }

        # How many steps of each kind of work run at the same time.
        # limits: { disk: 512, cpu: 2, network: 8, model: 2, process: 2 }

        # The sentence that a capture completes, for rules ({{ capture.sentence }}) and `steward dots add`; both words in
        # brackets are needed.
        # captures: { sentence: "I appreciate [experience] for [moment]" }

        # Where rules may publish events (docs/publish.md): nodes of RON and webhooks. `token` and `secret` are names of
        # credentials in the folder `secrets` beside this file.
        # publish:
        #   hook: { kind: webhook, url: "https://hooks.example.org/steward", secret: hook }

        # The size limit of the quarantine; beyond that a refused file stays in its place.
        # quarantine: { size: 20 GiB }

        # Where the agent serves its metrics to a scraper on this machine (docs/operations.md); without it nowhere.
        # metrics: { listen: 127.0.0.1:9464 }

        # history: 90d                 # how long ended jobs can be explained and undone
        # poll: 30s                    # how often a place without events is looked at
        # control: { group: steward }  # whose members may command the agent, besides its own user and root
        # log: { level: info, format: text }

        """
    }

    /// The patterns as comments, several per line.
    private static func listed(_ patterns: [String]) -> String {
        var lines: [String] = []
        var line = "#  "
        for pattern in patterns {
            let word = " " + (pattern.hasSuffix("\r") ? "\"\(pattern.dropLast())\\r\"" : pattern)
            if line.utf8.count + word.utf8.count > 110 {
                lines.append(line)
                line = "#  "
            }
            line += word
        }
        return (lines + [line]).joined(separator: "\n")
    }
}

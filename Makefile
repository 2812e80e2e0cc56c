# `make` alone lists the targets.

SWIFT ?= swift
PREFIX ?= /usr
DESTDIR ?=

# Which module may import which is part of the design: see ARCHITECTURE.md. An index would be a fifth of the work;
# editors make their own, and Tests/XCTMain.swift does without.
CHECKED := --explicit-target-dependency-import-check error --disable-index-store
# Without libinotifytools, which is GPL-2 only: see NOTICE. `make release RELEASE_TRAITS=` builds with it.
RELEASE_TRAITS ?= --disable-default-traits
# Printed by `--version` after the number, with a note if the tree differs from the commit.
COMMIT ?= $(shell git rev-parse --short=12 HEAD 2> /dev/null && (git diff --quiet HEAD 2> /dev/null || echo +changes))
named = $(subst $() ,,$(COMMIT))
# The timestamp in release artifacts: the commit's, in seconds.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2> /dev/null || stat -c %Y CHANGELOG.md)
# A separate folder: `make bench` and a plain `swift build -c release` use other options, and their output must not be
# installed. The dependencies are checked out there again.
SHIPPED := .build/shipped
BIN := $(SHIPPED)/release
# Reproducible: neither folders of the build machine nor library locations are in the output. Debug information, which
# nobody installs, would be half of the work.
RELEASE := $(CHECKED) --scratch-path $(SHIPPED) -c release --static-swift-stdlib $(RELEASE_TRAITS) \
    --disable-local-rpath -debug-info-format none -Xswiftc -Xfrontend -Xswiftc -function-sections \
    -Xswiftc -file-prefix-map -Xswiftc "$(CURDIR)=/steward" -Xcc "-ffile-prefix-map=$(CURDIR)=/steward"
# The part of Unicode's data that the programs use, instead of all of it in each program.
ICU := .build/icu-data.o
RELEASE_LINK = -Xlinker $(CURDIR)/$(ICU) -Xlinker --wrap=$$(cat $(ICU).name)
# Functions that the agent calls are placed together, in few pages; names that no longer exist are ignored.
ORDER := packaging/link/order.txt
RELEASE_ORDER := -Xlinker --symbol-ordering-file=$(CURDIR)/$(ORDER) -Xlinker --no-warn-symbol-ordering
# Only these, so that one call builds them in parallel, and nothing for tests and tools.
# `steward` is also `tk`, depending on the name it is called by.
RELEASED := steward,steward-worker
TK := .build/installed/tk
release: export STEWARD_TESTS := $(RELEASED)
release: export STEWARD_COMMIT := $(named)
SOURCES := Sources Tests Package.swift
PACKAGES := packaging/install-packages.sh
# Runs a command with its output in a log and its progress in one line.
QUIETLY := packaging/quietly.sh
MANUALS := .build/manuals
NOTICES := .build/notices
BUILT := $(BIN)/steward $(BIN)/steward-worker $(TK) $(MANUALS)/steward.1 $(MANUALS)/tk.1 \
    $(NOTICES)/THIRD-PARTY
DEBS := .build/deb

INSTALL_PROGRAM := install -D -s --strip-program=packaging/strip.py -m 755

bindir := $(DESTDIR)$(PREFIX)/bin
sharedir := $(DESTDIR)$(PREFIX)/share
libdir := $(DESTDIR)$(PREFIX)/lib
libexecdir := $(DESTDIR)$(PREFIX)/libexec

.DEFAULT_GOAL := help
.PHONY: help demo build test prove campaign bench format lint docs reference release order deb prove-package check-built install \
    install-units uninstall clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## build, and show the agent at work in a temporary home
	@echo "The first build takes about seven minutes on two cores, later ones seconds."
	@$(PACKAGES) build
	@$(QUIETLY) "building the demo" .build/demo.log $(SWIFT) build $(CHECKED)
	@.build/debug/steward demo --rules rules.d

build: ## build everything
	$(PACKAGES) build
	$(SWIFT) build $(CHECKED)

test: ## run all tests
	@echo "The first build takes about a quarter of an hour on two cores, the tests take half an hour more."
	@$(PACKAGES) build test
	@$(QUIETLY) "building the tests" .build/tests.log $(SWIFT) build $(CHECKED) --build-tests
	@Tests/run.sh

prove: ## run all tests twice in one folder, and again in random order on one core
	$(PACKAGES) build test
	$(SWIFT) build $(CHECKED) --build-tests
	Tests/run.sh all all
	Tests/run.sh shuffled

campaign: ## for the night: power cuts, kills, and 10,000 swaps of files and folders against each action; needs root
	$(PACKAGES) build test
	$(SWIFT) build $(CHECKED) --build-tests
	for suite in PowerCut KillCampaign EffectCampaign PublishCampaign SwapCampaign; do \
	    STEWARD_TEST_WHOLE=1 Tests/run.sh only EndToEnd.$${suite}Tests || exit; done
	STEWARD_TEST_WHOLE=1 Tests/run.sh only '(ComicArchiveTests.(CompressedTar|ZipHeader|HostileDamage)|ComicVaultTests.(ObjectTampering|VaultTampering|Snapshot|Mark)|DotLifeTests.Bucket|ContentTests.Corpus|RuleActionsTests.(ActionCrash|NoteExchange|ReviewModel)|RulesTests.(SchedulerModel|RunningWorstMoment)|TKCoreTests.OtherParser|TKCommandTests.LanguageHistory|EndToEnd.EditorTests/Table)'

bench: ## run the benchmarks
	Benchmarks/run.sh

format: ## format the sources in place
	$(SWIFT) format format --in-place --recursive $(SOURCES)

lint: ## report formatting errors
	$(SWIFT) format lint --strict --recursive $(SOURCES)

docs: ## write docs/rules.md and docs/rules.schema.json from the code
	$(SWIFT) build $(CHECKED) --product steward
	.build/debug/steward rules manual > docs/rules.md.new
	.build/debug/steward rules schema > docs/rules.schema.json.new
	mv docs/rules.md.new docs/rules.md
	mv docs/rules.schema.json.new docs/rules.schema.json

reference: ## generate the documentation of the libraries in .build/documentation
	$(SWIFT) build $(CHECKED)
	.ci/docs

release: ## build what `make install` installs
	@echo "The first build takes about twenty minutes on two cores."
	@$(PACKAGES) build
# Pins and checks all packages, including indirect dependencies, before building any of them.
	packaging/swift_packages.py pin $(CURDIR)
	$(SWIFT) package --scratch-path $(SHIPPED) resolve
	packaging/swift_packages.py check $(SHIPPED)
	mkdir -p $(MANUALS) $(dir $(ICU))
	packaging/link/icu-data.py "$$(dirname "$$(readlink -f "$$(command -v $(SWIFT))")")/../lib/swift_static/linux/lib_FoundationICU.a" \
	    $(ICU) > $(ICU).name
# The build system does not notice a changed order file.
	if [ $(ORDER) -nt $(BIN)/steward ]; then rm -f $(BIN)/steward $(BIN)/steward-worker; fi
	@$(QUIETLY) "building the release" .build/release.log $(SWIFT) build $(RELEASE) $(RELEASE_LINK) $(RELEASE_ORDER)
# The package's own tool: its plugin would build everything a second time, for debugging.
	@$(QUIETLY) "building the tool for manuals" .build/manuals.log $(SWIFT) build $(RELEASE) $(RELEASE_LINK) \
	    --product generate-manual
	mkdir -p $(dir $(TK)) && ln -sf ../shipped/release/steward $(TK)
# The date is the commit's, with the month in English; manual pages need a macro for an empty line.
	for program in $(BIN)/steward $(TK); do \
	    LC_ALL=C.UTF-8 $(BIN)/generate-manual $$program --output-directory $(MANUALS) \
	        --date $$(date -u -d @$(SOURCE_DATE_EPOCH) +%F) || exit 1; done
	sed -i 's/^$$/.Pp/' $(MANUALS)/*.1
	SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) \
	    packaging/components.py $(SHIPPED) $(NOTICES) "$$($(BIN)/steward --version | cut -d ' ' -f 1)"

order: ## measure again which functions the agent calls, for the next release
	$(PACKAGES) build order
	$(MAKE) release
	Benchmarks/order.py $(BIN)/steward $(ORDER)

$(BUILT):
	$(MAKE) release

deb: $(BUILT) ## package the output of `make release` for Debian, in .build/deb
	packaging/check-built.sh $(BIN) "$(named)"
	$(PACKAGES) deb
	packaging/deb/build.sh $(BIN) $(DEBS)
	cd $(DEBS) && lintian --fail-on error,warning --info steward_*.changes

prove-package: ## install, upgrade and remove the Debian package on a separate Debian; needs root
	$(PACKAGES) deb prove-package
	Tests/Machine/package.sh $$(ls -t $(DEBS)/steward_*.deb | head -n 1)

# Checks that the programs are what `make release` builds from this commit. Builds with libinotifytools may be installed.
check-built: $(BUILT)
	packaging/check-built.sh $(BIN) "$(named)" $(if $(strip $(RELEASE_TRAITS)),,for-own-use)

# Only copies the output of `make release`, so that root needs no Swift. Symbols, more than half of each program, stay in
# .build/shipped.
# The program looks for the shipped rules in /usr/share/steward/rules.d, so another PREFIX needs a link there or in /etc.
install: check-built install-units ## install into $(DESTDIR)$(PREFIX), /usr by default
	$(INSTALL_PROGRAM) $(BIN)/steward $(bindir)/steward
	$(INSTALL_PROGRAM) $(BIN)/steward-worker $(libexecdir)/steward/steward-worker
	ln -sf steward $(bindir)/tk
	rm -rf $(sharedir)/steward/tk
	(cd Sources/Core/TK/TKCore/Resources && find . -type f) | while read -r file; do \
	    install -D -m 644 "Sources/Core/TK/TKCore/Resources/$$file" "$(sharedir)/steward/tk/$$file" || exit 1; done
	install -d $(sharedir)/steward/rules.d
	install -m 644 rules.d/*.yaml rules.d/*.example $(sharedir)/steward/rules.d
	install -m 644 docs/rules.schema.json $(sharedir)/steward/rules.schema.json
	install -d $(sharedir)/bash-completion/completions $(sharedir)/zsh/site-functions \
	    $(sharedir)/fish/vendor_completions.d
	for program in $(BIN)/steward $(TK); do \
	    name=$$(basename $$program) && \
	    $$program --generate-completion-script bash | sed '1{/^#!/d}' \
	        > $(sharedir)/bash-completion/completions/$$name && \
	    $$program --generate-completion-script zsh > $(sharedir)/zsh/site-functions/_$$name && \
	    $$program --generate-completion-script fish > $(sharedir)/fish/vendor_completions.d/$$name.fish && \
	    install -D -m 644 $(MANUALS)/$$name.1 $(sharedir)/man/man1/$$name.1 || exit 1; done
	install -d $(sharedir)/doc/steward/design $(sharedir)/doc/steward/examples
	install -m 644 README.md CHANGELOG.md SECURITY.md LICENSE LICENSE-APACHE LICENSE-MIT NOTICE docs/*.md docs/rules.schema.json \
	    $(NOTICES)/THIRD-PARTY $(NOTICES)/steward.spdx.json $(sharedir)/doc/steward
	install -m 644 docs/design/*.md $(sharedir)/doc/steward/design
	install -m 644 packaging/sysctl.d/50-steward.conf.example packaging/systemd/models.conf.example \
	    packaging/systemd/metrics.conf.example \
	    packaging/systemd/steward-backup.service packaging/systemd/steward-backup.timer \
	    $(sharedir)/doc/steward/examples
	install -D -m 644 packaging/apparmor/steward $(sharedir)/doc/steward/examples/apparmor/steward
	@[ "$(PREFIX)" = /usr ] || echo "The rules are in $(PREFIX)/share/steward/rules.d. For the program to find them:" \
	    "ln -s $(PREFIX)/share/steward/rules.d /etc/steward/rules.d"

# A separate target for the tests, which start the units under their own systemd.
install-units:
	install -d $(libdir)/systemd/system $(libdir)/systemd/user
	sed 's|/usr/bin/steward|$(PREFIX)/bin/steward|' packaging/systemd/steward.service \
	    > $(libdir)/systemd/system/steward.service
	install -m 644 packaging/systemd/steward.socket $(libdir)/systemd/system/steward.socket
	install -m 644 packaging/systemd/user/steward.socket $(libdir)/systemd/user/steward.socket
	sed 's|/usr/bin/steward|$(PREFIX)/bin/steward|; s|/usr/share/doc|$(PREFIX)/share/doc|' \
	    packaging/systemd/steward-vault-lock.service > $(libdir)/systemd/system/steward-vault-lock.service
	sed 's|/usr/bin/steward|$(PREFIX)/bin/steward|' packaging/systemd/user/steward.service \
	    > $(libdir)/systemd/user/steward.service
	install -D -m 644 packaging/sysusers.d/steward.conf $(libdir)/sysusers.d/steward.conf
	install -D -m 644 packaging/tmpfiles.d/steward.conf $(libdir)/tmpfiles.d/steward.conf

uninstall: ## remove what `make install` installed; state and configuration stay
	@echo "A running agent continues until it is stopped, and its units stay enabled. Before this:" \
	    "systemctl disable --now steward.socket steward.service; for each user the same with --user."
	rm -f $(bindir)/steward $(bindir)/tk
	rm -rf $(libexecdir)/steward
	rm -rf $(sharedir)/steward $(sharedir)/doc/steward
	rm -f $(libdir)/systemd/system/steward.service $(libdir)/systemd/user/steward.service
	rm -f $(libdir)/systemd/system/steward.socket $(libdir)/systemd/user/steward.socket
	rm -f $(libdir)/systemd/system/steward-vault-lock.service
	rm -f $(libdir)/sysusers.d/steward.conf $(libdir)/tmpfiles.d/steward.conf
	for name in steward tk; do \
	    rm -f $(sharedir)/bash-completion/completions/$$name $(sharedir)/zsh/site-functions/_$$name \
	        $(sharedir)/fish/vendor_completions.d/$$name.fish $(sharedir)/man/man1/$$name.1; done

clean: ## remove build output
	$(SWIFT) package clean
	[ ! -d $(SHIPPED) ] || $(SWIFT) package --scratch-path $(SHIPPED) clean

# `make` alone shows what there is to make.

SWIFT ?= swift
PREFIX ?= /usr
DESTDIR ?=

# Which module may import which is part of the design: see ARCHITECTURE.md.
CHECKED := --explicit-target-dependency-import-check error
# Without libinotifytools, which is GPL-2 only: see NOTICE. `make release RELEASE_TRAITS=` builds with it.
RELEASE_TRAITS ?= --disable-default-traits
# What `--version` says after the number; a tree that differs from its commit says so.
COMMIT ?= $(shell git rev-parse --short=12 HEAD 2> /dev/null && (git diff --quiet HEAD 2> /dev/null || echo +changes))
named = $(subst $() ,,$(COMMIT))
# The time in what is made of a release: the commit's, in seconds.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2> /dev/null || stat -c %Y CHANGELOG.md)
# A folder of its own: `make bench` and a plain `swift build -c release` build with other options, and nothing of theirs is
# to be installed. The packages that we use are checked out there once more.
SHIPPED := .build/shipped
BIN := $(SHIPPED)/release
# The same sources give the same bytes: no folder of the machine that builds is in them, nor where libraries lay there.
# Debugging information, which nobody installs, would be half of the work.
RELEASE := $(CHECKED) --scratch-path $(SHIPPED) -c release --static-swift-stdlib $(RELEASE_TRAITS) \
    --disable-local-rpath -debug-info-format none -Xswiftc -Xfrontend -Xswiftc -function-sections \
    -Xswiftc -file-prefix-map -Xswiftc "$(CURDIR)=/steward" -Xcc "-ffile-prefix-map=$(CURDIR)=/steward"
# Of Unicode's data what the programs use, instead of all of it in each of them.
ICU := .build/icu-data.o
RELEASE_LINK = -Xlinker $(CURDIR)/$(ICU) -Xlinker --wrap=$$(cat $(ICU).name)
# Functions that the agent calls lie together, in few pages; a name that is no more counts for nothing.
ORDER := packaging/link/order.txt
RELEASE_ORDER := -Xlinker --symbol-ordering-file=$(CURDIR)/$(ORDER) -Xlinker --no-warn-symbol-ordering
# Alone, so that one call builds them side by side, and nothing for tests and tools.
# `steward` is `tk` as well, where it is called so.
RELEASED := steward,steward-worker
TK := .build/installed/tk
release: export STEWARD_TESTS := $(RELEASED)
release: export STEWARD_COMMIT := $(named)
SOURCES := Sources Tests Package.swift
PACKAGES := packaging/install-packages.sh
# A command's output in a log, and how far it is in one line.
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

demo: ## build, and show the agent at work in a throw-away home
	@echo "The first build takes some six minutes on two cores, the next ones seconds."
	@$(PACKAGES) build
	@$(QUIETLY) "building the demo" .build/demo.log $(SWIFT) build $(CHECKED)
	@.build/debug/steward demo --rules rules.d

build: ## build everything
	$(PACKAGES) build
	$(SWIFT) build $(CHECKED)

test: ## run all tests
	@echo "The first build takes some eight minutes on two cores, the tests take twenty more."
	@$(PACKAGES) build test
	@$(QUIETLY) "building the tests" .build/tests.log $(SWIFT) build $(CHECKED) --build-tests
	@Tests/run.sh

prove: ## run all tests twice in one place, and once more in an order by chance on one core
	$(PACKAGES) build test
	$(SWIFT) build $(CHECKED) --build-tests
	Tests/run.sh all all
	Tests/run.sh shuffled

campaign: ## 50 power cuts, 1,000 kills, and 10,000 swaps of files, folders and targets against each action; needs root
	$(PACKAGES) build test
	$(SWIFT) build $(CHECKED) --build-tests
	STEWARD_TEST_WHOLE=1 Tests/run.sh only EndToEnd.PowerCutTests
	STEWARD_TEST_WHOLE=1 Tests/run.sh only EndToEnd.KillCampaignTests
	STEWARD_TEST_WHOLE=1 Tests/run.sh only EndToEnd.SwapCampaignTests

bench: ## run the benchmarks
	Benchmarks/run.sh

format: ## format the sources in place
	$(SWIFT) format format --in-place --recursive $(SOURCES)

lint: ## say where the format is not kept
	$(SWIFT) format lint --strict --recursive $(SOURCES)

docs: ## write docs/rules.md and docs/rules.schema.json from the code
	$(SWIFT) build $(CHECKED) --product steward
	.build/debug/steward rules manual > docs/rules.md.new
	.build/debug/steward rules schema > docs/rules.schema.json.new
	mv docs/rules.md.new docs/rules.md
	mv docs/rules.schema.json.new docs/rules.schema.json

reference: ## make the documentation of the libraries, below .build/documentation
	$(SWIFT) build $(CHECKED)
	.ci/docs

release: ## build what `make install` installs
	@echo "The first build takes some ten minutes on two cores."
	@$(PACKAGES) build
# Exactly the packages that were tried with, those that others bring along as well: before anything is built of them.
	packaging/swift_packages.py pin $(CURDIR)
	$(SWIFT) package --scratch-path $(SHIPPED) resolve
	packaging/swift_packages.py check $(SHIPPED)
	mkdir -p $(MANUALS) $(dir $(ICU))
	packaging/link/icu-data.py "$$(dirname "$$(readlink -f "$$(command -v $(SWIFT))")")/../lib/swift_static/linux/lib_FoundationICU.a" \
	    $(ICU) > $(ICU).name
# Nothing but this tells that another order is another program.
	if [ $(ORDER) -nt $(BIN)/steward ]; then rm -f $(BIN)/steward $(BIN)/steward-worker; fi
	@$(QUIETLY) "building the release" .build/release.log $(SWIFT) build $(RELEASE) $(RELEASE_LINK) $(RELEASE_ORDER)
# The package's own tool: run by its plugin it would build everything a second time, for debugging.
	@$(QUIETLY) "building the tool for manuals" .build/manuals.log $(SWIFT) build $(RELEASE) $(RELEASE_LINK) \
	    --product generate-manual
	mkdir -p $(dir $(TK)) && ln -sf ../shipped/release/steward $(TK)
# The day is the commit's, and its month in English; an empty line is none in a manual page.
	for program in $(BIN)/steward $(TK); do \
	    LC_ALL=C.UTF-8 $(BIN)/generate-manual $$program --output-directory $(MANUALS) \
	        --date $$(date -u -d @$(SOURCE_DATE_EPOCH) +%F) || exit 1; done
	sed -i 's/^$$/.Pp/' $(MANUALS)/*.1
	SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) \
	    packaging/components.py $(SHIPPED) $(NOTICES) "$$($(BIN)/steward --version | cut -d ' ' -f 1)"

order: ## find out anew which functions the agent calls, for the next release
	$(PACKAGES) build order
	$(MAKE) release
	Benchmarks/order.py $(BIN)/steward $(ORDER)

$(BUILT):
	$(MAKE) release

deb: $(BUILT) ## make a Debian package of what `make release` has built, in .build/deb
	packaging/check-built.sh $(BIN) "$(named)"
	$(PACKAGES) deb
	packaging/deb/build.sh $(BIN) $(DEBS)
	cd $(DEBS) && lintian --fail-on error,warning --info steward_*.changes

prove-package: ## put the Debian package through its life, on a Debian of its own; needs root
	$(PACKAGES) deb prove-package
	Tests/Machine/package.sh $$(ls -t $(DEBS)/steward_*.deb | head -n 1)

# Whether what is there is what `make release` makes of this commit. Whoever has built with libinotifytools may install that.
check-built: $(BUILT)
	packaging/check-built.sh $(BIN) "$(named)" $(if $(strip $(RELEASE_TRAITS)),,for-own-use)

# Only copies what `make release` has built, so that root needs no Swift. Symbols, more than half of each program, stay
# behind in .build/shipped.
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

# By itself for the tests, which start the units under a systemd of their own.
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
	@echo "An agent that runs goes on until it is stopped, and its units stay enabled. Before this:" \
	    "systemctl disable --now steward.socket steward.service; of each user the same with --user."
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

clean: ## remove what was built
	$(SWIFT) package clean
	[ ! -d $(SHIPPED) ] || $(SWIFT) package --scratch-path $(SHIPPED) clean

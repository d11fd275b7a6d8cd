# Builds the commands and installs them with their manual pages and completions.
#
#   make install                      into ~/.local
#   sudo make install PREFIX=/usr/local
#   make uninstall
#
# DESTDIR is honoured, for packages.

PREFIX ?= $(HOME)/.local
CARGO ?= cargo
BUILT ?= target/release

bin = $(DESTDIR)$(PREFIX)/bin
share = $(DESTDIR)$(PREFIX)/share
commands = $(basename $(notdir $(wildcard src/bin/pi-*.rs)))

build:
	$(CARGO) build --release --locked --bins

install: build
	install -d "$(bin)" "$(share)/man/man1" "$(share)/man/man7" \
	    "$(share)/bash-completion/completions" "$(share)/zsh/site-functions" "$(share)/fish/vendor_completions.d"
	install -m 755 $(commands:%="$(BUILT)/%") "$(bin)"
	install -m 644 man/*.1 "$(share)/man/man1"
	install -m 644 man/*.7 "$(share)/man/man7"
	install -m 644 completions/bash/* "$(share)/bash-completion/completions"
	install -m 644 completions/zsh/* "$(share)/zsh/site-functions"
	install -m 644 completions/fish/* "$(share)/fish/vendor_completions.d"

uninstall:
	rm -f $(commands:%="$(bin)/%") $(commands:%="$(share)/man/man1/%.1") "$(share)/man/man7/pi-toolbox.7" \
	    $(commands:%="$(share)/bash-completion/completions/%") $(commands:%="$(share)/zsh/site-functions/_%") \
	    $(commands:%="$(share)/fish/vendor_completions.d/%.fish")

test:
	$(CARGO) test --locked

.PHONY: build install uninstall test

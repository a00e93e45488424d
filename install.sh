#!/bin/sh
# Installs, upgrades or removes context402 on a machine with systemd. Safe to repeat: running it again is an upgrade,
# with a backup before it and a rollback if the new version is not healthy.
set -eu

NAME=context402
PREFIX=
ARCHIVE=
VERIFY_KEY=
DRY_RUN=
ACTION=install
START=yes
TLS=
BROWSER=
HEALTH_SECONDS=60
# Backups from before upgrades that are kept.
WAYS_BACK=5
PROGRAM_FILES='context402.service context402.socket context402-init.service context402-backup.service
context402-backup.timer'
BROWSER_FILES='context402-browser.service context402-browser.socket context402-egress.socket'
SHELLS='bash zsh fish'

usage() {
	cat <<'END'
Usage: install.sh [OPTIONS]

Installs the program that lies beside this script (an unpacked release) or in target/release (a built tree).

  --archive FILE   install from a release archive, a file or its https address; SHA256SUMS beside it must name it
  --verify-key KEY with --archive: SHA256SUMS.sig must be a signature by this public key (ssh-ed25519 …, in a file)
  --prefix DIR     put everything below DIR, for a look or a test; without it /usr/local, /etc and /var/lib
  --tls            serve HTTPS without a reverse proxy: systemd opens ports 443 and 80 for the service (systemd/TLS.md);
                   a new configuration gets tls.acme = true
  --with-browser   render pages whose text is made by scripts, in a unit without a network; needs
                   chromium-headless-shell or chromium, which is installed by apt-get where that is there
  --no-start       install, and start nothing
  --start-package  start what a package has installed, once it is configured
  --domain, --pay-to, --facilitator, --facilitator-auth-file, --network, --email, --proxy, --caddy, --listen,
  --buyer-key-file
                   install, configure and start in one run: passed on to `context402 setup`, see its --help
  --dry-run        say what would be done, and do nothing
  --uninstall      remove the program; configuration, secrets, data and backups stay
  --purge          with --uninstall: remove those too
  --help           this text
END
}

say() { printf '%s\n' "$*"; }
fail() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}
# What is being done, or what would be: a verb in both forms, and the rest of the sentence.
doing() {
	if [ -n "$DRY_RUN" ]; then say "would $1 $3"; else say "$2 $3."; fi
}
# Runs a command, or says that it would.
run() {
	if [ -n "$DRY_RUN" ]; then
		say "would run: $*"
	else
		"$@"
	fi
}
need() { command -v "$1" >/dev/null 2>&1 || fail "$1 is required but not installed"; }

# A word for eval.
quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

SETUP=
while [ $# -gt 0 ]; do
	case $1 in
	--archive | --verify-key | --prefix)
		[ $# -ge 2 ] || fail "$1 needs a value"
		case $1 in
		--archive) ARCHIVE=$2 ;;
		--verify-key) VERIFY_KEY=$2 ;;
		--prefix) PREFIX=$2 ;;
		esac
		shift
		;;
	--domain | --pay-to | --facilitator | --facilitator-auth-file | --network | --email | --proxy | --listen | --buyer-key-file)
		[ $# -ge 2 ] || fail "$1 needs a value"
		ACTION=setup
		SETUP="$SETUP $1 $(quoted "$2")"
		shift
		;;
	--no-start) START= ;;
	--tls) TLS=yes ;;
	--with-browser) BROWSER=yes ;;
	--caddy)
		ACTION=setup
		SETUP="$SETUP --caddy"
		;;
	--start-package) ACTION=start_package ;;
	--dry-run) DRY_RUN=yes ;;
	--uninstall) ACTION=uninstall ;;
	--purge) PURGE=yes ;;
	--help)
		usage
		exit 0
		;;
	*)
		usage >&2
		fail "unknown option $1"
		;;
	esac
	shift
done
: "${PURGE:=}"
[ -z "$PURGE" ] || [ "$ACTION" = uninstall ] || fail "--purge needs --uninstall"
[ -z "$VERIFY_KEY" ] || [ -n "$ARCHIVE" ] || fail "--verify-key needs --archive"
case $PREFIX in
'' | /*) ;;
*) fail "--prefix must be an absolute path" ;;
esac
[ -n "$PREFIX$DRY_RUN" ] || [ "$(id -u)" = 0 ] || fail "this needs root: run it with sudo, or preview it with --dry-run"

HERE=$(cd "$(dirname "$0")" && pwd)
TREE=${PREFIX:-/usr/local}
BIN=$TREE/bin/$NAME
PREVIOUS=$TREE/bin/$NAME.previous
MAN=$TREE/share/man/man1
DOC=$TREE/share/doc/$NAME
ETC=$PREFIX/etc/$NAME
CONFIG=$ETC/config.toml
UNITS=$PREFIX/etc/systemd/system
# The ports of HTTPS, beside the socket's unit.
PORTS=$UNITS/$NAME.socket.d/tls.conf
STATE=$PREFIX/var/lib/$NAME
BACKUPS=$STATE/backups
WORK=

cleanup() { [ -z "$WORK" ] || rm -rf "$WORK"; }
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# The group that the service and its render worker share, which may open their two sockets.
RENDER_GROUP=$NAME-render

# The units of the render worker. Once asked for, they stay.
install_browser() {
	[ -n "$BROWSER" ] || [ -f "$UNITS/$NAME-browser.service" ] || return 0
	BROWSER=yes
	for file in $BROWSER_FILES; do
		# A package has brought its own.
		[ ! -f "$PREFIX/usr/lib/systemd/system/$file" ] || continue
		fresh=$(mktemp)
		sed "s|/usr/bin/$NAME|$BIN|g" "$SOURCE/systemd/$file" >"$fresh"
		place 644 "$fresh" "$UNITS/$file"
		rm -f "$fresh"
	done
	place 644 "$SOURCE/systemd/$NAME.service.d/browser.conf" "$UNITS/$NAME.service.d/browser.conf"
	[ -z "$PREFIX" ] || return 0
	getent group "$RENDER_GROUP" >/dev/null || run groupadd --system "$RENDER_GROUP"
	command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1 || install_chromium
	[ -z "$DRY_RUN" ] && [ -f "$CONFIG" ] || return 0
	if [ -z "$(setting "$NEW" render.browser)" ]; then
		add_browser >"$CONFIG.new"
		"$NEW" config print --config "$CONFIG.new" >/dev/null || {
			rm -f "$CONFIG.new"
			fail "the browser could not be added to $CONFIG: add browser = \"auto\" and socket = \"/run/$NAME-browser.sock\" to its table [render]"
		}
		chmod 644 "$CONFIG.new"
		mv -f "$CONFIG.new" "$CONFIG"
	fi
}

# The configuration with the browser: in its table [render] where it has one, else above the first table.
add_browser() {
	if grep -q '^[[:space:]]*\[render\]' "$CONFIG"; then
		keys='# By install.sh --with-browser.
browser = "auto"'
		[ -n "$(setting "$NEW" render.socket)" ] || keys="$keys
socket = \"/run/$NAME-browser.sock\""
		BROWSER_KEYS=$keys awk '{ print } /^[[:space:]]*\[render\]/ && !added { print ENVIRON["BROWSER_KEYS"]; added = 1 }' "$CONFIG"
	else
		printf '# By install.sh --with-browser.\nrender.browser = "auto"\nrender.socket = "/run/%s-browser.sock"\n\n' "$NAME"
		cat "$CONFIG"
	fi
}

install_chromium() {
	command -v apt-get >/dev/null 2>&1 ||
		fail "no browser is installed: install chromium-headless-shell or chromium with this system's package manager, and run this again"
	run apt-get install -y --no-install-recommends chromium-headless-shell ||
		run apt-get install -y --no-install-recommends chromium ||
		fail "no browser could be installed: install chromium-headless-shell or chromium, and run this again"
}

# Where a shell looks for completions.
completion() {
	case $1 in
	bash) printf '%s\n' "$TREE/share/bash-completion/completions/$NAME" ;;
	zsh) printf '%s\n' "$TREE/share/zsh/site-functions/_$NAME" ;;
	fish) printf '%s\n' "$TREE/share/fish/vendor_completions.d/$NAME.fish" ;;
	esac
}

# The folder that holds the program and its units: beside this script, or out of the archive.
source_folder() {
	if [ -n "$ARCHIVE" ]; then
		WORK=$(mktemp -d)
		case $ARCHIVE in
		https://*) fetch_archive ;;
		*://*) fail "$ARCHIVE: releases are only downloaded over https" ;;
		esac
		check_archive
		tar -xzf "$WORK/archive" --no-same-owner -C "$WORK"
		SOURCE=$(find "$WORK" -name install.sh -type f | head -n 1)
		[ -n "$SOURCE" ] || fail "$ARCHIVE does not contain a release"
		SOURCE=$(dirname "$SOURCE")
	else
		SOURCE=$HERE
	fi
	NEW=$SOURCE/$NAME
	[ -f "$NEW" ] || NEW=$SOURCE/target/release/$NAME
	[ -f "$NEW" ] || fail "no $NAME program found: build it with cargo build --release, or give a release with --archive"
	NEW_VERSION=$("$NEW" version --json) || fail "$NEW does not run on this machine ($(uname -m))"
}

# A release on the web with what lies beside it, to be checked like any other.
fetch_archive() {
	need curl
	from=$(dirname "$ARCHIVE")
	ARCHIVE=$WORK/fetched/$(basename "$ARCHIVE")
	mkdir "$WORK/fetched"
	for file in "$(basename "$ARCHIVE")" SHA256SUMS ${VERIFY_KEY:+SHA256SUMS.sig}; do
		curl --proto '=https' --fail --silent --show-error --location --max-time 600 \
			--output "$WORK/fetched/$file" "$from/$file" || fail "$from/$file could not be downloaded"
	done
}

# Before anything of it is unpacked, on copies that nobody else can change.
check_archive() {
	need sha256sum
	need tar
	name=$(basename "$ARCHIVE")
	sums=$(dirname "$ARCHIVE")/SHA256SUMS
	[ -f "$ARCHIVE" ] || fail "$ARCHIVE does not exist"
	[ -f "$sums" ] || fail "$sums does not exist: an archive without checksum is not installed"
	cp "$ARCHIVE" "$WORK/archive"
	cp "$sums" "$WORK/sums"
	[ -z "$VERIFY_KEY" ] || check_signature
	expected=$(awk -v name="$name" '{ sub(/^\*/, "", $2) } $2 == name { print $1 }' "$WORK/sums")
	[ -n "$expected" ] || fail "$sums has no checksum of $name"
	found=$(sha256sum "$WORK/archive" | awk '{ print $1 }')
	[ "$found" = "$expected" ] || fail "$ARCHIVE does not match $sums: its checksum is $found, not $expected"
	say "The checksum of $name is correct."
}

# Checksums that came with an archive say only that it arrived whole; a signature says whose it is.
check_signature() {
	need ssh-keygen
	[ -f "$VERIFY_KEY" ] || fail "$VERIFY_KEY does not exist"
	[ -f "$sums.sig" ] || fail "$sums.sig does not exist: without its signature the archive is not installed"
	printf '%s %s\n' "$NAME" "$(cat "$VERIFY_KEY")" >"$WORK/signers"
	ssh-keygen -Y verify -f "$WORK/signers" -I "$NAME" -n "$NAME" -s "$sums.sig" <"$WORK/sums" >/dev/null 2>&1 ||
		fail "$sums.sig is not a signature of $sums by the key in $VERIFY_KEY"
	say "The signature of SHA256SUMS is correct."
}

# A fact out of `version --json`.
fact() { printf '%s\n' "$1" | sed -n 's/.*"'"$2"'": *"\{0,1\}\([^",}]*\).*/\1/p'; }

# One file, whole or not at all.
place() {
	mode=$1 from=$2 to=$3
	if [ -n "$DRY_RUN" ]; then
		say "would write: $to"
		return
	fi
	mkdir -p "$(dirname "$to")"
	install -m "$mode" "$from" "$to.new"
	mv -f "$to.new" "$to"
}

# A unit as it is installed: with the paths of this installation.
unit() {
	if [ -z "$PREFIX" ]; then
		sed "s|/usr/bin/$NAME|$BIN|g" "$SOURCE/systemd/$1"
	else
		# Below a prefix there is no state folder of systemd's and no user of the service's own.
		sed -e "s|/usr/bin/$NAME|$BIN|g" -e "s|/etc/$NAME|$ETC|g" -e "s|/var/lib/$NAME|$STATE|g" \
			-e "s|^StateDirectory=.*|ReadWritePaths=$STATE|" -e '/^StateDirectoryMode=/d' -e '/^ConfigurationDirectory=/d' \
			-e '/^DynamicUser=/d' -e "s|^User=.*|User=$(id -un)|" -e '/^ProtectHome=/d' -e '/^PrivateTmp=/d' \
			"$SOURCE/systemd/$1"
	fi | sed "s|^ListenStream=.*|ListenStream=$LISTEN|"
}

install_units() {
	for file in $PROGRAM_FILES; do
		to=$UNITS/$file
		fresh=$(mktemp)
		unit "$file" >"$fresh"
		if [ -f "$to" ] && ! cmp -s "$fresh" "$to"; then
			say "$file changes:"
			diff -u "$to" "$fresh" || true
		fi
		[ ! -f "$to" ] || [ -n "$DRY_RUN" ] || cp -p "$to" "$to.previous"
		place 644 "$fresh" "$to"
		rm -f "$fresh"
	done
	install_ports
}

# Once asked for, they stay.
install_ports() {
	[ -n "$TLS" ] || [ -f "$PORTS" ] || return 0
	cmp -s "$SOURCE/systemd/$NAME.socket.d/tls.conf" "$PORTS" || NEW_PORTS=yes
	place 644 "$SOURCE/systemd/$NAME.socket.d/tls.conf" "$PORTS"
}

serves_tls() { "$NEW" config print --config "$CONFIG" | grep -Eq '^tls\.(acme = true|certificate = /)'; }

install_manual() {
	if [ -n "$DRY_RUN" ]; then
		say "would write: $MAN/$NAME*.1 and completions for $SHELLS"
		return
	fi
	mkdir -p "$MAN"
	"$NEW" man --folder "$MAN"
	for shell in $SHELLS; do
		to=$(completion "$shell")
		mkdir -p "$(dirname "$to")"
		"$NEW" completions "$shell" >"$to"
	done
}

# The guide for operators, and the proxy configurations that it names.
install_documents() {
	place 644 "$SOURCE/systemd/OPERATING.md" "$DOC/OPERATING.md"
	place 644 "$SOURCE/systemd/TLS.md" "$DOC/TLS.md"
	place 644 "$SOURCE/systemd/caddy/Caddyfile" "$DOC/Caddyfile"
	place 644 "$SOURCE/systemd/nginx/context402.conf" "$DOC/nginx.conf"
}

install_configuration() {
	if [ ! -f "$CONFIG" ]; then
		if [ -n "$DRY_RUN" ]; then
			say "would write: $CONFIG"
		else
			say "Writing $CONFIG."
			mkdir -p "$ETC"
			"$NEW" config init "$CONFIG.new" >/dev/null
			sed "s|^#data_file = .*|data_file = \"$STATE/$NAME.redb\"|" "$CONFIG.new" >"$CONFIG"
			[ -z "$TLS" ] || sed -i 's|^#tls.acme = false|tls.acme = true|' "$CONFIG"
			rm -f "$CONFIG.new"
			chmod 644 "$CONFIG"
		fi
		FRESH=yes
	fi
	# A folder for each section's secrets, as the unit names them.
	sed -n 's|^LoadCredential=[a-z]*:.*/credentials/||p' "$SOURCE/systemd/$NAME.service" | while read -r section; do
		[ -d "$ETC/credentials/$section" ] || run mkdir -p "$ETC/credentials/$section"
	done
	[ ! -d "$ETC/credentials" ] || run chmod -R go-rwx "$ETC/credentials"
	[ -z "$PREFIX" ] || run mkdir -p "$BACKUPS"
}

setting() { "$1" config print --config "$CONFIG" | sed -n "s|^$2 = \(.*\)  # .*|\1|p"; }

has_systemd() { command -v systemctl >/dev/null 2>&1; }

check_systemd() {
	has_systemd || fail "systemctl not found: this installer needs systemd; see systemd/OPERATING.md for running $NAME without it"
	version=$(systemctl --version | sed -n 's/^systemd \([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 250 ] || fail "systemd ${version:-of unknown version} is too old; 250 or newer is needed"
}

# Its units would be hidden by those of this script, and its program would not run.
refuse_package() {
	[ ! -e "$PREFIX/usr/lib/systemd/system/$NAME.service" ] ||
		fail "$NAME is installed as a package: upgrade it with apt or dpkg, or remove it first (apt remove $NAME keeps the data)"
}

way_back() {
	echo "$BACKUPS/before-upgrade-$(date -u +%Y%m%dT%H%M%SZ).redb"
}

# The program that is installed backs up what it has written, before anything is changed.
back_up() {
	data_file=$(setting "$BIN" data_file)
	[ -n "$data_file" ] && [ -e "$data_file" ] || return 0
	[ -d "$BACKUPS" ] || run mkdir -p -m 700 "$BACKUPS"
	BACKUP=$(way_back)
	# Another upgrade within the same second has that name: a backup is never overwritten.
	while [ -e "$BACKUP" ]; do
		sleep 1
		BACKUP=$(way_back)
	done
	doing 'back up' 'Backing up' "to $BACKUP"
	run "$BIN" backup "$BACKUP" --config "$CONFIG" || fail "the backup failed; nothing was changed"
}

# An empty file would forget every used payment: only the first start makes one.
refuse_lost_data() {
	data_file=$(setting "$NEW" data_file)
	[ ! -e "$data_file" ] || return 0
	systemctl --quiet is-enabled "$NAME.service" 2>/dev/null || return 0
	fail "$data_file is gone, and $NAME has run here before. Restore a backup: $BIN restore BACKUP --config $CONFIG
To begin anew without one: systemctl start $NAME-init.service. Then run this again"
}

remove_old_ways_back() {
	[ -d "$BACKUPS" ] || return 0
	find "$BACKUPS" -name 'before-upgrade-*.redb' | sort -r | tail -n "+$((WAYS_BACK + 1))" | while read -r old; do
		run rm -f "$old"
	done
}

# Whether it came up is for the health check to say: systemctl would wait as long as the unit may, and end this script.
start() {
	run systemctl daemon-reload
	data_file=$(setting "$NEW" data_file)
	if [ ! -e "$data_file" ]; then
		doing create Creating 'the data file'
		run systemctl start "$NAME-init.service" || fail "the data file could not be created; see: journalctl -u $NAME-init"
	fi
	if [ -n "$NEW_PORTS" ] ||
		{ [ -f "$UNITS/$NAME.socket.previous" ] && ! cmp -s "$UNITS/$NAME.socket" "$UNITS/$NAME.socket.previous"; }; then
		# It listens elsewhere now, and a listener is bound only when nobody uses it.
		run systemctl stop "$NAME.service" "$NAME.socket"
	fi
	run systemctl enable "$NAME.socket" "$NAME.service" "$NAME-backup.timer"
	if [ -n "$BROWSER" ]; then
		run systemctl enable "$NAME-browser.socket" "$NAME-browser.service" "$NAME-egress.socket"
		run systemctl stop "$NAME.service" "$NAME-egress.socket"
		run systemctl start "$NAME-browser.socket" "$NAME-egress.socket"
		run systemctl restart --no-block "$NAME-browser.service"
	fi
	run systemctl start "$NAME.socket" "$NAME-backup.timer"
	run systemctl stop "$NAME.service"
	run systemctl start --no-block "$NAME.service"
}

is_healthy() {
	[ -z "$DRY_RUN" ] || return 0
	# What stops sales from outside, such as a facilitator that is down, is no reason to go back.
	# Whether it sells is not known yet: last_word says so.
	"$BIN" healthcheck --running --wait "$HEALTH_SECONDS" --config "$CONFIG" >/dev/null
}

# What it has come to: running is not yet selling.
last_word() {
	[ -z "$DRY_RUN" ] || return 0
	version=$(fact "$NEW_VERSION" version)
	if health=$("$BIN" healthcheck --wait 30 --config "$CONFIG" 2>&1); then
		say "$health"
		say "$NAME $version is running and accepting payments. Check everything with: $BIN doctor --config $CONFIG"
	else
		say "$NAME $version is running, but it does NOT sell yet: ${health#"$NAME: "}"
	fi
}

roll_back() {
	[ -n "$OLD_VERSION" ] || fail "$NAME is installed but not healthy; see: journalctl -u $NAME"
	say "The new version is not healthy (see journalctl -u $NAME): rolling back to the previous version."
	# The socket too: a client that connects now would start what is being replaced.
	systemctl stop "$NAME.socket" "$NAME.service" || true
	mv -f "$PREVIOUS" "$BIN"
	for file in $PROGRAM_FILES; do
		[ ! -f "$UNITS/$file.previous" ] || mv -f "$UNITS/$file.previous" "$UNITS/$file"
	done
	systemctl daemon-reload || true
	# Sales of the new version are lost only where its file cannot be read any more.
	if [ -n "$BACKUP" ] && [ "$(fact "$OLD_VERSION" schema)" != "$(fact "$NEW_VERSION" schema)" ]; then
		say "The data file has another schema: restoring $BACKUP."
		"$BIN" restore "$BACKUP" --discard-newer --config "$CONFIG"
	fi
	systemctl start "$NAME.socket" || true
	systemctl start --no-block "$NAME.service" || true
	is_healthy ||
		fail "the previous version was restored but is not healthy either; see: journalctl -u $NAME"
	fail "the upgrade was rolled back; version $(fact "$OLD_VERSION" version) is running again"
}

install_program() {
	source_folder
	[ -z "$START" ] || check_systemd
	refuse_package
	doing install Installing "$NAME $(fact "$NEW_VERSION" version)"
	FRESH=
	NEW_PORTS=
	BACKUP=
	OLD_VERSION=
	if [ -f "$BIN" ] && [ -f "$CONFIG" ]; then
		# What the new version cannot run with is learnt before the old one is touched.
		"$NEW" config check --config "$CONFIG" ||
			fail "$CONFIG is not ready for version $(fact "$NEW_VERSION" version); nothing was changed. Fix it and run this again"
		[ -z "$TLS" ] || serves_tls ||
			fail "--tls needs tls.acme = true, or tls.certificate and tls.key, in $CONFIG; nothing was changed"
		OLD_VERSION=$("$BIN" version --json)
		[ -z "$START" ] || refuse_lost_data
		back_up
		[ -n "$DRY_RUN" ] || cp -p "$BIN" "$PREVIOUS"
	fi
	install_configuration
	LISTEN=127.0.0.1:4020
	[ ! -f "$CONFIG" ] || LISTEN=$(setting "$NEW" listen)
	place 755 "$NEW" "$BIN"
	install_units
	install_browser
	install_manual
	install_documents
	if [ -n "$FRESH" ]; then
		[ -n "$DRY_RUN" ] || say "Next: $BIN setup (it asks for what is needed). Or set base_url, payment.pay_to and payment.facilitator_url in" \
			"$CONFIG, put secrets into $ETC/credentials, and run install.sh again."
		return
	fi
	if [ -z "$START" ]; then
		[ -n "$DRY_RUN" ] || say "Installed. Nothing was started."
		return
	fi
	if ! start || ! is_healthy; then roll_back; fi
	remove_old_ways_back
	last_word
}

# One run from nothing to a service that sells; what setup installs comes from the same files.
set_up() {
	source_folder
	refuse_package
	[ -z "$PREFIX" ] || SETUP="$SETUP --prefix $(quoted "$PREFIX")"
	[ -n "$START" ] || SETUP="$SETUP --no-start"
	[ -z "$TLS" ] || SETUP="$SETUP --tls"
	[ -z "$BROWSER" ] || SETUP="$SETUP --with-browser"
	[ -z "$DRY_RUN" ] || SETUP="$SETUP --dry-run"
	eval "\"\$NEW\" setup $SETUP"
}

# A package has put everything in its place and started nothing.
start_package() {
	BIN=$PREFIX/usr/bin/$NAME
	NEW=$BIN
	check_systemd
	NEW_VERSION=$("$BIN" version --json)
	OLD_VERSION=
	LISTEN=$(setting "$BIN" listen)
	if [ "$LISTEN" != 127.0.0.1:4020 ]; then
		fresh=$(mktemp)
		printf '[Socket]\nListenStream=\nListenStream=%s\n' "$LISTEN" >"$fresh"
		place 644 "$fresh" "$UNITS/$NAME.socket.d/listen.conf"
		rm -f "$fresh"
	fi
	SOURCE=$HERE
	NEW_PORTS=
	install_ports
	[ -z "$BROWSER" ] || install_browser
	if ! start || ! is_healthy; then fail "$NAME does not start; see: journalctl -u $NAME"; fi
	last_word
}

uninstall() {
	data_file=
	[ ! -x "$BIN" ] || [ ! -f "$CONFIG" ] || data_file=$(setting "$BIN" data_file)
	if has_systemd && [ -f "$UNITS/$NAME.service" ]; then
		run systemctl disable --now "$NAME-backup.timer" "$NAME.socket" "$NAME.service" || true
		run systemctl stop "$NAME-backup.service" "$NAME-init.service" || true
	fi
	for file in $PROGRAM_FILES; do
		run rm -f "$UNITS/$file" "$UNITS/$file.previous"
	done
	if has_systemd && [ -f "$UNITS/$NAME-browser.service" ]; then
		run systemctl disable --now "$NAME-browser.socket" "$NAME-egress.socket" "$NAME-browser.service" || true
	fi
	for file in $BROWSER_FILES; do
		run rm -f "$UNITS/$file"
	done
	run rm -f "$UNITS/$NAME.service.d/browser.conf"
	[ ! -d "$UNITS/$NAME.service.d" ] || run rmdir "$UNITS/$NAME.service.d" 2>/dev/null || true
	run rm -f "$PORTS"
	[ ! -d "$UNITS/$NAME.socket.d" ] || run rmdir "$UNITS/$NAME.socket.d" 2>/dev/null || true
	if has_systemd; then run systemctl daemon-reload || true; fi
	run rm -f "$PREFIX/var/lib/systemd/timers/stamp-$NAME-backup.timer"
	run rm -f "$BIN" "$PREVIOUS" "$MAN/$NAME.1" "$MAN/$NAME"-*.1
	run rm -rf "$DOC"
	for shell in $SHELLS; do
		run rm -f "$(completion "$shell")"
	done
	if [ -z "$PURGE" ]; then
		[ -n "$DRY_RUN" ] || say "The program was removed. Still there: $ETC (configuration and secrets) and $STATE (data and backups);" \
			"--uninstall --purge removes them."
		return
	fi
	# With a user of the service's own the folder lies elsewhere, and here is a link.
	run rm -rf "$ETC" "$STATE" "$PREFIX/var/lib/private/$NAME"
	[ -n "$DRY_RUN" ] || say "The program, its configuration, its data and its backups were removed."
	case $data_file in
	'' | "$STATE"/*) ;;
	*) say "The data file is elsewhere and was not removed: $data_file" ;;
	esac
}

case $ACTION in
install) install_program ;;
setup) set_up ;;
start_package) start_package ;;
uninstall) uninstall ;;
esac

# Sourced by the installers: puts a release below its folder and switches to it in one step.
#
#   check_machine                      refuses what nothing can be installed on
#   install_release PLACE LOCK PART…   PLACE is /opt/NAME below $root; sets $target
#   switch_release PLACE
#
# The caller sets $root ("" for this machine, else a folder to stage below) and stands in the
# project's folder.

say() { printf 'install: %s\n' "$*" >&2; }
refuse() { say "$*"; exit 2; }

check_machine() {
    [ -n "$root" ] || [ "$(id -u)" -eq 0 ] || refuse "run it as root, with sudo"
    case $(uname -m) in
    aarch64 | x86_64) ;;
    *) refuse "a 64-bit system is needed: there are no packages for $(uname -m)" ;;
    esac
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || refuse "Python 3.11 or newer is needed"
    python3 -c 'import ensurepip' 2>/dev/null || refuse "python3-venv is missing: apt-get install python3-venv"
}

install_release() {
    local place=$root$1 lock=$2 version release
    shift 2
    version=$(sed -nE 's/^version = "(.*)"/\1/p' pyproject.toml)
    # What is installed is named by what it contains, so two builds of one version never mix.
    release=$version-$(find "$@" "$lock" -type f -not -name '*.pyc' -print0 |
        sort -z | xargs -0 sha256sum | sha256sum | cut -c1-12)
    target=$place/releases/$release
    [ ! -e "$target/complete" ] || return 0
    rm -rf "$target"
    mkdir -p "$target"
    tar --exclude=__pycache__ -cf - "$@" README.md | tar -xf - -C "$target"
    python3 -m venv "$target/venv"
    "$target/venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
    # The service may not write here, and would compile anew at every start.
    (cd "$target" && venv/bin/python -m compileall -q "$@")
    touch "$target/complete"
}

switch_release() {
    # One rename switches; a power cut leaves the old release or the new one.
    ln -sfn "releases/${target##*/}" "$root$1/current.new"
    mv -T "$root$1/current.new" "$root$1/current"
    say "release ${target##*/} is in place"
}

#!/bin/sh
# Installs Olifant under a prefix, or removes what it installed there.
#
# usage: OLIFANT=path/of/olifant RUNTIME=path/of/libolifant_rt.a scripts/install.sh install|uninstall PREFIX
set -eu
cd "$(dirname "$0")/.."

action=$1
prefix=$2

manual=$prefix/share/man/man1
bash_completions=$prefix/share/bash-completion/completions
zsh_completions=$prefix/share/zsh/site-functions
fish_completions=$prefix/share/fish/vendor_completions.d

uninstall() {
    rm -f "$prefix/include/rset.h" "$prefix/bin/olifant" "$prefix/bin/olifant-cc" "$prefix/bin/olifant-c++" "$prefix/bin/olifant-fc" \
        "$manual"/olifant.1 "$manual"/olifant-*.1 \
        "$bash_completions/olifant" "$zsh_completions/_olifant" "$fish_completions/olifant.fish"
    rm -rf "$prefix/lib/olifant" "$prefix/share/olifant" "$prefix/share/doc/olifant"
}

install_all() {
    install -d "$prefix/bin" "$prefix/include" "$prefix/lib/olifant/examples" "$prefix/share/olifant/machines" "$manual" \
        "$bash_completions" "$zsh_completions" "$fish_completions" "$prefix/share/doc/olifant"
    install -m 755 "$OLIFANT" "$prefix/bin/olifant"
    for compiler in cc c++ fc; do
        ln -sf olifant "$prefix/bin/olifant-$compiler"
    done
    install -m 644 "$RUNTIME" "$prefix/lib/olifant/"
    "$OLIFANT" hooks "$prefix/lib/olifant"
    install -m 755 build/bin/* "$prefix/lib/olifant/examples/"
    install -m 644 programs/common/rset.h "$prefix/include/"
    install -m 644 machines/*.toml "$prefix/share/olifant/machines/"
    install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$prefix/share/doc/olifant/"
    "$OLIFANT" man "$manual"
    "$OLIFANT" completions bash >"$bash_completions/olifant"
    "$OLIFANT" completions zsh >"$zsh_completions/_olifant"
    "$OLIFANT" completions fish >"$fish_completions/olifant.fish"
    echo "installed in $prefix: bin/olifant, lib/olifant, share/olifant, man pages, completions" >&2
}

case $action in
    install) install_all ;;
    uninstall) uninstall ;;
    *) echo "usage: $0 install|uninstall PREFIX" >&2; exit 2 ;;
esac

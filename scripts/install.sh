#!/bin/sh
# Installs Olifant under a prefix, or removes what it installed there.
#
# usage: OLIFANT=path/of/olifant RUNTIME=path/of/libolifant_rt.a LIBRSET=path/of/libolifant_capi.a \
#            PRELOAD=path/of/libolifant_preload.so SITES=path/of/libolifant_sites.so \
#            scripts/install.sh install|uninstall PREFIX
set -eu
cd "$(dirname "$0")/.."

action=$1
prefix=$2

manual=$prefix/share/man/man1
functions=$prefix/share/man/man3
bash_completions=$prefix/share/bash-completion/completions
zsh_completions=$prefix/share/zsh/site-functions
fish_completions=$prefix/share/fish/vendor_completions.d

uninstall() {
    rm -f "$prefix/include/rset.h" "$prefix/bin/olifant" "$prefix/bin/olifant-cc" "$prefix/bin/olifant-c++" "$prefix/bin/olifant-fc" \
        "$manual"/olifant.1 "$manual"/olifant-*.1 \
        "$bash_completions/olifant" "$zsh_completions/_olifant" "$fish_completions/olifant.fish"
    rm -f "$prefix"/lib/librset.* "$prefix/lib/pkgconfig/rset.pc" "$functions"/rset.3 "$functions"/rset_*.3
    rm -rf "$prefix/lib/olifant" "$prefix/share/olifant" "$prefix/share/doc/olifant"
}

# librset with its header, its description for pkg-config, and its pages; each function's name leads to its page.
install_librset() {
    crates/capi/link.sh "$LIBRSET" "$prefix/lib" "${prefix#"${DESTDIR:-}"}"
    install -d "$prefix/lib/pkgconfig" "$functions"
    mv "$prefix/lib/rset.pc" "$prefix/lib/pkgconfig/"
    install -m 644 crates/capi/include/rset.h "$prefix/include/"
    for page in crates/capi/man/*.3; do
        install -m 644 "$page" "$functions/"
        name=$(basename "$page" .3)
        grep -o '\brset_[a-z_]*' "$page" | sort -u | while read -r function; do
            if [ "$function" != "$name" ] && sed -n '/^.SH NAME/,/^.SH SYNOPSIS/p' "$page" | grep -qw "$function"; then
                echo ".so man3/$name.3" >"$functions/$function.3"
            fi
        done
    done
}

install_all() {
    install -d "$prefix/bin" "$prefix/include" "$prefix/lib/olifant/examples" "$prefix/share/olifant/machines" "$manual" \
        "$bash_completions" "$zsh_completions" "$fish_completions" "$prefix/share/doc/olifant"
    install -m 755 "$OLIFANT" "$prefix/bin/olifant"
    for compiler in cc c++ fc; do
        ln -sf olifant "$prefix/bin/olifant-$compiler"
    done
    install -m 644 "$RUNTIME" "$prefix/lib/olifant/"
    install -m 755 "$PRELOAD" "$SITES" "$prefix/lib/olifant/"
    "$OLIFANT" hooks "$prefix/lib/olifant"
    install -m 755 build/bin/* "$prefix/lib/olifant/examples/"
    install_librset
    install -m 644 machines/*.toml "$prefix/share/olifant/machines/"
    install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$prefix/share/doc/olifant/"
    "$OLIFANT" man "$manual"
    "$OLIFANT" completions bash >"$bash_completions/olifant"
    "$OLIFANT" completions zsh >"$zsh_completions/_olifant"
    "$OLIFANT" completions fish >"$fish_completions/olifant.fish"
    echo "installed in $prefix: bin/olifant, lib/olifant, lib/librset, share/olifant, man pages, completions" >&2
}

case $action in
    install) install_all ;;
    uninstall) uninstall ;;
    *) echo "usage: $0 install|uninstall PREFIX" >&2; exit 2 ;;
esac

#!/bin/sh
# Makes the installable library of the static one that cargo builds: librset.a, librset.so.1 with symbol versions, and
# rset.pc. The compiler writes a version script of its own for a cdylib, to which linkers add no named versions.
#
# usage: link.sh path/of/libolifant_capi.a FOLDER PREFIX
set -eu
here=$(cd "$(dirname "$0")" && pwd)

archive=$1
folder=$2
prefix=$3
version=$(sed -n 's/.*c"\([0-9.]*\)".as_ptr().*/\1/p' "$here/src/answer.rs")

mkdir -p "$folder"
cp "$archive" "$folder/librset.a"
"${CC:-cc}" -shared -o "$folder/librset.so.$version" -Wl,--whole-archive "$folder/librset.a" -Wl,--no-whole-archive \
    -Wl,--version-script="$here/librset.map" -Wl,-soname,librset.so.1 -Wl,--gc-sections -Wl,-z,defs -Wl,-z,now \
    -lgcc_s -lpthread -ldl -lm
ln -sf "librset.so.$version" "$folder/librset.so.1"
ln -sf librset.so.1 "$folder/librset.so"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$here/rset.pc.in" >"$folder/rset.pc"

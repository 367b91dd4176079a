#!/usr/bin/env bash
# archive.sh BUILD OUT CPACK: cpack makes an archive, and the programs in it decode the sample in it, wherever it is
# unpacked.
set -euo pipefail
build=$1 out=$2 cpack=$3
rm -rf "$out"
mkdir -p "$out/elsewhere"
# Not stripped, which would take longer than the rest.
"$cpack" --config "$build/CPackConfig.cmake" -D CPACK_STRIP_FILES=OFF -B "$out" >"$out/cpack.log" ||
  { cat "$out/cpack.log" >&2; exit 1; }
archive=$(compgen -G "$out/waymark-*.tar.zst")
(cd "$out" && sha256sum -c --quiet "$archive.sha256")
tar -x -f "$archive" -C "$out/elsewhere" --strip-components=1
said=$("$out/elsewhere/bin/waymark" count "$out/elsewhere/share/doc/waymark/samples/quicksort")
[[ $said == *44901* ]] || { echo "The unpacked program says: $said" >&2; exit 1; }
for file in bin/systprint share/man/man1/waymark.1 include/waymark/inputs/capture.h \
  share/doc/waymark/examples/count_instructions.cc; do
  [ -e "$out/elsewhere/$file" ] || { echo "The archive has no $file." >&2; exit 1; }
done
rm -rf "$out/elsewhere" "$out/_CPack_Packages"

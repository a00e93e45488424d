#!/bin/sh
# Makes the embedded fonts from Debian's fonts-noto-core and fonts-noto-mono: the scripts named in README.md, without
# hinting. Needs pyftsubset (PyPI fonttools 4.68).
set -eu
cd "$(dirname "$0")"
from=${1:-/usr/share/fonts/truetype/noto}

# Latin, Greek and Cyrillic with what is written between their letters.
letters=U+0020-007E,U+00A0-024F,U+0259,U+02B0-02FF,U+0300-036F,U+0370-03FF,U+0400-052F,U+1E00-1EFF,U+2000-206F
letters=$letters,U+2070-209F,U+20A0-20C0,U+2100-214F,U+2150-218F,U+2190-21FF,U+2200-22FF,U+25CC,U+FB00-FB06,U+FFFD
# Arrows, mathematical operators, boxes, shapes, ticks and stars.
signs=U+2190-21FF,U+2200-22FF,U+2300-232F,U+2500-257F,U+25A0-25FF,U+2605,U+2606,U+2610-2612,U+2713-2718,U+2192

subset() {
    pyftsubset "$from/$1" --output-file="$1" --unicodes="$2" --layout-features='*' --no-hinting \
        --desubroutinize --name-IDs='*' --notdef-outline --drop-tables+=DSIG
}

for face in Regular Bold Italic; do
    subset "NotoSans-$face.ttf" "$letters"
done
subset NotoSansMono-Regular.ttf "$letters,$signs"
for face in NotoSansArabic NotoSansHebrew NotoSansDevanagari NotoSansThai; do
    subset "$face-Regular.ttf" '*'
    subset "$face-Bold.ttf" '*'
done
subset NotoSansMath-Regular.ttf "$signs"
subset NotoSansSymbols2-Regular.ttf "$signs"

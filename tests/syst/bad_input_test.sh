#!/usr/bin/env bash
# Bad SyS-T input from the command line: a bad message is shown as bad, with its bytes, and never
# costs the next one; collateral that would cost time or read other files is refused.
# SYSTPRINT names the reference-compatible printer.
# shellcheck source-path=SCRIPTDIR disable=SC2001,SC2015,SC2016,SC2034,SC2046,SC2059
. "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"

readonly tag='SYS-T RAW DATA: '
readonly before=425241010300616100 after=425241010300626200 # "aa", "bb"

# put_hex FILE HEX: bytes, appended.
put_hex() { put_bytes "$1" $(sed 's/../& /g' <<<"$2"); }
# repeat COUNT CHARACTER
repeat() { head -c "$1" /dev/zero | tr '\0' "$2"; }
# put_line FILE HEX...: lines of a console, appended.
put_line() {
  local file=$1
  shift
  printf "$tag%s\n" "$@" >>"$file"
}
expect_lines() { [ "$(wc -l <out)" -eq "$1" ] || complain "$(wc -l <out) lines, expected $1"; }
expect_neighbours() {
  expect_out 'module 65:5  aa'
  expect_out 'module 65:5  bb'
}

# among NAME HEX SENTENCE: the message between two good ones, as a line and in plain bytes.
among() {
  case=$1
  put_line "$1.txt" "$before" "$2" "$after"
  run syst "$1.txt"
  expect_code 0
  expect_lines 3
  expect_neighbours
  expect_out "$3: $2"
  run syst "$1.txt" --strict
  expect_code 1
  expect_err "--strict: the message at byte $((${#before} + ${#tag} + 1)) is damaged"
  put_hex "$1.bin" "$before$2$after$before"
  run syst "$1.bin" --as plain
  expect_code 0
  expect_lines 4
  expect_neighbours
  expect_out "$3"
  expect_out "$2"
  "$SYSTPRINT" -p "$1.txt" >out 2>err || complain 'systprint fails'
  expect_lines 3
}
among checksum 42564101020061000BADC0DE 'its checksum does not match'
among length_beyond_the_end 425241010F00636300 'shorter than its length field says'
for type in 4 5 A B C D E F; do
  among "reserved_type_$type" "4${type}5241010300616100" 'its type is reserved'
done

case=length_beyond_the_end_of_the_file
put_hex last.bin "$before$before${after}42524101FFFF6363"
run syst last.bin
expect_code 0
expect_lines 4
expect_out 'the capture ends before it'
expect_out 42524101FFFF6363

case=unterminated_text
put_line open.txt 425041016162 "$after"
run syst open.txt
expect_code 0
expect_out 'module 65:5  ab'
expect_out 'module 65:5  bb'
run syst open.txt --strict
expect_code 1
expect_out 'its text has no end: 425041016162'

case=printf_arguments_that_do_not_match
# "v=%d, %s" without arguments; with 7 and a text without end; "v=%k"; "%2000000000d"; "%s%s%n" with
# nothing.
put_line printf.txt 4250410B763D25642C20257300 4250410B763D25642C20257300070000006162 \
  4250410B763D256B00 4250410B25323030303030303030306400010000 4250410B25732573256E00 "$after"
run syst printf.txt
expect_code 0
expect_lines 6
expect_out "v=[no argument is left for '%d']"
expect_out 'v=7, ab[the text of the argument has no end]'
expect_out "invalid format string 'v=%k'"
expect_out "[no argument is left for '%s']"
expect_out 'module 65:5  bb'
"$SYSTPRINT" printf.txt >out 2>err || complain 'systprint fails'
expect_lines 7

case=missing_collateral_entry
put_line missing.txt 43504101EFBEADDE01000000
run syst missing.txt
expect_code 0
expect_out 'catalog id 0xDEADBEEF arguments 01000000'
expect_err 'note: 1 catalog message has no text; name the sender'
readonly head='<s:Collateral><s:Client Name="demo"><s:Guids><s:Guid ID="{00000000-0000-0000-0000-000000000000}" Mask="{00000000-0000-0000-0000-000000000000}">g</s:Guid></s:Guids><s:Catalog32>'
readonly tail='</s:Catalog32></s:Client></s:Collateral>'
printf '%s<s:Format ID="0x10">x</s:Format>%s' "$head" "$tail" >other.xml
run syst missing.txt --collateral other.xml
expect_code 0
expect_out 'demo:5  catalog id 0xDEADBEEF arguments 01000000'
expect_err 'note: 1 catalog message has an ID that the collateral of the sender lacks'

case=payload_of_64_KiB
{
  put_hex long.bin "${before}42520101FFFF"
  repeat 65534 A >>long.bin
  put_hex long.bin "00$after"
}
run syst long.bin
expect_code 0
expect_lines 3
expect_neighbours
[ "$(sed -n 2p out | tr -cd A | wc -c)" -eq 65534 ] || complain 'the long text is not whole'
{
  printf "$tag%s\n" "$before"
  printf '%s42520101FFFF%s00\n' "$tag" "$(repeat 131068 4)"
  printf "$tag%s\n" "$after"
} >long.txt
run syst long.txt
expect_code 0
expect_lines 3
expect_neighbours
[ "$(sed -n 2p out | tr -cd D | wc -c)" -eq 65534 ] || complain 'the long text is not whole'

case=overlong_line
{
  printf '%s' "$tag"
  repeat 4000000 A
  printf "\n$tag%s\n" "$after"
  repeat 4000000 S
  printf '%s%s' "$tag" "$before"
} >overlong.txt
run syst overlong.txt
expect_code 0
expect_lines 3
expect_neighbours
expect_out 'longer than a message can be'
"$WAYMARK" syst - <overlong.txt >out 2>err
expect_lines 3
"$SYSTPRINT" overlong.txt >out 2>err || complain 'systprint fails'
expect_lines 3

case=lines_of_any_length_take_little_memory
# systprint reads 256 KiB at a time: a message across two of them, and one behind it.
{
  repeat 262120 x
  printf "\n$tag%s\r\n$tag%s" "$before" "$after"
} >across.txt
"$SYSTPRINT" -p across.txt >out 2>err || complain 'systprint fails'
[ "$(tr '\n' ' ' <out)" = 'aa bb ' ] || complain 'not both messages'
# Zeros; a message that is none from its second digit on; digits without end.
long_line() {
  printf '%s' "$1"
  repeat "$2" "$3"
  printf "\n$tag%s\n" "$after"
}
# Sanitizers need more memory than the lines.
memory=100000
(ulimit -v "$memory" && exec "$SYSTPRINT" across.txt >/dev/null 2>&1) || memory=unlimited
for line in ',120000000,\0' "${tag}A,120000000,x" "$tag,20000000,A"; do
  IFS=, read -r begin size character <<<"$line"
  long_line "$begin" "$size" "$character" |
    (ulimit -v "$memory" && exec "$SYSTPRINT" -p - >out 2>err) || complain "systprint fails on $begin"
  [ "$(cat out)" = bb ] || complain 'the next message is lost'
done
expect_err 'a line is too long to be a message'

case=binary_in_a_text
{
  printf "boot\n$tag%s\001\377\200\0\033[31\n" "$before"
  repeat 5000 '\377'
  printf "\0\0\0$tag%s\r\n\0" "$after"
  printf "$tag\377\n"
} >binary.txt
run syst binary.txt
expect_code 0
expect_lines 3
expect_neighbours
expect_out 'it ends within its header'
"$SYSTPRINT" binary.txt >out 2>err || complain 'systprint fails'

case=digit_missing
put_line odd.txt "${before}0" "$after"
run syst odd.txt
expect_code 0
expect_lines 2
expect_out 'a digit of its text is missing'
expect_out 'module 65:5  bb'

# refused NAME SENTENCE: the collateral NAME.xml.
refused() {
  case=$1
  run syst odd.txt --collateral "$1.xml"
  expect_code 3
  expect_one_sentence
  expect_err "$2"
}
printf '<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;&a;">]>\n%s&b;%s' "$head" "$tail" >bomb.xml
refused bomb 'bomb.xml:1: document type declarations are refused'
printf '<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n%s&a;%s' "$head" \
  "$tail" >external.xml
refused external 'external.xml:2: document type declarations are refused'
cp overlong.txt text.xml
refused text 'this is no XML'
refused absent 'absent.xml cannot be read'
mkdir folder.xml
refused folder 'is a folder'
printf '%s<s:Format ID="12x">y</s:Format>%s' "$head" "$tail" >value.xml
refused value 'ID="12x" is no number that fits'
# Without DTD, an entity is text.
printf '%s<s:Format ID="0xDEADBEEF">&a;|%%d</s:Format>%s' "$head" "$tail" >entity.xml
case=entity
run syst missing.txt --collateral entity.xml
expect_code 0
expect_out 'demo:5  &a;|1'
printf '%s%s%s' "$(repeat 20000 ' ' | sed 's/ /<a>/g')" "$head" "$tail" >deep.xml
refused deep 'this is no XML'

case=strict_stops_at_once
bad=42564101020061000BADC0DE
put_hex strict.bin "$before$bad$after$after"
put_line strict.txt "$before" "$bad" "$after" "$after"
for input in 'strict.bin --as plain' 'strict.txt' '-'; do
  # shellcheck disable=SC2086
  "$WAYMARK" syst $input --strict <strict.txt >out 2>err
  code=$?
  expect_code 1
  expect_lines 2
  expect_out "$bad"
  expect_err '--strict: the message at byte'
done

case=names_from_collateral_are_shown_in_one_line
sed 's/Name="demo"/Name="de\&#10;mo\&#27;[31m"/' other.xml >name.xml
run syst missing.txt --collateral name.xml
expect_code 0
expect_lines 1
expect_out 'de\nmo\x1b[31m:5'

case=no_carrier
printf 'hello\n' >hello.txt
run syst hello.txt
expect_code 3
expect_err 'no `SYS-T RAW DATA:` line was found'
run syst hello.txt --as lines
expect_code 1
expect_one_sentence
expect_err 'no SyS-T message was found'
: >empty
run syst empty
expect_code 3
expect_one_sentence
expect_err 'empty is empty'
head -c 100000 /dev/zero >zeros
run syst zeros --as plain
expect_code 0
run syst nowhere
expect_code 3
expect_one_sentence

case=standard_input_is_no_trace
for option in '--as trace' '--protocol stm' '--framing mem' '--nibble-order least' '--id 3'; do
  # shellcheck disable=SC2086
  "$WAYMARK" syst - $option <odd.txt >out 2>err
  code=$?
  expect_code 2
  expect_one_sentence
  expect_err "${option/ [msl3]*/}"
  expect_err 'trace is read from files only'
done
"$WAYMARK" syst - <hello.txt >out 2>err
code=$?
expect_code 1
expect_one_sentence
expect_err '--as lines or --as plain; trace is read from files only'

case=the_input_is_not_overwritten
run syst odd.txt -o odd.txt
expect_code 2
run syst odd.txt --collateral other.xml -o other.xml
expect_code 2
[ -s odd.txt ] && [ -s other.xml ] || complain 'an input is lost'

finish

#!/bin/sh
# Measures a beam without a line of Python: parameters as JSON on standard input, outcomes as JSON on standard output.
# Whatever else it says goes to standard error; an exit status other than 0 is a failure, kept with what it said last.
#
#     echo '{"width_mm": 40, "height_mm": 90}' | sh measure.sh

awk '
function value(name) {
    if (!match($0, "\"" name "\": *[-+.0-9eE]+")) {
        print "no " name " in " $0 > "/dev/stderr"
        exit 1
    }
    text = substr($0, RSTART, RLENGTH)
    sub(/.*: */, "", text)
    return text + 0
}
{
    width = value("width_mm"); height = value("height_mm")
    # 2 m of spruce between two supports, 1500 N in the middle, E = 11000 MPa: F l^3 / (48 E I), with I = b h^3 / 12
    bending = 1500 * 2000 ^ 3 / (48 * 11000 * width * height ^ 3 / 12)
    printf "{\"weight_kg\": %.4f, \"bending_mm\": %.4f, \"slenderness\": %.4f}\n", \
        width * height * 2000 * 4.5e-7, bending, height / width
}'

#!/bin/sh
# Tests of slug.sh: ./test.sh
. ./slug.sh

failed=0
check() {
    actual=$(slug "$1")
    if [ "$actual" = "$2" ]; then
        echo "ok      $1 -> $2"
    else
        echo "FAILED  $1 -> $actual, expected $2"
        failed=1
    fi
}

check "Hello World" "hello-world"
check "Release  Notes" "release-notes"
check "README" "readme"
exit $failed

#!/bin/sh
# Makes a name for a file of a title: slug "Hello World" prints hello-world.

slug() {
    printf '%s\n' "$1" | tr 'A-Z' 'a-z' | tr -s ' ' '_'
}

#!/bin/sh
# The sample web server and the maker of its files: right answers, orderly ends, refusals.
# Usage: tests/tornado.sh BUILD-FOLDER. Prints TAP; exits 1 if a test fails. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
tornado=$build/samples/tornado
pages=$build/samples/pages
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
explain_failure() { head -n 20 out err log 2>/dev/null; }

# start OPTION...: the server; its port is in $port.
start() {
    rm -f log
    "$tornado" "$@" --root www >log 2>err &
    server=$!
    tries=0
    until grep -q listening log || [ $tries -ge 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    port=$(sed -n 's/^listening on port //p' log)
}

# stop: it ends in an orderly way; its last line is in log.
stop() {
    kill -TERM "$server"
    wait "$server"
    status=$?
    server=
    [ $status -eq 0 ] && tail -n 1 log | grep -q '^tornado: '
}

# ask TEXT: what the server sends on a connection of its own until it closes it, in out.
ask() {
    timeout 30 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" && printf "$2" >&3 && cat <&3' - "$port" "$1" >out 2>err
}

# body FILE: is it what was sent behind the head?
body() { sed '1,/^.$/d' out | cmp -s - "$1"; }

"$pages" --files 600 --typical 3000 --seed 7 www >urls 2>err
[ $? -eq 0 ] && [ "$(wc -l <urls)" -eq 600 ] && [ "$(find www -type f | wc -l)" -eq 600 ] &&
    [ "$(find www -mindepth 1 -type d | wc -l)" -eq 3 ]
report $? "pages makes as many files as it was asked for, and lists them"
"$pages" --files 600 --typical 3000 --seed 7 again >again.urls 2>err
diff -r www again >out && cmp -s urls again.urls
report $? "the same again with the same seed"
# Of 600 sizes half are below the median, give or take 12 (one standard deviation).
find www -type f -size -3000c | wc -l >out
[ "$(cat out)" -gt 200 ] && [ "$(cat out)" -lt 400 ]
report $? "sizes lie around the typical one"
"$pages" --files 3 --zipf 1 popular >out 2>err
[ "$(cut -f 2 out | tr '\n' ' ')" = "1 0.5 0.333333333 " ]
report $? "weights follow Zipf's law"
"$pages" --files 1 www >out 2>err
[ $? -ne 0 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ]
report $? "a folder that is there is left alone"
for bad in --files=0 --sizes=normal --shape=x --zipf=-1 --typical=; do
    "$pages" $bad bad >out 2>err
    [ $? -eq 2 ] && [ ! -e bad ] && [ "$(wc -l <err)" -eq 1 ]
    report $? "pages refuses $bad"
done

printf 'hello\n' >www/index.html
echo secret >outside
start --threads 2
ask 'GET / HTTP/1.1\r\n\r\n'
grep -q '^HTTP/1.1 200 ' out && body www/index.html
report $? "a folder's index is sent, and the connection closed"
head -c 300000 /dev/zero | tr '\0' x >www/large
ask 'GET /large?query HTTP/1.0\r\n\r\n'
grep -q '^Content-Length: 300000' out && body www/large
report $? "a large file is sent whole"
for case in '404:GET /nothing HTTP/1.1' '404:GET /../outside HTTP/1.1' '404:GET /0000 HTTP/1.1' '405:POST / HTTP/1.1' \
    '400:GET index.html HTTP/1.1' '400:hello'; do
    ask "${case#*:}\r\n\r\n"
    head -n 1 out | grep -q "^HTTP/1.1 ${case%%:*} "
    report $? "${case#*:} is answered by ${case%%:*}"
done
"$persik" load --rate 2000/s --requests 500 --urls urls --no-keep-alive --format json "http://127.0.0.1:$port" >out 2>err
jq -e '.requests == 500 and .connections == 500' out >/dev/null
report $? "500 requests on connections of their own are answered"
stop && grep -q '^tornado: 508 requests' log
report $? "SIGTERM ends it, and it has counted all requests"

start --threads 3 --keep-alive --compute 10 --queue 1
"$persik" load --clients 3 --requests 500 --urls urls --format json "http://127.0.0.1:$port" >out 2>err
jq -e '.requests == 500 and .connections == 3' out >/dev/null
report $? "with --keep-alive 500 requests need three connections"
ask 'GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n'
[ "$(grep -c '^HTTP/1.1 200 ' out)" -eq 2 ]
report $? "requests that are sent at once are both answered"
stop
report $? "SIGTERM ends it, too"

"$tornado" --help >out && grep -q -e --threads out
report $? "tornado --help names --threads"
for bad in --threads=0 --threads=2x --port=70000 --queue=0 --compute=-1 --root=nowhere --no-such-option stray; do
    timeout 30 "$tornado" $bad >out 2>err
    [ $? -eq 2 ] && [ ! -s out ] && [ -s err ]
    report $? "tornado refuses $bad"
done
finish

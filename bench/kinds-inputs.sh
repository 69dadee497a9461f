# What the programs of bench/kinds.list work on; sourced by kinds.sh. Each function prints what it makes, and the same
# in every call: the random numbers are Perl's own, which are the same everywhere.
# shellcheck shell=bash

# genome LETTERS: DNA as FASTA.
genome() {
    perl -e 'srand 1; my @b = qw(A C G T); print ">genome\n";
        for (1 .. $ARGV[0] / 100) { print map({ $b[rand 4] } 1 .. 100), "\n" }' "$1"
}

# reads N LETTERS: pieces of the genome on standard input, one letter in 50 changed, as FASTQ.
reads() {
    perl -e 'srand 2; my ($n, $l) = @ARGV; my @b = qw(A C G T); my $g = "";
        while (<STDIN>) { chomp; $g .= $_ unless /^>/ }
        for (1 .. $n) {
            my $s = substr $g, rand(length($g) - $l), $l;
            substr($s, rand $l, 1) = $b[rand 4] for 1 .. $l / 50;
            print "\@read$_\n$s\n+\n", "I" x $l, "\n"
        }' "$1" "$2"
}

# proteins N LETTERS [CHANGED]: as many relatives of one protein as FASTA, so large a share of their letters changed.
proteins() {
    perl -e 'srand 3; my ($n, $l, $c) = @ARGV; my @a = split //, "ACDEFGHIKLMNPQRSTVWY";
        my @first = map { $a[rand 20] } 1 .. $l;
        for (1 .. $n) { print ">p$_\n", map({ rand() < $c ? $a[rand 20] : $_ } @first), "\n" }' "$1" "$2" "${3:-0.4}"
}

# satisfiability VARIABLES CLAUSES: random clauses of three variables each.
satisfiability() {
    perl -e 'srand 4; my ($v, $c) = @ARGV; print "p cnf $v $c\n";
        for (1 .. $c) { print join(" ", map { (1 + int rand $v) * (rand() < 0.5 ? -1 : 1) } 1 .. 3), " 0\n" }' "$@"
}

# knapsacks THINGS SACKS: which things to take so that no sack is too full, as an integer program.
knapsacks() {
    perl -e 'srand 8; my ($n, $m) = @ARGV;
        sub row { join " + ", map { (1 + int rand 50) . " x$_" } 1 .. $n }
        print "Maximize\n obj: ", row(), "\nSubject To\n";
        print " c$_: ", row(), " <= ", $n * 12, "\n" for 1 .. $m;
        print "Binary\n", join(" ", map { "x$_" } 1 .. $n), "\nEnd\n"' "$@"
}

# numbers LINES: lines of six numbers.
numbers() {
    perl -e 'srand 5; for (1 .. $ARGV[0]) { print join(" ", map { int rand 1e9 } 1 .. 6), "\n" }' "$1"
}

# text_files N KIB FOLDER: files of some such lines each.
text_files() {
    mkdir -p "$3"
    perl -e 'srand 9; my ($n, $kib, $folder) = @ARGV;
        for my $i (1 .. $n) {
            open my $f, ">", "$folder/$i.txt" or die;
            my $size = 0;
            while ($size < $kib * 1024) { my $l = join(" ", map { int rand 1e9 } 1 .. 6) . "\n"; $size += length $l; print $f $l }
        }' "$@"
}

# spheres N: mirrors in a room, for povray.
spheres() {
    perl -e 'srand 6;
        print "camera { location <0,3,-9> look_at 0 }\n",
            "light_source { <5,9,-8> rgb 1 area_light <1,0,0>, <0,1,0>, 4, 4 }\n",
            "plane { y, -2 pigment { checker rgb 1 rgb 0.3 } finish { reflection 0.2 } }\n";
        for (1 .. $ARGV[0]) {
            printf "sphere { <%.3f,%.3f,%.3f>, %.3f pigment { rgb <%.2f,%.2f,%.2f> } finish { reflection 0.4 phong 1 } }\n",
                rand(8) - 4, rand(4) - 1.5, rand(6) - 2, 0.1 + rand(0.4), rand, rand, rand
        }' "$1"
}

# zone NAMES: a zone of the domain name system.
zone() {
    perl -e 'print "\$TTL 3600\n@ IN SOA ns.example. admin.example. 1 7200 900 1209600 3600\n@ IN NS ns.example.\n",
        "ns IN A 192.0.2.1\n";
        for (1 .. $ARGV[0]) { printf "host%d IN A 192.0.2.%d\n", $_, $_ % 250 + 1 }' "$1"
}

# video FRAMES WIDTH HEIGHT; picture WIDTH HEIGHT: test pictures under noise.
video() {
    ffmpeg -v error -nostdin -f lavfi -i "testsrc2=size=$2x$3:rate=25,noise=alls=20:allf=t:all_seed=1" -frames:v "$1" \
        -pix_fmt yuv420p -f yuv4mpegpipe -
}
picture() {
    ffmpeg -v error -nostdin -f lavfi -i "testsrc2=size=$1x$2,noise=alls=20:all_seed=1" -frames:v 1 -pix_fmt rgb24 \
        -f image2pipe -c:v ppm -
}

# jobs N: as many jobs for make, each a process that compresses.
jobs() {
    echo "all: $(seq -s ' ' -f 'out%g' "$1")"
    echo 'out%: in.txt; @gzip -9 -c in.txt >$@'
}

# prefork: a script that starts Apache with so many processes, has it asked by eight clients, and ends it.
prefork() {
    cat <<'END'
#!/bin/sh
modules=/usr/lib/apache2/modules
cat >in.conf <<CONFIGURATION
ServerRoot $PWD
ServerName localhost
User www-data
Group www-data
PidFile $PWD/in.pid
ErrorLog $PWD/in.log
Listen 127.0.0.1:18099
DocumentRoot $PWD
LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule deflate_module $modules/mod_deflate.so
LoadModule filter_module $modules/mod_filter.so
SetOutputFilter DEFLATE
StartServers $1
MinSpareServers $1
MaxSpareServers $1
ServerLimit $1
MaxRequestWorkers $1
CONFIGURATION
setsid apache2 -f "$PWD/in.conf" -DFOREGROUND &
until [ -s in.pid ]; do sleep 0.02; done
ab -q -n 36 -c 8 -H 'Accept-Encoding: gzip' http://127.0.0.1:18099/in.txt >out.txt
kill -TERM "$(cat in.pid)"
wait
END
}

# circles N: a page of shaded circles in PostScript.
circles() {
    perl -e 'srand 10; print "%!PS\n/c { newpath 0 360 arc gsave setrgbcolor fill grestore 0 setgray 0.3 setlinewidth stroke } def\n";
        for (1 .. $ARGV[0]) {
            printf "%.3f %.3f %.3f %.1f %.1f %.1f c\n", rand, rand, rand, rand 612, rand 792, 5 + rand 60
        }
        print "showpage\n"' "$1"
}

# products: a Python script that multiplies and decomposes matrices.
products() {
    cat <<'END'
import numpy
random = numpy.random.default_rng(1)
a = random.standard_normal((700, 700))
for i in range(20):
    b = a @ a
    c = numpy.linalg.solve(a, b)
print(float(abs(c - a).max()) < 1)
END
}

# redis_load: a script that starts redis-server, has it asked by a benchmark with so many threads, and ends it.
redis_load() {
    cat <<'END'
#!/bin/sh
redis-server --bind 127.0.0.1 --port 18098 --save '' --appendonly no --daemonize no >in.log 2>&1 &
until redis-cli -p 18098 ping >/dev/null 2>&1; do sleep 0.02; done
redis-benchmark -h 127.0.0.1 -p 18098 --threads "$1" -c 16 -n 40000 -t set,get -q >out.txt
redis-cli -p 18098 shutdown nosave
wait
END
}

# persik: build, test, demonstrate. `make help` lists the targets.

PREFIX  ?= /usr/local
VARIANT ?= release
B       := build/$(VARIANT)

# The processor that is built for: the folder of processor/ that is compiled.
ARCH    := x86_64
# aarch64 is built with Debian's cross compiler and libraries (install-aarch64.sh), without the parts that are injected
# into programs. -ffp-contract=off: the same figures as elsewhere, to the last digit.
ifeq ($(VARIANT),aarch64)
ARCH    := aarch64
CROSS   := aarch64-linux-gnu-
CC      := $(CROSS)gcc --sysroot=$(CURDIR)/build/aarch64/root
AR      := $(CROSS)ar
LD      := $(CROSS)ld
OBJCOPY := $(CROSS)objcopy
FLAGS_aarch64 := -ffp-contract=off
endif
ifeq ($(origin CC),default)
CC      := gcc
endif
OBJCOPY ?= objcopy
ifeq ($(VARIANT),fuzz)
CC      := clang-14
endif
CXX     := clang++-14
LLVM    := llvm-config-14
CLANG_FORMAT := clang-format-14
CLANG_TIDY := clang-tidy-14
JOBS    := 2
VERSION := 0.2.0

SAN_release :=
SAN_asan    := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SAN_ubsan   := -fsanitize=undefined -fno-sanitize-recover=all
SAN_tsan    := -fsanitize=thread
SAN_fuzz    := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
SAN         := $(SAN_$(VARIANT))

WARN     := -Wall -Wextra -Werror
CPPFLAGS := -I. -D_GNU_SOURCE
# EXTRA_CFLAGS, EXTRA_LDFLAGS: whoever packages persik has flags of his own.
CFLAGS   := -std=c17 -g -O2 $(WARN) $(SAN) $(FLAGS_$(VARIANT)) $(EXTRA_CFLAGS)
# Stacks are for a few calls; sanitizers take more of them.
FRAMES_release := -Wframe-larger-than=16384
LDFLAGS  := $(SAN) $(EXTRA_LDFLAGS)
LDLIBS   := -ljansson -liberty -lzstd -ldw -lelf -lcapstone -lunwind-ptrace -lunwind-generic -lunwind \
            -lgsl -lgslcblas -lm -lpthread

# Clang's headers are third-party: -isystem keeps their warnings out of our -Werror.
# The parser needs the headers of its own version (stddef.h ...), wherever persik-analyze lives.
CXXFLAGS := -std=c++17 -O1 -g0 $(WARN) -fno-rtti -I. -isystem $(shell $(LLVM) --includedir) \
            -DCLANG_RESOURCE_DIRECTORY='"$(shell $(CXX) -print-resource-dir)"'
CXXLIBS   = -L$(shell $(LLVM) --libdir) -l:libclang-cpp.so.14 $(shell $(LLVM) --libs --system-libs) \
            -ljansson -ldw -lelf

# ---- what is built from what ----

STAGES    := base processor processor/$(ARCH) critical-path debuginfo html host model formats load sampler modelgen $(patsubst %/,%,$(wildcard modelgen/*/)) simulator library tracer
LIB_SRC   := $(wildcard $(addsuffix /*.c,$(STAGES)))
# tracer/: what is injected into the program is in tracer/probe, the rest runs in the command.
PROBE_SRC := $(wildcard tracer/probe/*.c processor/x86_64/probe/*.c)
PROBE_ASM := $(wildcard processor/x86_64/probe/*.S)
PROBE_TESTS := tests/unit/test_unwind.c
# libpersiksim is the simulator alone, for other programs: it knows nothing of tracing.
SIM_SRC   := base/error.c base/heap.c base/memory.c base/output.c base/path.c base/room.c \
             $(wildcard model/*.c formats/model*.c simulator/*.c library/*.c) formats/json_input.c
SIM_LIBS  := -ljansson -lgsl -lgslcblas -lm -lpthread
SONAME    := libpersiksim.so.0
# The sanitizers' functions come from the program.
WHOLE_release := -Wl,-z,defs
CLI_SRC   := cli/judgement.c $(wildcard cli/*/*.c)
ANALYZE_SRC := $(wildcard static-analyzer/*.cpp)
TEST_SRC  := $(wildcard tests/unit/test_*.c)
# What unit tests share: the other sources there.
TEST_HELP_SRC := $(filter-out $(TEST_SRC),$(wildcard tests/unit/*.c))
SAMPLES   := $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard samples/*/*.c)))))
SAMPLE_SRC := $(wildcard samples/*/*.c)
CORPUS_C  := $(wildcard tests/monitors/*.c tests/monitors/*.cpp)
CORPUS_H  := $(wildcard tests/monitors/*.h)
CORPUS    := $(addprefix $(B)/monitors/,$(basename $(notdir $(CORPUS_C))))
MAN1      := $(wildcard docs/man/*.1)
MAN3      := $(wildcard docs/man/*.3)
# What reads files that others may have written, and a program for each kind that holds it against inputs.
READER_SRC := $(wildcard base/*.c critical-path/*.c host/*.c processor/$(ARCH)/*.c model/*.c debuginfo/*.c formats/*.c tracer/*.c) cli/validation/measurement.c cli/recording/disturbance.c cli/judgement.c load/codec.c
FUZZ_SRC  := $(wildcard tests/fuzz/*.c)
READERS   := $(patsubst tests/fuzz/target_%.c,%,$(wildcard tests/fuzz/target_*.c))

LIB_OBJ   := $(LIB_SRC:%.c=$(B)/%.o)
SIM_OBJ   := $(SIM_SRC:%.c=$(B)/pic/%.o)
CLI_OBJ   := $(CLI_SRC:%.c=$(B)/%.o)
READER_OBJ := $(READER_SRC:%.c=$(B)/%.o)
FUZZ_OBJ  := $(FUZZ_SRC:%.c=$(B)/%.o)
ANALYZE_OBJ := $(ANALYZE_SRC:%.cpp=$(B)/%.o)
TEST_HELP_OBJ := $(TEST_HELP_SRC:%.c=$(B)/%.o)
TESTS     := $(patsubst tests/unit/%.c,$(B)/tests/%,$(if $(CROSS),$(filter-out $(PROBE_TESTS),$(TEST_SRC)),$(TEST_SRC)))
ARCHIVES  := $(B)/libpersik-cli.a $(B)/libpersik.a

.PHONY: all help tests aarch64 mutators fuzzers samples monitors demo bench docs check check-asan check-ubsan check-tsan \
        products install install-command install-library uninstall deb format format-check tidy tidy-quick compile_commands.json clean
.DELETE_ON_ERROR:

COMPLETION := $(addprefix $(B)/completion/,persik _persik persik.fish)
PRODUCTS  := $(addprefix $(B)/,persik libpersik-probe.so persik-analyze libpersiksim.so libpersiksim.a)
products: $(PRODUCTS) $(COMPLETION) # what is installed
all: products samples ## everything

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9_.-]+:.*## / { printf "make %-22s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "VARIANT=asan|ubsan|tsan builds into a folder of its own; PREFIX and DESTDIR steer install."

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "CC    $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(FRAMES_$(VARIANT)) -MMD -MP -c $< -o $@

$(B)/pic/%.o: %.c
	@mkdir -p $(@D)
	@echo "PIC   $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -MMD -MP -c $< -o $@

KNOW_VERSION := $(addprefix $(B)/,cli/main.o library/simulate.o pic/library/simulate.o)
$(KNOW_VERSION): CPPFLAGS += -DPERSIK_VERSION='"$(VERSION)"'
$(KNOW_VERSION): Makefile

$(B)/libpersik.a: $(LIB_OBJ)
$(B)/libpersik-cli.a: $(CLI_OBJ)
$(B)/%.a:
	@echo "AR    $@"
	@rm -f $@; $(AR) rcs $@ $^

# At a fixed address and with the disassembler inside: relocating its 80,000 table entries took longer
# than predicting a small model.
$(B)/persik: $(B)/cli/main.o $(ARCHIVES)
	@echo "LINK  $@"
	@$(CC) -no-pie $(LDFLAGS) $^ $(LDLIBS:-lcapstone=-l:libcapstone.a) -o $@

# Programs that were linked with it load it by its soname, those to be linked find it without.
$(B)/libpersiksim.so: $(SIM_OBJ) library/persiksim.map
	@echo "LIB   $@"
	@$(CC) -shared $(LDFLAGS) $(SIM_OBJ) -Wl,-soname,$(SONAME) -Wl,--version-script=library/persiksim.map \
	    $(WHOLE_$(VARIANT)) -Wl,--as-needed $(SIM_LIBS) -o $@
	@ln -sf libpersiksim.so $(B)/$(SONAME)

# One object, so that here, too, only the public names can be linked with.
$(B)/libpersiksim.a: $(SIM_OBJ)
	@echo "AR    $@"
	@$(LD) -r $^ -o $(B)/pic/persiksim.o
	@$(OBJCOPY) --wildcard --keep-global-symbol='persik_*' $(B)/pic/persiksim.o
	@rm -f $@; $(AR) rcs $@ $(B)/pic/persiksim.o

# What can be completed is the same text for each shell; fish has it in quotes, for sh.
$(B)/completion/persik: cli/completion/words.sh cli/completion/bash.sh
	@mkdir -p $(@D)
	@cat $^ >$@
$(B)/completion/_persik: cli/completion/words.sh cli/completion/zsh.sh
	@mkdir -p $(@D)
	@{ echo '#compdef persik'; cat $^; } >$@
$(B)/completion/persik.fish: cli/completion/words.sh cli/completion/fish.fish
	@mkdir -p $(@D)
	@{ printf "set -g __persik_words '"; sed "s/[\\\\']/\\\\&/g" $<; echo "'"; cat cli/completion/fish.fish; } >$@

# Injected into other people's programs: no sanitizer, few dependencies, only the interposed names
# visible. No vector registers: programs that call with a misaligned stack (hand-written assembly) get
# away with it elsewhere.
$(B)/libpersik-probe.so: $(PROBE_SRC) $(PROBE_ASM) $(wildcard processor/*.h processor/x86_64/*.h processor/x86_64/probe/*.h tracer/probe/*.h tracer/*.h base/*.h formats/*.h formats/*.def model/*.h host/*.h)
	@mkdir -p $(@D)
	@echo "PROBE $@"
	@$(CC) $(CPPFLAGS) -std=c17 -g -O2 $(WARN) -mgeneral-regs-only -fPIC -shared \
	    -fvisibility=hidden \
	    -static-libgcc $(PROBE_SRC) $(PROBE_ASM) formats/catalog.c formats/roles.c \
	    -o $@ -Wl,-z,now -ldl -lpthread

$(B)/static-analyzer/%.o: static-analyzer/%.cpp
	@mkdir -p $(@D)
	@echo "CXX   $<"
	@$(CXX) $(CXXFLAGS) -MMD -MP -c $< -o $@

$(B)/persik-analyze: $(ANALYZE_OBJ) $(addprefix $(B)/,base/log.o base/memory.o base/output.o base/path.o \
    base/fold.o base/printable.o debuginfo/files.o debuginfo/reason.o)
	@echo "LINK  $@"
	@$(CXX) $(EXTRA_LDFLAGS) $^ -o $@ $(CXXLIBS)

SAMPLE_FLAGS_heat := -fopenmp

define sample_rule
$(B)/samples/$(1): $(wildcard samples/$(1)/*.c samples/$(1)/*.h)
	@mkdir -p $$(@D)
	@echo "SAMPLE $(1)"
	@$(CC) -std=c11 -g -O2 $(WARN) $(SAMPLE_FLAGS_$(1)) $$(filter %.c,$$^) -o $$@ -lm -lpthread
endef
$(foreach s,$(SAMPLES),$(eval $(call sample_rule,$(s))))
samples: $(addprefix $(B)/samples/,$(SAMPLES)) ## the example programs

$(B)/monitors/%: tests/monitors/%.c $(CORPUS_H)
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 -g -O2 $(WARN) $< -o $@ -lpthread
$(B)/monitors/%: tests/monitors/%.cpp $(CORPUS_H)
	@mkdir -p $(@D)
	@g++ -std=c++17 -g -O2 $(WARN) $< -o $@ -lpthread
monitors: $(CORPUS) ## the labelled corpus of hand-made synchronisation

# ---- tests and measurements ----

$(B)/tests/%: tests/unit/%.c $(TEST_HELP_OBJ) $(ARCHIVES)
	@mkdir -p $(@D)
	@echo "TEST  $@"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) $< $(TEST_HELP_OBJ) $(ARCHIVES) $(LDLIBS) -lcmocka -o $@
tests: $(TESTS) ## the unit tests, not run

aarch64: ## cross-compile what predicts and builds models, and test it under qemu-user
	@sh ./install-aarch64.sh
	@$(MAKE) --no-print-directory -j$(JOBS) VARIANT=aarch64 build/aarch64/persik build/aarch64/libpersiksim.so tests
	@tests/run build/aarch64 aarch64

check: ## install what is missing, build, run every test; ends with the count line
	@sh ./install-deps.sh
	@$(MAKE) --no-print-directory -j$(JOBS) all tests
	@$(MAKE) --no-print-directory -j$(JOBS) VARIANT=asan mutators
	@tests/run $(B)

# The readers against mutated inputs, with AddressSanitizer; against libFuzzer's, with VARIANT=fuzz.
$(B)/libpersik-readers.a: $(READER_OBJ)
$(B)/fuzz/mutate-%: $(B)/tests/fuzz/target_%.o $(B)/tests/fuzz/fuzz.o $(B)/tests/fuzz/mutate.o $(B)/libpersik-readers.a
	@mkdir -p $(@D)
	@echo "FUZZ  $@"
	@$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@
$(B)/fuzz/fuzz-%: $(B)/tests/fuzz/target_%.o $(B)/tests/fuzz/fuzz.o $(B)/libpersik-readers.a
	@mkdir -p $(@D)
	@echo "FUZZ  $@"
	@$(CC) -fsanitize=fuzzer,address,undefined $^ $(LDLIBS) -o $@
.SECONDARY: $(FUZZ_OBJ) $(TEST_HELP_OBJ)
mutators: $(READERS:%=$(B)/fuzz/mutate-%)
fuzzers: $(READERS:%=$(B)/fuzz/fuzz-%)

# Unit tests only: the sanitizers' libraries and the preloaded probe library do not mix. The analyser,
# a program of its own on Clang's libraries, is tested as it is.
# Without threads ThreadSanitizer has nothing to say.
TESTS_tsan := test_simulator test_closed_forms test_random_models test_sampler_live test_tracer_live \
              test_scheduler_costs test_pace test_intraclass_correlation \
              test_guarded_commands test_modelgen
check-asan check-ubsan check-tsan: check-%: ## the unit tests under a sanitizer
	@$(MAKE) --no-print-directory -j$(JOBS) VARIANT=$* $(or $(TESTS_$*:%=build/$*/tests/%),tests)
	@$(MAKE) --no-print-directory -j$(JOBS) VARIANT=release build/release/persik-analyze
	@ln -sf ../release/persik-analyze build/$*/persik-analyze
	@TEST_TIMEOUT=1200 tests/run --unit-only build/$* $(TESTS_$*) # ten times slower is usual

demo: ## zstd end to end: fetch, build, profile, predict, compare
	@sh ./install-deps.sh
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@bench/demo.sh $(B)

bench: all ## the accuracy and cost measurements of docs/accuracy.md
	@bench/run.sh $(B)

docs: ## pictures of the folders and of the passes, made from the code: build/docs
	@mkdir -p build/docs
	@for picture in rooms passes; do \
	    docs/picture.sh $$picture >build/docs/$$picture.dot && \
	    dot -Tsvg build/docs/$$picture.dot -o build/docs/$$picture.svg || exit 1; \
	    echo "DRAW  build/docs/$$picture.svg"; \
	done

# ---- source checks ----

C_FILES   := $(wildcard $(addsuffix /*.[ch],$(STAGES) cli cli/*)) $(wildcard tracer/probe/*.[ch] processor/*/*.[ch] processor/*/probe/*.[ch] library/examples/*.c) \
             $(wildcard tests/unit/*.[ch]) $(FUZZ_SRC) $(wildcard tests/fuzz/*.h) $(SAMPLE_SRC) $(wildcard samples/*/*.h) \
             $(CORPUS_C) $(CORPUS_H)
CXX_FILES := $(wildcard static-analyzer/*.cpp static-analyzer/*.h)

format: ## clang-format over all sources, in place
	@$(CLANG_FORMAT) -i $(C_FILES) $(CXX_FILES)

format-check: ## fails when clang-format would change a file
	@$(CLANG_FORMAT) --dry-run -Werror $(C_FILES) $(CXX_FILES)

# Quotes inside a JSON string inside a shell string.
CXXFLAGS_IN_JSON = $(subst "',\\\"',$(subst '",'\\\",$(CXXFLAGS)))

# One entry per source with the flags it is built with; no compiler wrapper needed.
compile_entry = printf '%s{"directory":"%s","file":"%s","command":"%s -c %s"}\n' \
                "$$sep" "$(CURDIR)" "$$f" "$(1)" "$$f"; sep=,
compile_commands.json: ## for clang-tidy, clangd and persik analyze
	@{ sep=; echo '['; \
	  for f in $(LIB_SRC) cli/main.c $(CLI_SRC) $(PROBE_SRC) $(TEST_SRC) $(TEST_HELP_SRC) $(FUZZ_SRC); do \
	    $(call compile_entry,$(CC) $(CPPFLAGS) -DPERSIK_VERSION='\\\"$(VERSION)\\\"' $(CFLAGS)); done; \
	  for f in $(SAMPLE_SRC); do $(call compile_entry,$(CC) -std=c11 -g -O2 $(WARN)); done; \
	  for f in $(ANALYZE_SRC); do $(call compile_entry,$(CXX) $(CXXFLAGS_IN_JSON)); done; \
	  echo ']'; } > $@

# Following all paths through a function takes clang-analyzer ten times as long as all other checks together:
# tidy-quick leaves it out.
TIDY_SRC  := $(LIB_SRC) cli/main.c $(CLI_SRC) $(PROBE_SRC) $(TEST_SRC) $(TEST_HELP_SRC) $(FUZZ_SRC) $(SAMPLE_SRC) $(ANALYZE_SRC)
run_tidy   = @printf '%s\n' $(TIDY_SRC) | xargs -P $(JOBS) -n 1 $(CLANG_TIDY) --quiet -p . \
             --extra-arg=-Wno-unknown-attributes --extra-arg=-Wno-ignored-attributes \
             --extra-arg=-Wno-unknown-pragmas $(1)
tidy: compile_commands.json ## clang-tidy over all sources
	$(call run_tidy,)
tidy-quick: compile_commands.json ## without clang-analyzer: a minute or two
	$(call run_tidy,--checks=-clang-analyzer-*)

# ---- install ----

# LIBDIR is where libpersiksim goes; what belongs to the command alone is beside it, in lib/persik.
LIBDIR ?= $(PREFIX)/lib
DEST   := $(DESTDIR)$(PREFIX)
DESTLIB := $(DESTDIR)$(LIBDIR)
COMPLETIONS := bash-completion/completions/persik zsh/site-functions/_persik fish/vendor_completions.d/persik.fish

# The functions that a manual page is about: what its NAME says.
names_in = sed -n '/^\.SH NAME/,/\\-/ { s/\\-.*//; s/[, ]/\n/g; p }' $(1) | grep '^persik_'

install: install-command install-library ## PREFIX=/usr/local

install-command: $(B)/persik $(B)/libpersik-probe.so $(B)/persik-analyze $(COMPLETION)
	install -d $(DEST)/bin $(DEST)/lib/persik $(DEST)/share/man/man1 $(dir $(COMPLETIONS:%=$(DEST)/share/%))
	install -m 755 $(B)/persik $(DEST)/bin/persik
	install -m 755 $(B)/persik-analyze $(DEST)/lib/persik/persik-analyze
	install -m 644 $(B)/libpersik-probe.so $(DEST)/lib/persik/libpersik-probe.so
	install -m 644 $(MAN1) $(DEST)/share/man/man1
	install -m 644 $(B)/completion/persik $(DEST)/share/bash-completion/completions/persik
	install -m 644 $(B)/completion/_persik $(DEST)/share/zsh/site-functions/_persik
	install -m 644 $(B)/completion/persik.fish $(DEST)/share/fish/vendor_completions.d/persik.fish

install-library: $(B)/libpersiksim.so $(B)/libpersiksim.a
	install -d $(DEST)/include $(DESTLIB)/pkgconfig $(DEST)/share/man/man3
	install -m 644 $(B)/libpersiksim.so $(DESTLIB)/libpersiksim.so.$(VERSION)
	ln -sf libpersiksim.so.$(VERSION) $(DESTLIB)/$(SONAME)
	ln -sf $(SONAME) $(DESTLIB)/libpersiksim.so
	install -m 644 $(B)/libpersiksim.a $(DESTLIB)/libpersiksim.a
	install -m 644 library/persiksim.h $(DEST)/include/persiksim.h
	sed 's|@prefix@|$(PREFIX)|; s|@libdir@|$(LIBDIR)|; s|@version@|$(VERSION)|' library/persiksim.pc.in \
	    >$(DESTLIB)/pkgconfig/persiksim.pc
	install -m 644 $(MAN3) $(DEST)/share/man/man3
	for page in $(notdir $(MAN3)); do \
	    $(call names_in,docs/man/$$page) | while read -r name; do \
	        [ -e $(DEST)/share/man/man3/$$name.3 ] || ln -s $$page $(DEST)/share/man/man3/$$name.3; \
	    done; \
	done

uninstall: ## removes what install put there
	rm -f $(DEST)/bin/persik $(DESTLIB)/libpersiksim.* $(DESTLIB)/pkgconfig/persiksim.pc $(DEST)/include/persiksim.h \
	    $(MAN1:docs/man/%=$(DEST)/share/man/man1/%) $(MAN3:docs/man/%=$(DEST)/share/man/man3/%) \
	    $(COMPLETIONS:%=$(DEST)/share/%)
	for name in $$($(call names_in,$(MAN3))); do rm -f $(DEST)/share/man/man3/$$name.3; done
	rm -rf $(DEST)/lib/persik

# In a copy of what git knows, so that nothing is left among the sources.
DEB := build/deb/persik-$(VERSION)
deb: ## Debian packages, in build/deb; bench/package.sh tries them in a fresh Debian
	@sh ./install-deps.sh
	@rm -rf build/deb && mkdir -p $(DEB)
	@git ls-files -z | xargs -0 cp --parents -t $(DEB)
	@cd $(DEB) && DEB_BUILD_OPTIONS=parallel=$(JOBS) dpkg-buildpackage -b -us -uc
	@lintian --fail-on error,warning build/deb/persik_$(VERSION)_*.changes
	@ls build/deb/*.deb

clean: ## removes build/
	rm -rf build compile_commands.json

-include $(LIB_OBJ:.o=.d) $(SIM_OBJ:.o=.d) $(TEST_HELP_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(FUZZ_OBJ:.o=.d) $(B)/cli/main.d $(ANALYZE_OBJ:.o=.d) $(TESTS:=.d)

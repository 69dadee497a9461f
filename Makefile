# persik: build, test, demonstrate. `make help` lists the targets.
#
# Variant builds: make VARIANT=asan|ubsan|tsan (separate folders under build/).

PREFIX  ?= /usr/local
VARIANT ?= release
B       := build/$(VARIANT)

CC      ?= gcc
CXX     := clang++-14
LLVM    := llvm-config-14

SAN_release :=
SAN_asan    := -fsanitize=address -fno-omit-frame-pointer
SAN_ubsan   := -fsanitize=undefined -fno-sanitize-recover=all
SAN_tsan    := -fsanitize=thread
SAN         := $(SAN_$(VARIANT))

CPPFLAGS := -I. -D_GNU_SOURCE
CFLAGS   := -std=c17 -g -O2 -Wall -Wextra -Werror $(SAN)
LDFLAGS  := $(SAN)
LDLIBS   := -ljansson -lzstd -ldw -lelf -lunwind-ptrace -lunwind-generic -lunwind \
            -lgsl -lgslcblas -lm -lpthread

STAGES   := base formats sampler modelgen simulator
LIB_SRC  := $(wildcard $(addsuffix /*.c,$(STAGES)))
# tracer/: what is injected into the program is in tracer/probe, the rest runs in the command.
LIB_SRC  += $(wildcard tracer/*.c)
PROBE_SRC := $(wildcard tracer/probe/*.c)
CLI_SRC  := $(wildcard cli/*.c)
TEST_SRC := $(wildcard tests/unit/test_*.c)
SAMPLES  := $(notdir $(patsubst %/,%,$(dir $(wildcard samples/*/*.c))))

LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(B)/%.o)
TESTS    := $(TEST_SRC:tests/unit/%.c=$(B)/tests/%)

.PHONY: all tests samples clean
all: $(B)/persik $(B)/libpersik-probe.so $(B)/persik-analyze samples

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "CC    $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(B)/libpersik.a: $(LIB_OBJ)
	@echo "AR    $@"
	@rm -f $@; ar rcs $@ $^

$(B)/persik: $(CLI_OBJ) $(B)/libpersik.a
	@echo "LINK  $@"
	@$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# Injected into other people's programs: no sanitizer, few dependencies, only the interposed
# names visible.
$(B)/libpersik-probe.so: $(PROBE_SRC) $(wildcard tracer/probe/*.h formats/*.h formats/*.def)
	@mkdir -p $(@D)
	@echo "PROBE $@"
	@$(CC) $(CPPFLAGS) -std=c17 -g -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden \
	    -static-libgcc $(PROBE_SRC) -o $@ -ldl -lpthread

$(B)/persik-analyze: $(wildcard static-analyzer/*.cpp static-analyzer/*.h formats/*.def)
	@mkdir -p $(@D)
	@echo "CXX   $@"
	@$(CXX) -std=c++17 -O1 -g0 -Wall -Wextra -Werror -I. -isystem $(shell $(LLVM) --includedir) \
	    -fno-rtti $(wildcard static-analyzer/*.cpp) -o $@ \
	    -L$(shell $(LLVM) --libdir) -lclang-cpp $(shell $(LLVM) --libs --system-libs) -ljansson

define sample_rule
$(B)/samples/$(1): $(wildcard samples/$(1)/*.c samples/$(1)/*.h)
	@mkdir -p $$(@D)
	@echo "SAMPLE $(1)"
	@$(CC) -std=c11 -g -O2 -Wall -Wextra -Werror $$(filter %.c,$$^) -o $$@ -lm -lpthread
endef
$(foreach s,$(SAMPLES),$(eval $(call sample_rule,$(s))))
samples: $(addprefix $(B)/samples/,$(SAMPLES))

$(B)/tests/%: tests/unit/%.c $(B)/libpersik.a
	@mkdir -p $(@D)
	@echo "TEST  $@"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(LDFLAGS) $< $(B)/libpersik.a $(LDLIBS) -lcmocka -o $@
tests: $(TESTS)

clean:
	rm -rf build

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(TESTS:=.d)

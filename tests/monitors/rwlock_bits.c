/* State in one word: a writer bit, a bit that says that a writer waits, readers in the rest; the
 * operations are macros and inline functions around a guard mutex. */
#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

#define RW_WRITE_LOCKED 0x1u
#define RW_WRITE_WANTED 0x2u
#define RW_READ_INCR    0x4u
#define RW_READERS(s)   ((s) / RW_READ_INCR)
#define RW_IDLE(s)      (((s) & ~RW_WRITE_WANTED) == 0)

struct krwlock {
    pthread_mutex_t interlock;
    pthread_cond_t sleepers;
    uint32_t state;
};

static struct krwlock vm_lock;

static inline void rw_enter_read(struct krwlock *rw) {
    pthread_mutex_lock(&rw->interlock);
    while (rw->state & (RW_WRITE_LOCKED | RW_WRITE_WANTED))
        pthread_cond_wait(&rw->sleepers, &rw->interlock);
    rw->state += RW_READ_INCR;
    pthread_mutex_unlock(&rw->interlock);
}

static inline void rw_enter_write(struct krwlock *rw) {
    pthread_mutex_lock(&rw->interlock);
    while (!RW_IDLE(rw->state)) {
        rw->state |= RW_WRITE_WANTED;
        pthread_cond_wait(&rw->sleepers, &rw->interlock);
    }
    rw->state = RW_WRITE_LOCKED;
    pthread_mutex_unlock(&rw->interlock);
}

static inline void rw_exit_read(struct krwlock *rw) {
    pthread_mutex_lock(&rw->interlock);
    rw->state -= RW_READ_INCR;
    if (RW_READERS(rw->state) == 0 && rw->state != 0)
        pthread_cond_broadcast(&rw->sleepers);
    pthread_mutex_unlock(&rw->interlock);
}

static inline void rw_exit_write(struct krwlock *rw) {
    pthread_mutex_lock(&rw->interlock);
    rw->state = 0;
    pthread_cond_broadcast(&rw->sleepers);
    pthread_mutex_unlock(&rw->interlock);
}

static atomic_uint faults;
static unsigned nfaults;
static uint64_t map_version;

static void *fault_loop(void *arg) {
    uint64_t *acc = arg;
    unsigned f;
    while ((f = atomic_fetch_add(&faults, 1)) < nfaults) {
        uint64_t addr = burn(f, 280);
        if (f % 9 == 0) {
            rw_enter_write(&vm_lock);
            map_version += burn(addr, 450);
            rw_exit_write(&vm_lock);
        } else {
            rw_enter_read(&vm_lock);
            *acc += burn(addr, 550);
            rw_exit_read(&vm_lock);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct options opt = read_options(argc, argv);
    pthread_t lwp[opt.threads];
    uint64_t acc[opt.threads], sum = 0;

    memset(acc, 0, sizeof(acc));
    nfaults = (unsigned)scaled(opt, 620);
    pthread_mutex_init(&vm_lock.interlock, NULL);
    pthread_cond_init(&vm_lock.sleepers, NULL);
    for (int i = 0; i < opt.threads; i++)
        pthread_create(&lwp[i], NULL, fault_loop, &acc[i]);
    for (int i = 0; i < opt.threads; i++) {
        pthread_join(lwp[i], NULL);
        sum += acc[i];
    }
    print_result(sum + map_version);
    return 0;
}

/* What it costs to wake a thread on another core, measured on this machine: the kernel has to
 * interrupt that core, which is much in a virtual machine, and nothing in a trace tells it. A core
 * that idles has to come back from sleep, too, which few traces tell. */
#ifndef PERSIK_HOST_WAKEUPS_H
#define PERSIK_HOST_WAKEUPS_H

struct wakeup_costs {
    double waker_ns;   /* CPU of the waker, above what a wake-up on its own core costs it */
    double preempt_ns; /* until the other core, busy, turns to the woken thread; likewise above */
    double idle_ns;  /* from the wake-up until a core runs the thread that has idled for a while */
    double sleep_ns; /* CPU of the sleeper for going to sleep and coming back there */
};

/* Takes about 0.2 s and three threads of this process. All 0 where there is only one core, or no
 * thread to be had: nobody is woken across cores then, or it is not known. */
struct wakeup_costs wakeup_costs_measure(void);

#endif

/* Turns: threads draw numbers and go on in the order of the numbers, whoever is ready first.
 *
 * Where the kernel keeps the order, a number that passes may make another thread, which sleeps, the
 * one that the kernel goes on for: engine->kernel_leader, for the caller to walk on. */
#ifndef PERSIK_SIMULATOR_ORDERS_H
#define PERSIK_SIMULATOR_ORDERS_H

#include "simulator/state.h"

/* At the start of a run, after the threads' own reset: deals the first numbers. */
void order_reset(struct engine *engine, struct shared *object);

/* Takes the next number; one still held counts as passed. */
enum progress order_draw(struct engine *engine, struct thread *thread, struct shared *object);

/* Waits until all lower numbers have passed, or in an order in steps until the number that leads
 * is far enough ahead; at once for a thread without a number. */
enum progress order_turn(struct engine *engine, struct thread *thread, struct shared *object);

/* In an order in steps: the thread's number has made one more. */
enum progress order_advance(struct engine *engine, struct thread *thread, struct shared *object);

/* The thread's number has passed. */
enum progress order_pass(struct engine *engine, struct thread *thread, struct shared *object);

/* The same for a thread that sleeps: the kernel does it. */
void order_pass_for(struct engine *engine, struct thread *thread, struct shared *object);

/* Waits until the lowest number that nobody has collected yet has passed, and collects it. */
enum progress order_collect(struct engine *engine, struct thread *thread, struct shared *object);

/* The thread ends: nobody waits for the number that it may still hold. */
void order_leave(struct engine *engine, struct thread *thread, struct shared *object);

#endif

/* The links of a network by which requests come from clients and replies go back to them: one for
 * each direction. A link sends one thing at a time, first come first served, for as long as its
 * bytes take; each arrives the link's latency after it was sent whole, however many are on the way.
 */
#ifndef PERSIK_SIMULATOR_LINKS_H
#define PERSIK_SIMULATOR_LINKS_H

#include "simulator/state.h"

/* What comes to the queue from outside, asked for now: by the client, or by nobody in particular
 * (PLAN_NONE). The queue must have a link (comes_by). Where each request has a connection of its
 * own, both sides ask and answer once before, over the same links. */
void link_send_request(struct engine *engine, int queue, int client);

/* The reply to what came to the queue, of which birth, client and queue are told when it arrives.
 * The queue must have a link (goes_by). */
void link_send_reply(struct engine *engine, const struct message *reply);

/* Something of the link's is due: sends on what waits. */
void link_go_on(struct engine *engine, int link);

/* True: `message`, a request or a reply, has arrived by now, and is the link's no more. To be
 * called after link_go_on() until it says false. */
bool link_take(struct engine *engine, int link, struct message *message);

void link_reset(struct shared *link);

#endif

/* An M/M/1 queue: customers come at random and are served by one thread. The mean response time is
 * service / (1 - utilisation): 0.7 ms / (1 - 0.7) = 2.33 ms.
 *
 * cc mm1.c $(pkg-config --cflags --libs persiksim) -o mm1 */
#include <persiksim.h>
#include <stdio.h>

int main(void) {
    const double ms = 1e6;
    persik_model *model = persik_model_new(1);
    int customers = persik_add_object(model, PERSIK_QUEUE, "customers", 0);
    persik_set_arrivals(model, customers, persik_exponential(1 * ms), 0);

    int server = persik_add_pool(model, "server", 1, PERSIK_AT_START);
    int next = persik_add_node(model, PERSIK_GET, customers, "next customer");
    int served = persik_add_node(model, PERSIK_TASK_END, PERSIK_NONE, "served");
    persik_add_edge(model, persik_entry(model, server), next, persik_constant(0));
    persik_add_edge(model, next, served, persik_exponential(0.7 * ms));
    persik_add_edge(model, served, next, persik_constant(0));

    persik_error error;
    persik_result *result = persik_simulate(model, NULL, &error);
    if (!result) {
        fprintf(stderr, "mm1: %s\n", error.text);
        return 1;
    }
    persik_estimate response = persik_figure(result, PERSIK_RESPONSE_NS);
    persik_estimate busy = persik_figure(result, PERSIK_CPU_UTILISATION);
    printf("response %.3f ms +-%.3f, utilisation %.3f +-%.3f\n", response.mean / ms,
           response.half_width / ms, busy.mean, busy.half_width);
    persik_result_free(result);
    persik_model_free(model);
    return 0;
}

/* Finds the plugin by its own run path, which only works when dlopen sees who calls it. */
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    void *plugin = dlopen("probe_plugin.so", RTLD_NOW);
    if (plugin == NULL)
        return 1;
    void (*lock)(int);
    *(void **)&lock = dlsym(plugin, "plugin_lock");
    lock(13);
    dlclose(plugin);
    puts("loaded");
    return 0;
}

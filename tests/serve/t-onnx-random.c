/* Runs onnx-random.py beside it, which compares 200 random networks with onnxruntime and speaks TAP
 * itself.  PYTHON names an interpreter that has onnx and onnxruntime; without these it skips. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

int main(void)
{
    const char *source = getenv("top_srcdir"), *built = getenv("top_builddir");
    const char *python = getenv("PYTHON");
    char script[PATH_ROOM], tacit[PATH_ROOM];
    python = python != NULL && python[0] != '\0' ? python : "python3";
    (void)snprintf(script, sizeof script, "%s/tests/serve/onnx-random.py",
                   source != NULL ? source : ".");
    (void)snprintf(tacit, sizeof tacit, "%s/tacit", built != NULL ? built : ".");
    (void)execlp(python, python, script, tacit, "200", (char *)NULL);
    (void)printf("1..0 # SKIP there is no %s\n", python);
    return 0;
}

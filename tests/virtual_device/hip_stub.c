/* A libamdhip64.so for tests: launches nothing, keeps the kernel arguments that it is given.
 *
 * A launch passes pointers to the values, without sizes, so stub_expect() says beforehand where each goes and how long it
 * is. Functions are found by name through hipGetProcAddress, as in the real library. */
#include <stdint.h>
#include <string.h>

enum { MOST_ARGUMENTS = 64, SEGMENT_BYTES = 1024 };

static int argument_count, offsets[MOST_ARGUMENTS], sizes[MOST_ARGUMENTS];
static unsigned char segment[SEGMENT_BYTES];
static unsigned shape[7]; /* grid x, y, z, block x, y, z, bytes of LDS */

void stub_expect(int count, const int *new_offsets, const int *new_sizes) {
  argument_count = count;
  memcpy(offsets, new_offsets, count * sizeof *offsets);
  memcpy(sizes, new_sizes, count * sizeof *sizes);
  memset(segment, 0, sizeof segment);
}

unsigned char *stub_segment(void) { return segment; }

unsigned *stub_shape(void) { return shape; }

static const char *error_text(int error) { return "no such thing in the stub"; }

static int succeed(void) { return 0; }

static int device_pointer(void *result, int attribute, void *pointer) {
  *(void **)result = pointer;
  return 0;
}

static int launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                  unsigned block_z, unsigned lds_bytes, void *queue, void **values, void **extra) {
  const unsigned now[7] = {grid_x, grid_y, grid_z, block_x, block_y, block_z, lds_bytes};
  memcpy(shape, now, sizeof shape);
  for (int i = 0; i < argument_count; i++) memcpy(segment + offsets[i], values[i], sizes[i]);
  return 0;
}

int hipDriverGetVersion(int *version) {
  *version = 70100000;
  return 0;
}

int hipGetProcAddress(const char *name, void **function, int version, uint64_t flags, void *status) {
  if (!strcmp(name, "hipModuleLaunchKernel") || !strcmp(name, "hipModuleLaunchCooperativeKernel"))
    *function = (void *)launch;
  else if (!strcmp(name, "hipPointerGetAttribute"))
    *function = (void *)device_pointer;
  else if (!strcmp(name, "hipGetErrorString"))
    *function = (void *)error_text;
  else
    *function = (void *)succeed;
  return 0;
}

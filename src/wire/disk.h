/* Files that must be there after a crash. */
#ifndef DPI_WIRE_DISK_H
#define DPI_WIRE_DISK_H

#include <stdbool.h>
#include <stddef.h>

/* Writes all n bytes; false where the system does not take them, of which a part may be there. */
bool dpi_disk_write(int file, const char *bytes, size_t n);

/* Syncs the folder that holds the path, so that its names are on the disk. */
bool dpi_disk_sync_folder(const char *path);

#endif

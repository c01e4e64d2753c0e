/* Texts that came from elsewhere, a character at a time. */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Length in bytes of the first character of `text`, which is not empty, where it is one of UTF-8
 * that can be shown: no control character, none that turns the direction of writing, none that XML
 * refuses.  Else 0, and then the first byte is to be left out. */
size_t text_character(const char *text);

/* How many such characters there are. */
size_t text_length(const char *text);

/* Writes a text for HTML, XML and their attributes.  What cannot be shown becomes a question mark,
 * line ends and tabs stay. */
void text_html(FILE *out, const char *text);

#endif

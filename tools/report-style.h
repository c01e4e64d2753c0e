/* How the report looks. */
#ifndef TOOLS_REPORT_STYLE_H
#define TOOLS_REPORT_STYLE_H

/* Rules of CSS, without a frame. */
extern const char report_style[];

#endif

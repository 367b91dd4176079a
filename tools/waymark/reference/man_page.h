// Man pages from the option table and a text.
//
// The text has lines "# HEADING" for sections and "## Heading" for parts of one.  Blank lines
// separate paragraphs.  Lines that begin with four blanks are shown as they are.  A line that is
// followed by one that begins with ": " is a term, and what follows the colon, up to a blank line,
// explains it. `code` is bold, *NAME* is italic; options (--format) and pages (waymark-decode(1))
// are bold.
#pragma once

#include <string>

#include "option_table.h"

namespace waymark::cli {

struct PageContext {
  std::string date;
  std::string version;
};

/// "waymark-etm4-plan".
std::string page_name(const CommandRow& command);

/// `text`: at least the section DESCRIPTION.
std::string man_page(const CommandRow& command, const std::string& text,
                     const PageContext& context);

}  // namespace waymark::cli

// waymark view and waymark report in a program that was built without them.
#include "complain.h"
#include "exit_code.h"
#include "viewer.h"

namespace waymark::cli {
namespace {

int refuse_view() {
  return complain("This program was built without the viewer; build it with -DWAYMARK_VIEW=ON.",
                  kUsage);
}

}  // namespace

int run_view(const ViewCommand& /*options*/) { return refuse_view(); }
int run_report(const ReportCommand& /*options*/) { return refuse_view(); }

}  // namespace waymark::cli

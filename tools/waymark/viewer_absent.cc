// waymark view and waymark report in a program that was built without them.
#include "complain.h"
#include "exit_code.h"
#include "viewer.h"

namespace waymark::cli {
namespace {

int say_absent() {
  return complain("This program was built without the viewer; build it with -DWAYMARK_VIEW=ON.",
                  kUsage);
}

}  // namespace

int run_view(const ViewCommand& /*options*/) { return say_absent(); }
int run_report(const ReportCommand& /*options*/) { return say_absent(); }

}  // namespace waymark::cli

#include "waymark/tree/data_path.h"

namespace waymark {

Result<Flow> DataPath::drain() {
  Element element;
  while (tree_.next({&element, 1}) != 0) {
    if (sink_.on_element(element) == Flow::kWait) {
      waiting_ = true;
      return Flow::kWait;
    }
  }
  if (tree_.failed())
    return fail(ErrorCode::kBadData, "Decoding has stopped; reset the data path to continue.");
  return Flow::kContinue;
}

Result<Flow> DataPath::data(TraceIndex index, Bytes block, std::size_t& used) {
  used = 0;
  if (waiting_)
    return fail(ErrorCode::kInvalidArgument,
                "Data was given while elements wait; flush the data path first.", index);
  if (block.empty())
    return fail(ErrorCode::kInvalidArgument, "A block of data holds at least one byte.", index);
  WAYMARK_TRY(tree_.feed(index, block));
  Result<Flow> flow = drain();
  // The caller owns the block: it must not be read after this call.
  used = flow && *flow == Flow::kContinue ? block.size() : tree_.withdraw();
  return flow;
}

Result<Flow> DataPath::flush() {
  waiting_ = false;
  return drain();
}

Result<Flow> DataPath::finish() {
  if (waiting_)
    return fail(ErrorCode::kInvalidArgument,
                "The end of the trace came while elements wait; flush the data path first.");
  tree_.finish();
  return drain();
}

void DataPath::reset() {
  waiting_ = false;
  tree_.reset();
}

}  // namespace waymark

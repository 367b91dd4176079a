// The commands for jobs over many captures; see commands.h.
#pragma once

namespace waymark::cli {

class Command;

void add_plan(Command& app, int& exit_code);
void add_shard(Command& app, int& exit_code);
void add_merge(Command& app, int& exit_code);
void add_status(Command& app, int& exit_code);

}  // namespace waymark::cli

// Ends a program when a mapped file becomes shorter.
#pragma once

namespace waymark {

/// From now on, reading a part of a mapped file that another program has cut off ends the process
/// with `status`, after a sentence on standard error that begins with the name of the program.
/// Without this, the process dies of SIGBUS.
void exit_on_lost_input(const char* program, int status);

}  // namespace waymark

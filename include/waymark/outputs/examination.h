// The examination of bytes without a description, for people and programs.
#pragma once

#include <string>
#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/doctor/examination.h"

namespace waymark::outputs {

/// "etmv4,TRCCONFIGR=0x1,...": the value of --source for a stream, with its ID before it in frames.
/// Empty if no protocol fits.
std::string source_option(const doctor::StreamFound& stream, bool framed);

/// The command that decodes what was found, or lists its packets.  Empty: nothing can be read.
std::string next_command(std::string_view path, const doctor::Examination& found);

/// `explain`: why each step was concluded.
void write_examination(TextBuffer& out, std::string_view path, const doctor::Examination& found,
                       bool explain);

/// One object on one line; docs/output-formats.md.
void write_json(TextBuffer& out, std::string_view path, const doctor::Examination& found);

}  // namespace waymark::outputs

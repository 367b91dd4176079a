# Writes the files of the viewer's page into a source file: cmake -DFROM=FOLDER -DTO=FILE -P EmbedPage.cmake
cmake_policy(VERSION 3.25)

set(arrays)
set(rows)
function(embed number file name type)
  file(READ ${FROM}/${file} content HEX)
  # 32 bytes to a line.
  string(REPEAT "[0-9a-f]" 64 line)
  string(REGEX REPLACE "(${line})" "\\1\n" content "${content}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," content "${content}")
  string(APPEND arrays "constexpr char kFile${number}[] = {\n${content}};\n\n")
  string(APPEND rows "      {\"${name}\", \"${type}\", {kFile${number}, sizeof(kFile${number})}},\n")
  set(arrays "${arrays}" PARENT_SCOPE)
  set(rows "${rows}" PARENT_SCOPE)
endfunction()

embed(0 index.html "" "text/html; charset=utf-8")
embed(1 app.js app.js "text/javascript; charset=utf-8")
embed(2 app.css app.css "text/css; charset=utf-8")
file(WRITE ${TO} "// Made from the folder web by cmake/EmbedPage.cmake.
#include \"waymark/view/page.h\"

namespace waymark::view {
namespace {

${arrays}}  // namespace

std::vector<PageFile> page_files() {
  return {
${rows}  };
}

}  // namespace waymark::view
")

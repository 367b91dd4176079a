// Collateral: any text as XML, native and as the reference reads it; then a message of every kind
// of the clients that are in it.  Invariants: sentences name the file, and what is found is in it.
#include <cstdio>
#include <string>

#include "require.h"
#include "waymark/base/text_buffer.h"
#include "waymark/syst/catalog_section.h"
#include "waymark/syst/collateral.h"
#include "waymark/syst/message.h"
#include "waymark/syst/payload_text.h"
#include "waymark/syst/printf_format.h"

namespace {

using namespace waymark;
using namespace waymark::syst;
using fuzz::require;

void use(const Client& client) {
  TextBuffer out;
  for (const EntryTable* table : {&client.short32, &client.short64, &client.protocols}) {
    for (const Entry& entry : table->entries()) {
      out.clear();
      write_value_format(out, entry.text, entry.id, true);
      const Entry* const found = table->find(entry.id);
      require(found != nullptr, "an entry that its own ID does not find");
    }
  }
  constexpr std::uint8_t kArguments[] = {1, 2, 3, 4, 5, 6, 7, 8, 'a', 0, 9, 10, 11, 12};
  for (const EntryTable* table : {&client.catalog32, &client.catalog64}) {
    for (const Entry& entry : table->entries()) {
      out.clear();
      write_printf(out, entry.text, {.bytes = kArguments});
    }
  }
}

/// Messages with the GUIDs of a client, before and after it announced a build, and without one.
void find_messages(ClientFinder& finder, const Client& client) {
  for (const GuidEntry& guid : client.guids) {
    for (const Type type : {Type::kCatalog, Type::kBuild, Type::kCatalog}) {
      Message message;
      message.type = type;
      message.guid = guid.id;
      message.header |= kHeaderGuid;
      message.value = client.builds.entries().empty() ? 1 : client.builds.entries().front().id;
      (void)finder.find(message);
      message.header &= ~kHeaderGuid;
      message.origin = static_cast<std::uint8_t>(message.value);
      (void)finder.find(message, 1, 2);
      message.is_short = true;
      (void)finder.find(message);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 16384) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Quirks& quirks : {Quirks{}, Quirks::reference()}) {
    Collateral collateral(quirks);
    const auto added = collateral.add_text("f.xml", text);
    if (!added) {
      require(added.error().sentence().starts_with("f.xml"), "a sentence without its file");
      require(collateral.empty(), "clients of a file that was refused");
      continue;
    }
    ClientFinder finder(collateral, quirks);
    finder.set_short_client({});
    for (const Client& client : collateral.clients()) {
      use(client);
      find_messages(finder, client);
      for (const GuidEntry& guid : client.guids) {
        require(collateral.find(guid.id) != nullptr, "a client that its own GUID does not find");
      }
    }
    for (const CollateralWarning& warning : collateral.warnings()) (void)warning.sentence();
  }
  // The same bytes as a program.
  const auto sites = read_catalog_sites({data, size});
  if (sites) (void)write_collateral(*sites);
  return 0;
}

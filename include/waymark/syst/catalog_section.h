// Collateral from instrumented programs: the section that catalog.h leaves in their ELF files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/syst/guid.h"

namespace waymark::syst {

struct CatalogSite {
  std::string file;
  std::uint32_t line = 0;
  std::string format;
  [[nodiscard]] std::uint32_t id() const;
};

/// The content of the sections of one program or object file.
struct CatalogSites {
  std::string client;              ///< Empty: the program does not name one.
  std::optional<Guid> guid;        ///< Nothing: the program does not name one.
  std::vector<CatalogSite> sites;  ///< Each once, in the order of the section.
};

/// Reads the bytes of an ELF file, 32 or 64 bits, of either byte order.  kBadData: not an ELF file,
/// or a damaged one; kNotFound: it has no such section; kConflict: it names two clients.
Result<CatalogSites> read_catalog_sites(Bytes elf);

/// Makes the collateral XML.  kConflict: two formats have one ID; the error names both places.
/// kInvalidArgument: XML cannot hold a text.
Result<std::string> write_collateral(const CatalogSites& sites);

}  // namespace waymark::syst

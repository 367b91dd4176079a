// Collateral: what turns the numbers in messages into text.  See mipi-syst.md 8.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/syst/guid.h"
#include "waymark/syst/message.h"
#include "waymark/syst/quirks.h"

namespace waymark::syst {

/// Mixed with a number that each run has anew, so that no file can name IDs that all collide.
struct MixedHash {
  std::size_t operator()(std::uint64_t value) const;
  std::size_t operator()(const Guid& guid) const;
};

/// A named number, or a format.
struct Entry {
  std::uint64_t id = 0;
  std::uint64_t mask = ~std::uint64_t{0};
  std::string text;
  std::uint32_t file = 0;  ///< Formats: where they stand; 0: not said.
  std::uint32_t line = 0;
};

/// Entries by ID; the first in the file whose ID matches under its mask counts.
class EntryTable {
 public:
  /// An entry whose ID an earlier one matches takes its place if the texts differ; otherwise it
  /// counts for what only its own mask matches.  Returns the text that was replaced.
  std::optional<std::string> add(Entry entry);
  [[nodiscard]] const Entry* find(std::uint64_t id) const;
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Masks other than of all bits, each of which costs find() a step.
  [[nodiscard]] std::size_t masks() const { return masked_.size(); }

 private:
  struct Masked {
    std::uint64_t mask;
    std::unordered_map<std::uint64_t, std::size_t, MixedHash> entries;  ///< By ID under the mask.
  };

  [[nodiscard]] std::size_t position(std::uint64_t id) const;

  static constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::size_t, MixedHash>
      exact_;  ///< The first with this ID, all bits.
  std::vector<Masked> masked_;
};

struct GuidEntry {
  Guid id;
  Guid mask = kFullGuidMask;
  std::string text;
  [[nodiscard]] bool matches(const Guid& guid) const { return (guid & mask) == (id & mask); }
};

struct Client {
  std::string name;
  std::string file;        ///< As it was given to Collateral::add().
  std::size_t number = 0;  ///< In the order of loading.
  std::vector<GuidEntry> guids;
  std::vector<std::pair<std::string, std::string>> options;
  EntryTable builds;
  EntryTable modules;
  EntryTable files;
  EntryTable catalog32;
  EntryTable catalog64;
  EntryTable short32;
  EntryTable short64;
  EntryTable protocols;  ///< Of RAW messages.

  /// The option `syst:timestamp` = `displayAsField`: message timestamps are no times of creation.
  bool timestamps_are_fields = false;
};

/// Why a file cannot be used.  The parts are those of the reference's sentences.
struct CollateralProblem {
  enum class Kind : std::uint8_t {
    kUnreadable,  ///< `reason`
    kXml,         ///< `reason`
    kRefused,     ///< `reason`: legal XML that is not for this purpose.
    kValue,       ///< `attribute` of `element` is no number, or no GUID.
    kPlace,       ///< The attribute File or Line of `element` is no number.
  };
  Kind kind = Kind::kXml;
  std::string file;
  std::uint32_t line = 0;  ///< 0: not known.
  std::string element{};   ///< As in the file: "syst:Format".
  std::string attribute{};
  std::string value{};
  std::string text{};  ///< Of the element.
  std::string client{};
  std::string reason{};

  /// A whole sentence with file, line and element.
  [[nodiscard]] std::string sentence() const;
};

/// What a file holds that is doubtful but usable.
struct CollateralWarning {
  std::string file;
  std::uint32_t line = 0;
  std::string element;  ///< "syst:Format"
  std::uint64_t id = 0;
  std::optional<Guid> guid{};
  std::string text{};
  std::string old_text{};
  [[nodiscard]] std::string sentence() const;
};

/// The clients of any number of files, in the order of loading.  Reading it is safe from any number
/// of threads while nothing is added.
class Collateral {
 public:
  explicit Collateral(const Quirks& quirks = {}) : quirks_(quirks) {}
  // Addresses of clients stay; those of copies would not.  What std::deque promises is promised.
  Collateral(Collateral&&) = default;             // NOLINT(performance-noexcept-move-constructor)
  Collateral& operator=(Collateral&&) = default;  // NOLINT(performance-noexcept-move-constructor)

  /// XML takes some twenty times its size in memory while it is read.
  static constexpr std::size_t kMaxFileSize = std::size_t{64} << 20;
  /// What is searched one by one is limited, so that no file makes it long: clients, GUIDs and
  /// their masks, of all files; masks of one list.
  static constexpr std::size_t kMaxClients = 4096;
  static constexpr std::size_t kMaxGuids = 16384;
  static constexpr std::size_t kMaxMasks = 256;

  /// Adds the clients of an XML file, or none of them.  Document type declarations are refused, so
  /// that no entity is expanded and no other file is read.
  std::expected<void, CollateralProblem> add_file(const std::string& path);
  /// The same from memory; `name` stands for the path.
  std::expected<void, CollateralProblem> add_text(const std::string& name, std::string_view xml);

  [[nodiscard]] bool empty() const { return clients_.empty(); }
  [[nodiscard]] const std::deque<Client>& clients() const { return clients_; }
  [[nodiscard]] const std::vector<CollateralWarning>& warnings() const { return warnings_; }

  /// The first client of `guid`; with `build`, the first one that names that build, or else the
  /// first one without builds.  nullptr: none.
  [[nodiscard]] const Client* find(const Guid& guid,
                                   std::optional<std::uint64_t> build = std::nullopt) const;

 private:
  struct Masked {
    Guid mask;
    /// By GUID under the mask, in the order of loading.
    std::unordered_map<Guid, std::vector<const Client*>, MixedHash> clients;
  };

  Quirks quirks_;
  std::deque<Client> clients_;  ///< Addresses stay.
  std::vector<Masked> masked_;
  std::size_t guids_ = 0;  ///< Of all clients.
  std::vector<CollateralWarning> warnings_;
};

/// Finds the client of message after message: remembers what it found, and the builds that were
/// announced.  `collateral` must outlive it and stay as it is.  One owner; not thread safe.
class ClientFinder {
 public:
  explicit ClientFinder(const Collateral& collateral, const Quirks& quirks = {})
      : collateral_(collateral), quirks_(quirks) {}

  /// Of messages without GUID, clients are told from origin, and master and channel of STP where
  /// there are any.  Short messages belong to the client that set_short_client() named.
  const Client* find(const Message& message, std::uint16_t master = 0, std::uint16_t channel = 0);

  void set_short_client(const Guid& guid) { short_client_ = collateral_.find(guid); }

 private:
  /// GUIDs of damaged messages are without number.
  static constexpr std::size_t kMaxRemembered = 4096;

  /// `other`: what the client may stand under instead.
  const Client* look_up(const Guid& guid, const Guid* other);

  const Collateral& collateral_;
  Quirks quirks_;
  const Client* short_client_ = nullptr;
  Guid last_guid_;
  const Client* last_client_ = nullptr;
  bool has_last_ = false;
  /// By GUID, or the pseudo-GUID of master, channel and origin.
  std::unordered_map<Guid, const Client*, MixedHash> known_;
  std::unordered_map<Guid, std::uint64_t, MixedHash> builds_;
};

}  // namespace waymark::syst

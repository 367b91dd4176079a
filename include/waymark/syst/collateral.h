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

/// Mixes in a number that each run chooses, so that no file can name IDs that all collide.
struct MixedHash {
  std::size_t operator()(std::uint64_t value) const;
  std::size_t operator()(const Guid& guid) const;
};

/// A named number, or a format.
struct Entry {
  std::uint64_t id = 0;
  std::uint64_t mask = ~std::uint64_t{0};
  std::string text;
  std::uint32_t file = 0;  ///< For formats: where the format is in the source; 0: not stated.
  std::uint32_t line = 0;
};

/// Entries by ID.  The first entry in the file whose ID matches under its mask counts.
class EntryTable {
 public:
  /// Adds an entry.  If an earlier entry matches its ID and has another text, the new entry takes
  /// its place; otherwise the new entry counts for IDs that no earlier one matches.  Returns the
  /// text that was replaced.
  std::optional<std::string> add(Entry entry);
  [[nodiscard]] const Entry* find(std::uint64_t id) const;
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Masks that do not have all bits set; each costs find() a step.
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
      exact_;  ///< The first entry with this ID, all bits.
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
  EntryTable protocols;  ///< For RAW messages.

  /// The option `syst:timestamp` = `displayAsField`: message timestamps are not times of creation.
  bool timestamps_are_fields = false;
};

/// Why a file cannot be used.  The members are the parts of the reference's sentences.
struct CollateralProblem {
  enum class Kind : std::uint8_t {
    kUnreadable,  ///< `reason`
    kXml,         ///< `reason`
    kRefused,     ///< `reason`: legal XML that is not collateral.
    kValue,       ///< `attribute` of `element` is not a number or not a GUID.
    kPlace,       ///< The attribute File or Line of `element` is not a number.
  };
  Kind kind = Kind::kXml;
  std::string file;
  std::uint32_t line = 0;  ///< 0: not known.
  std::string element{};   ///< As in the file: "syst:Format".
  std::string attribute{};
  std::string value{};
  std::string text{};  ///< The text of the element.
  std::string client{};
  std::string reason{};

  /// A complete sentence with file, line and element.
  [[nodiscard]] std::string sentence() const;
};

/// Doubtful but usable content of a file.
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

/// The clients of any number of files, in the order of loading.  Any number of threads may read it
/// while nothing is added.
class Collateral {
 public:
  explicit Collateral(const Quirks& quirks = {}) : quirks_(quirks) {}
  // Clients keep their addresses in a move, as std::deque promises.  Copies would not keep them.
  Collateral(Collateral&&) = default;             // NOLINT(performance-noexcept-move-constructor)
  Collateral& operator=(Collateral&&) = default;  // NOLINT(performance-noexcept-move-constructor)

  /// While it is read, XML takes about twenty times its size in memory.
  static constexpr std::size_t kMaxFileSize = std::size_t{64} << 20;
  /// Limits on what find() searches one by one, so that no file makes it slow: clients, GUIDs and
  /// their masks in all files, and masks of one list.
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

  /// The first client of `guid`.  With `build`: the first client that names that build, or else the
  /// first without builds.  nullptr: none.
  [[nodiscard]] const Client* find(const Guid& guid,
                                   std::optional<std::uint64_t> build = std::nullopt) const;

 private:
  struct Masked {
    Guid mask;
    /// By GUID under the mask, in the order of loading.
    std::unordered_map<Guid, std::vector<const Client*>, MixedHash> clients;
  };

  Quirks quirks_;
  std::deque<Client> clients_;  ///< Clients keep their addresses.
  std::vector<Masked> masked_;
  std::size_t guids_ = 0;  ///< GUIDs of all clients.
  std::vector<CollateralWarning> warnings_;
};

/// Finds the client of each message.  It remembers what it found, and the builds that were
/// announced.  `collateral` must outlive it and not change.  One owner; not thread safe.
class ClientFinder {
 public:
  explicit ClientFinder(const Collateral& collateral, const Quirks& quirks = {})
      : collateral_(collateral), quirks_(quirks) {}

  /// Messages without GUID are assigned to clients by origin and, for STP, by master and channel.
  /// Short messages belong to the client that set_short_client() named.
  const Client* find(const Message& message, std::uint16_t master = 0, std::uint16_t channel = 0);

  void set_short_client(const Guid& guid) { short_client_ = collateral_.find(guid); }

 private:
  /// Damaged messages can have any number of GUIDs.
  static constexpr std::size_t kMaxRemembered = 4096;

  /// `other`: an alternative GUID for the client.
  const Client* look_up(const Guid& guid, const Guid* other);

  const Collateral& collateral_;
  Quirks quirks_;
  const Client* short_client_ = nullptr;
  Guid last_guid_;
  const Client* last_client_ = nullptr;
  bool has_last_ = false;
  /// By GUID, or by the pseudo-GUID of master, channel and origin.
  std::unordered_map<Guid, const Client*, MixedHash> known_;
  std::unordered_map<Guid, std::uint64_t, MixedHash> builds_;
};

}  // namespace waymark::syst

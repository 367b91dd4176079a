#include <cstdlib>

#include "support.h"

namespace cpp_api {
namespace {

ByteVector pattern(std::size_t size, std::uint8_t first) {
  ByteVector bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(first + i);
  return bytes;
}

std::uint32_t read(TrcMemAccMapper& mapper, ocsd_vaddr_t address, ocsd_mem_space_acc_t space,
                   std::uint32_t count, std::uint8_t* to, std::uint8_t id = 0) {
  std::uint32_t got = count;
  EXPECT_EQ(mapper.ReadTargetMemory(address, id, space, &got, to), OCSD_OK);
  return got;
}

TEST(cpp_api_memory, ranges_begin_even_and_end_odd) {
  const ByteVector bytes = pattern(16, 0);
  TrcMemAccMapGlobalSpace mapper;
  TrcMemAccBufPtr odd_start(0x1001, bytes.data(), 16);
  TrcMemAccBufPtr odd_size(0x1000, bytes.data(), 15);
  TrcMemAccBufPtr good(0x1000, bytes.data(), 16);
  EXPECT_EQ(mapper.AddAccessor(&odd_start, 0), OCSD_ERR_MEM_ACC_RANGE_INVALID);
  EXPECT_EQ(mapper.AddAccessor(&odd_size, 0), OCSD_ERR_MEM_ACC_RANGE_INVALID);
  EXPECT_EQ(mapper.AddAccessor(&good, 0), OCSD_OK);
}

TEST(cpp_api_memory, ranges_may_overlap_only_in_different_spaces) {
  const ByteVector secure = pattern(16, 0x10);
  const ByteVector normal = pattern(16, 0x40);
  TrcMemAccMapGlobalSpace mapper;
  TrcMemAccBufPtr a(0x1000, secure.data(), 16);
  TrcMemAccBufPtr b(0x1008, normal.data(), 16);
  a.setMemSpace(OCSD_MEM_SPACE_S);
  EXPECT_EQ(mapper.AddAccessor(&a, 0), OCSD_OK);
  EXPECT_EQ(mapper.AddAccessor(&b, 0), OCSD_ERR_MEM_ACC_OVERLAP);
  b.setMemSpace(OCSD_MEM_SPACE_N);
  EXPECT_EQ(mapper.AddAccessor(&b, 0), OCSD_OK);
  std::uint8_t got[4] = {};
  EXPECT_EQ(read(mapper, 0x1008, OCSD_MEM_SPACE_EL1S, 4, got), 4U);
  EXPECT_EQ(got[0], 0x18);
  EXPECT_EQ(read(mapper, 0x1008, OCSD_MEM_SPACE_EL1N, 4, got), 4U);
  EXPECT_EQ(got[0], 0x40);
  EXPECT_EQ(read(mapper, 0x1008, OCSD_MEM_SPACE_ROOT, 4, got), 0U);
}

TEST(cpp_api_memory, a_read_ends_with_its_range) {
  const ByteVector bytes = pattern(16, 0);
  for (const bool cached : {false, true}) {
    TrcMemAccMapGlobalSpace mapper;
    TrcMemAccBufPtr accessor(0x1000, bytes.data(), 16);
    ASSERT_EQ(mapper.AddAccessor(&accessor, 0), OCSD_OK);
    EXPECT_EQ(mapper.enableCaching(cached), OCSD_OK);
    std::uint8_t got[8] = {};
    // The cache gives everything or nothing.
    EXPECT_EQ(read(mapper, 0x100C, OCSD_MEM_SPACE_ANY, 8, got), cached ? 0U : 4U) << cached;
    EXPECT_EQ(read(mapper, 0x100C, OCSD_MEM_SPACE_ANY, 4, got), 4U) << cached;
    EXPECT_EQ(got[3], 15);
    EXPECT_EQ(read(mapper, 0xFFE, OCSD_MEM_SPACE_ANY, 8, got), 0U);
    EXPECT_EQ(read(mapper, 0x1010, OCSD_MEM_SPACE_ANY, 8, got), 0U);
  }
}

/// Fills in the trace ID, and counts the calls.
std::uint32_t fill_id(const void* context, const ocsd_vaddr_t, const ocsd_mem_space_acc_t,
                      const std::uint8_t id, const std::uint32_t wanted, std::uint8_t* to) {
  ++*static_cast<int*>(const_cast<void*>(context));
  std::fill_n(to, wanted, id);
  return wanted;
}

TEST(cpp_api_memory, the_cache_keeps_trace_ids_apart) {
  int calls = 0;
  TrcMemAccMapGlobalSpace mapper;
  TrcMemAccCB accessor(0, 0xFFFF, OCSD_MEM_SPACE_ANY);
  accessor.setCBIDIfFn(fill_id, &calls);
  ASSERT_EQ(mapper.AddAccessor(&accessor, 0), OCSD_OK);
  mapper.enableCaching(true);
  std::uint8_t got[4] = {};
  read(mapper, 0x100, OCSD_MEM_SPACE_ANY, 4, got, 0x11);
  EXPECT_EQ(got[0], 0x11);
  read(mapper, 0x100, OCSD_MEM_SPACE_ANY, 4, got, 0x12);
  EXPECT_EQ(got[0], 0x12);
  read(mapper, 0x104, OCSD_MEM_SPACE_ANY, 4, got, 0x11);
  EXPECT_EQ(got[0], 0x11);
  EXPECT_EQ(calls, 2);
  mapper.InvalidateMemAccCache(0x11);
  read(mapper, 0x104, OCSD_MEM_SPACE_ANY, 4, got, 0x11);
  EXPECT_EQ(calls, 3);
  read(mapper, 0x104, OCSD_MEM_SPACE_ANY, 4, got, 0x12);
  EXPECT_EQ(calls, 3);
}

TEST(cpp_api_memory, cache_sizes_have_limits) {
  TrcMemAccCache cache;
  EXPECT_EQ(cache.setCacheSizes(63, 16, true), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(cache.setCacheSizes(16385, 16, true), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(cache.setCacheSizes(2048, 3, true), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(cache.setCacheSizes(2048, 257, true), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(cache.setCacheSizes(63, 3, false), OCSD_OK);
  EXPECT_EQ(cache.setCacheSizes(16384, 256, true), OCSD_OK);
  EXPECT_FALSE(cache.enabled_for_size(4));
  cache.enableCaching(true);
  EXPECT_TRUE(cache.enabled_for_size(16384));
  EXPECT_FALSE(cache.enabled_for_size(16385));
  EXPECT_EQ(MEM_ACC_CACHE_DEFAULT_PAGE_SIZE, 2048);
  EXPECT_EQ(MEM_ACC_CACHE_DEFAULT_MRU_SIZE, 16);
}

std::uint32_t too_much(const void*, const ocsd_vaddr_t, const ocsd_mem_space_acc_t,
                       const std::uint32_t wanted, std::uint8_t*) {
  return wanted + 1;
}

TEST(cpp_api_memory, more_than_asked_for_is_an_error) {
  TextLog log;
  TrcMemAccMapGlobalSpace mapper;
  mapper.setErrorLog(&log.errors);
  TrcMemAccCB accessor(0, 0xFFFF, OCSD_MEM_SPACE_ANY);
  accessor.setCBIfFn(too_much, nullptr);
  mapper.AddAccessor(&accessor, 0);
  std::uint8_t got[4] = {};
  std::uint32_t count = 4;
  EXPECT_EQ(mapper.ReadTargetMemory(0, 0, OCSD_MEM_SPACE_ANY, &count, got),
            OCSD_ERR_MEM_ACC_BAD_LEN);
  EXPECT_EQ(count, 0U);
  EXPECT_NE(log.text.find("OCSD_ERR_MEM_ACC_BAD_LEN"), std::string::npos);
}

class ClassMemory : public TrcMemAccCBIF {
 public:
  const std::uint32_t readBytes(const ocsd_vaddr_t, const ocsd_mem_space_acc_t,
                                const std::uint32_t wanted, std::uint8_t* to) override {
    std::fill_n(to, wanted, 0xC1);
    return wanted;
  }
};

TEST(cpp_api_memory, the_function_that_was_set_last_answers) {
  int calls = 0;
  ClassMemory memory;
  TrcMemAccCB accessor;
  accessor.initAccessor(0, 0xFF, OCSD_MEM_SPACE_EL3);
  EXPECT_EQ(accessor.getMemSpace(), OCSD_MEM_SPACE_EL3);
  std::uint8_t got[2] = {};
  EXPECT_EQ(accessor.readBytes(0, OCSD_MEM_SPACE_EL3, 1, 2, got), 0U);
  accessor.setCBIDIfFn(fill_id, &calls);
  accessor.readBytes(0, OCSD_MEM_SPACE_EL3, 0x21, 2, got);
  EXPECT_EQ(got[1], 0x21);
  accessor.setCBIfClass(&memory);
  accessor.readBytes(0, OCSD_MEM_SPACE_EL3, 0x21, 2, got);
  EXPECT_EQ(got[1], 0xC1);
}

TEST(cpp_api_memory, a_file_is_shared_by_its_path) {
  const std::string path = sample("quicksort.elf");
  TrcMemAccessorFile* first = nullptr;
  TrcMemAccessorFile* second = nullptr;
  TrcMemAccessorFile* other = nullptr;
  EXPECT_FALSE(TrcMemAccessorFile::isExistingFileAccessor(path));
  ASSERT_EQ(TrcMemAccessorFile::createFileAccessor(&first, path, 0x1000), OCSD_OK);
  EXPECT_TRUE(TrcMemAccessorFile::isExistingFileAccessor(path));
  EXPECT_EQ(TrcMemAccessorFile::createFileAccessor(&second, path, 0x1000), OCSD_OK);
  EXPECT_EQ(first, second);
  EXPECT_EQ(TrcMemAccessorFile::createFileAccessor(&other, path, 0x2000),
            OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE);
  EXPECT_EQ(TrcMemAccessorFile::createFileAccessor(&other, path + ".none", 0),
            OCSD_ERR_MEM_ACC_FILE_NOT_FOUND);
  EXPECT_EQ(TrcMemAccessorFile::getExistingFileAccessor(path), first);
  TrcMemAccessorFile::destroyFileAccessor(first);
  EXPECT_TRUE(TrcMemAccessorFile::isExistingFileAccessor(path));
  TrcMemAccessorFile::destroyFileAccessor(second);
  EXPECT_FALSE(TrcMemAccessorFile::isExistingFileAccessor(path));
}

TEST(cpp_api_memory, a_file_has_regions) {
  const std::string path = sample("quicksort.elf");
  const ByteVector content = read_file(path);
  TrcMemAccessorFile* file = nullptr;
  ASSERT_EQ(TrcMemAccessorFile::createFileAccessor(&file, path, 0x1000, 0x10, 0x20), OCSD_OK);
  EXPECT_TRUE(file->AddOffsetRange(0x8000, 0x40, 0x100));
  EXPECT_TRUE(file->AddOffsetRange(0x4000, 0x40, 0x80));
  EXPECT_FALSE(file->AddOffsetRange(0x1010, 0x40, 0)) << "overlaps the first range";
  EXPECT_FALSE(file->AddOffsetRange(0x9000, 0x40, content.size())) << "not in the file";
  EXPECT_TRUE(file->addrInRange(0x803F));
  EXPECT_FALSE(file->addrInRange(0x8040));
  EXPECT_TRUE(file->addrStartOfRange(0x4000));
  EXPECT_EQ(file->bytesInRange(0x803C, 100), 4U);
  std::uint8_t got[8] = {};
  EXPECT_EQ(file->readBytes(0x803C, OCSD_MEM_SPACE_ANY, 0, 8, got), 4U);
  EXPECT_EQ(got[0], content[0x13C]);
  EXPECT_EQ(file->readBytes(0x1004, OCSD_MEM_SPACE_ANY, 0, 8, got), 8U);
  EXPECT_EQ(got[7], content[0x1B]);
  std::string text;
  file->getMemAccString(text);
  EXPECT_EQ(text,
            "FileAcc; Range::0x1000:101f; Mem Space::Any\n"
            "FileAcc; Range::0x4000:403f; Mem Space::Any\n"
            "FileAcc; Range::0x8000:803f; Mem Space::Any\n"
            "Filename=" +
                path + "\n");
  TrcMemAccessorFile::destroyFileAccessor(file);
}

TEST(cpp_api_memory, spaces_have_names) {
  const auto name = [](int space) {
    std::string text;
    TrcMemAccessorBase::getMemAccSpaceString(text, static_cast<ocsd_mem_space_acc_t>(space));
    return text;
  };
  EXPECT_EQ(name(OCSD_MEM_SPACE_ANY), "Any");
  EXPECT_EQ(name(OCSD_MEM_SPACE_N), "Any NS");
  EXPECT_EQ(name(OCSD_MEM_SPACE_EL2), "EL2N");
  EXPECT_EQ(name(OCSD_MEM_SPACE_EL1S | OCSD_MEM_SPACE_ROOT), "EL1S,Root,");
  EXPECT_EQ(name(OCSD_MEM_SPACE_NONE), "");
}

TEST(cpp_api_memory, a_tree_wants_a_mapper_first) {
  const TreePointer tree = framed_tree();
  const ByteVector bytes = pattern(16, 0);
  EXPECT_FALSE(tree->hasMemAccMapper());
  EXPECT_EQ(tree->addBufferMemAcc(0, OCSD_MEM_SPACE_ANY, bytes.data(), 16), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(tree->setMemAccCacheing(true, 2048, 16), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(tree->removeMemAccByAddress(0, OCSD_MEM_SPACE_ANY), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(tree->createMemAccMapper(), OCSD_OK);
  EXPECT_EQ(tree->addBufferMemAcc(0, OCSD_MEM_SPACE_ANY, bytes.data(), 16), OCSD_OK);
  EXPECT_EQ(tree->addBufferMemAcc(0, OCSD_MEM_SPACE_ANY, bytes.data(), 16),
            OCSD_ERR_MEM_ACC_OVERLAP);
  EXPECT_EQ(tree->addBufferMemAcc(0x100, OCSD_MEM_SPACE_ANY, bytes.data(), 3),
            OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(tree->addBufferMemAcc(0x101, OCSD_MEM_SPACE_ANY, bytes.data(), 16),
            OCSD_ERR_MEM_ACC_RANGE_INVALID);
  EXPECT_EQ(tree->addCallbackMemAcc(0x1000, 0x1FFF, OCSD_MEM_SPACE_ANY, nullptr, nullptr),
            OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(tree->addBinFileMemAcc(0x2000, OCSD_MEM_SPACE_ANY, ""), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(tree->setMemAccCacheing(true, 32, 16), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(tree->setMemAccCacheing(true, 1024, 8), OCSD_OK);
  EXPECT_EQ(tree->removeMemAccByAddress(8, OCSD_MEM_SPACE_ANY), OCSD_OK);
  EXPECT_EQ(tree->removeMemAccByAddress(8, OCSD_MEM_SPACE_ANY), OCSD_ERR_INVALID_PARAM_VAL);
}

TEST(cpp_api_memory, a_missing_file_is_an_error_without_a_message) {
  TextLog log;
  const LoggerInUse in_use(log.errors);
  const TreePointer tree = framed_tree();
  tree->createMemAccMapper();
  EXPECT_EQ(tree->addBinFileMemAcc(0, OCSD_MEM_SPACE_ANY, "/none/such"), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(log.text, "");
}

TEST(cpp_api_memory, an_enclosing_range_is_accepted) {
  const ByteVector inner = pattern(16, 0x10);
  const ByteVector outer = pattern(64, 0x80);
  TrcMemAccMapGlobalSpace mapper;
  TrcMemAccBufPtr a(0x1000, inner.data(), 16);
  TrcMemAccBufPtr into(0x1008, outer.data(), 64);
  TrcMemAccBufPtr around(0xFF0, outer.data(), 64);
  EXPECT_EQ(mapper.AddAccessor(&a, 0), OCSD_OK);
  EXPECT_EQ(mapper.AddAccessor(&into, 0), OCSD_ERR_MEM_ACC_OVERLAP);
  EXPECT_EQ(mapper.AddAccessor(&around, 0), OCSD_OK);
  std::uint8_t got[2] = {};
  EXPECT_EQ(read(mapper, 0x1000, OCSD_MEM_SPACE_ANY, 2, got), 2U);
  EXPECT_EQ(got[0], 0x10);
  EXPECT_EQ(read(mapper, 0xFF0, OCSD_MEM_SPACE_ANY, 2, got), 2U);
  EXPECT_EQ(got[0], 0x80);
}

TEST(cpp_api_memory, removed_accessors_stay_with_their_owner) {
  const ByteVector bytes = pattern(16, 0);
  TrcMemAccBufPtr a(0x1000, bytes.data(), 16);
  TrcMemAccBufPtr b(0x2000, bytes.data(), 16);
  TrcMemAccCB c(0x3000, 0x3FFF, OCSD_MEM_SPACE_ANY);
  for (const bool cached : {false, true}) {
    TrcMemAccMapGlobalSpace mapper;
    mapper.enableCaching(cached);
    for (TrcMemAccessorBase* accessor : std::initializer_list<TrcMemAccessorBase*>{&a, &b, &c})
      ASSERT_EQ(mapper.AddAccessor(accessor, 0), OCSD_OK);
    EXPECT_EQ(mapper.RemoveAccessorByAddress(0x1008, OCSD_MEM_SPACE_ANY), OCSD_OK);
    EXPECT_EQ(mapper.RemoveAccessorByAddress(0x1008, OCSD_MEM_SPACE_ANY),
              OCSD_ERR_INVALID_PARAM_VAL);
    mapper.RemoveAllAccessors();
    std::uint8_t got[2] = {};
    EXPECT_EQ(read(mapper, 0x2000, OCSD_MEM_SPACE_ANY, 2, got), 0U);
  }
}

TEST(cpp_api_memory, a_mapper_owns_what_a_tree_has_made) {
  const std::string path = sample("quicksort.elf");
  const ByteVector bytes = pattern(16, 0);
  TrcMemAccBufPtr borrowed(0x2000, bytes.data(), 16);
  {
    // The tree's own mapper.
    const TreePointer tree = framed_tree();
    tree->createMemAccMapper();
    EXPECT_EQ(tree->addBufferMemAcc(0x1000, OCSD_MEM_SPACE_ANY, bytes.data(), 16), OCSD_OK);
    EXPECT_EQ(tree->addBinFileMemAcc(0x10000, OCSD_MEM_SPACE_ANY, path), OCSD_OK);
    EXPECT_EQ(tree->getMemAccMapper()->AddAccessor(&borrowed, 0), OCSD_OK);
    EXPECT_EQ(tree->removeMemAccByAddress(0x1000, OCSD_MEM_SPACE_ANY), OCSD_OK);
    EXPECT_TRUE(TrcMemAccessorFile::isExistingFileAccessor(path));
  }
  EXPECT_FALSE(TrcMemAccessorFile::isExistingFileAccessor(path));
  {
    // A lent mapper, which lives longer than the tree.
    TrcMemAccMapGlobalSpace mapper;
    {
      const TreePointer tree = framed_tree();
      tree->setExternMemAccMapper(&mapper);
      EXPECT_EQ(tree->addBinFileMemAcc(0x10000, OCSD_MEM_SPACE_ANY, path), OCSD_OK);
    }
    std::uint8_t got[2] = {};
    EXPECT_EQ(read(mapper, 0x10000, OCSD_MEM_SPACE_ANY, 2, got), 2U);
  }
  EXPECT_FALSE(TrcMemAccessorFile::isExistingFileAccessor(path));
  {
    // A lent mapper that ends before the tree.
    const TreePointer tree = framed_tree();
    TrcMemAccMapGlobalSpace mapper;
    tree->setExternMemAccMapper(&mapper);
    EXPECT_EQ(tree->addBinFileMemAcc(0x10000, OCSD_MEM_SPACE_ANY, path), OCSD_OK);
    tree->setMemAccessI(nullptr);
  }
  EXPECT_FALSE(TrcMemAccessorFile::isExistingFileAccessor(path));
}

TEST(cpp_api_memory, mapped_ranges_are_listed) {
  TextLog log;
  const LoggerInUse in_use(log.errors);
  const ByteVector bytes = pattern(16, 0);
  const TreePointer tree = framed_tree();
  tree->createMemAccMapper();
  tree->addBufferMemAcc(0, OCSD_MEM_SPACE_N, bytes.data(), 16);
  tree->addCallbackMemAcc(0x1000, 0x1FFF, OCSD_MEM_SPACE_ANY, too_much, nullptr);
  tree->logMappedRanges();
  EXPECT_EQ(log.text,
            "Gen_Info : Mapped Memory Accessors\n"
            "Gen_Info : BuffAcc; Range::0x00:f; Mem Space::Any NS\n"
            "Gen_Info : CB  Acc; Range::0x1000:1fff; Mem Space::Any\n"
            "Gen_Info : ========================\n");
}

TEST(cpp_api_memory, a_lent_mapper_is_not_deleted) {
  const ByteVector bytes = pattern(16, 0);
  TrcMemAccBufPtr accessor(0x1000, bytes.data(), 16);
  TrcMemAccMapGlobalSpace mapper;
  mapper.AddAccessor(&accessor, 0);
  {
    const TreePointer tree = framed_tree();
    tree->setExternMemAccMapper(&mapper);
    EXPECT_EQ(tree->getMemAccMapper(), &mapper);
  }
  std::uint8_t got[4] = {};
  EXPECT_EQ(read(mapper, 0x1000, OCSD_MEM_SPACE_ANY, 4, got), 4U);
}

TEST(cpp_api_memory, regions_can_be_added_to_a_file_later) {
  const std::string path = sample("quicksort.elf");
  const TreePointer tree = framed_tree();
  tree->createMemAccMapper();
  const ocsd_file_mem_region_t first = {0, 0x1000, 0x100};
  const ocsd_file_mem_region_t more[] = {{0, 0x1000, 0x100}, {0x200, 0x8000, 0x100}};
  EXPECT_EQ(tree->updateBinFileRegionMemAcc(more, 2, OCSD_MEM_SPACE_ANY, path),
            OCSD_ERR_INVALID_PARAM_VAL);
  ASSERT_EQ(tree->addBinFileRegionMemAcc(&first, 1, OCSD_MEM_SPACE_ANY, path), OCSD_OK);
  EXPECT_EQ(tree->updateBinFileRegionMemAcc(more, 2, OCSD_MEM_SPACE_ANY, path), OCSD_OK);
  std::uint8_t got[4] = {};
  EXPECT_EQ(read(*tree->getMemAccMapper(), 0x80FC, OCSD_MEM_SPACE_ANY, 4, got), 4U);
}

}  // namespace
}  // namespace cpp_api

#include "managers.h"

#include "component_name.h"
#include "opencsd/ete/ete_decoder.h"
#include "processors.h"

namespace waymark::compat {
namespace {

struct EteParts : EtmV4Parts {
  using Config = ETEConfig;
  using ConfigStruct = ocsd_ete_cfg;
  static constexpr Protocol kProtocol = Protocol::kEte;
};

constexpr int kCreateMask = OCSD_CREATE_FLG_PACKET_PROC | OCSD_CREATE_FLG_FULL_DECODER;

/// The parts of a component: a full decoder with its processor, or only a processor.
template <class Parts>
struct Opened {
  typename Parts::Processor* processor = nullptr;
  BuiltinDecoder* decoder = nullptr;

  explicit Opened(TraceComponent* component) {
    if (component == nullptr) return;
    decoder = dynamic_cast<BuiltinDecoder*>(component);
    TraceComponent* const packets = decoder != nullptr ? component->getAssocComponent() : component;
    processor = dynamic_cast<typename Parts::Processor*>(packets);
  }
};

/// Replaces what is attached.  A wrong type is an error; nullptr is not.
template <class Interface, class Base>
ocsd_err_t attach_typed(componentAttachPt<Interface>* point, Base* given) {
  auto* const typed = dynamic_cast<Interface*>(given);
  if (given != nullptr && typed == nullptr) return OCSD_ERR_INVALID_PARAM_TYPE;
  return point->replace_first(typed);
}

template <class Parts>
class BuiltinManager final : public IDecoderMngr {
 public:
  using Processor = typename Parts::Processor;
  static constexpr bool kReadsMemory =
      Parts::kProtocol != Protocol::kStm && Parts::kProtocol != Protocol::kItm;

  ocsd_err_t createDecoder(int create_flags, int instID, const CSConfig* p_config,
                           TraceComponent** ppComponent) override {
    const auto* const config = dynamic_cast<const typename Parts::Config*>(p_config);
    if (config == nullptr) return OCSD_ERR_INVALID_PARAM_TYPE;
    if ((create_flags & kCreateMask) == 0) return OCSD_ERR_INVALID_PARAM_VAL;
    const int instance = (create_flags & OCSD_CREATE_FLG_INST_ID) != 0 ? instID : -1;
    auto processor =
        instance >= 0 ? std::make_unique<Processor>(instance) : std::make_unique<Processor>();
    const auto flags = static_cast<std::uint32_t>(create_flags);
    ocsd_err_t err = processor->setComponentOpMode(flags & processor->getSupportedOpModes());
    if (err == OCSD_OK) err = processor->setProtocolConfig(config);
    if (err != OCSD_OK) return err;
    if ((create_flags & OCSD_CREATE_FLG_FULL_DECODER) == 0) {
      *ppComponent = processor.release();
      return OCSD_OK;
    }
    auto decoder = std::make_unique<BuiltinDecoder>(component_names(Parts::kProtocol).elements,
                                                    instance, kReadsMemory, config->getTraceID());
    err = decoder->setComponentOpMode(flags & decoder->getSupportedOpModes());
    if (err != OCSD_OK) return err;
    join(*processor, *decoder);
    decoder->setAssocComponent(processor.release());
    *ppComponent = decoder.release();
    return OCSD_OK;
  }

  ocsd_err_t destroyDecoder(TraceComponent* pComponent) override {
    if (pComponent == nullptr) return OCSD_OK;
    const Opened<Parts> opened(pComponent);
    if (opened.decoder != nullptr) delete opened.processor;
    delete pComponent;
    return OCSD_OK;
  }

  const ocsd_trace_protocol_t getProtocolType() const override {
    return protocol_number(Parts::kProtocol);
  }

  ocsd_err_t attachErrorLogger(TraceComponent* pComponent, ITraceErrorLog* pIErrorLog) override {
    // The processor of a full decoder has no logger (frames.md 8).
    if (pComponent == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
    return pComponent->getErrorLogAttachPt()->replace_first(pIErrorLog);
  }

  ocsd_err_t attachInstrDecoder(TraceComponent* pComponent, IInstrDecode* pIInstrDec) override {
    const Opened<Parts> opened(pComponent);
    if (!kReadsMemory) return OCSD_ERR_DCD_INTERFACE_UNUSED;
    if (opened.decoder == nullptr) return OCSD_ERR_INVALID_PARAM_TYPE;
    return opened.decoder->getInstrDecodeAttachPt()->replace_first(pIInstrDec);
  }

  ocsd_err_t attachMemAccessor(TraceComponent* pComponent,
                               ITargetMemAccess* pMemAccessor) override {
    const Opened<Parts> opened(pComponent);
    if (!kReadsMemory) return OCSD_ERR_DCD_INTERFACE_UNUSED;
    if (opened.decoder == nullptr) return OCSD_ERR_INVALID_PARAM_TYPE;
    return opened.decoder->getMemoryAccessAttachPt()->replace_first(pMemAccessor);
  }

  ocsd_err_t attachOutputSink(TraceComponent* pComponent, ITrcGenElemIn* pOutSink) override {
    const Opened<Parts> opened(pComponent);
    if (opened.decoder == nullptr) return OCSD_ERR_INVALID_PARAM_TYPE;
    return opened.decoder->getTraceElemOutAttachPt()->replace_first(pOutSink);
  }

  ocsd_err_t attachPktMonitor(TraceComponent* pComponent, ITrcTypedBase* pPktRawDataMon) override {
    const Opened<Parts> opened(pComponent);
    if (opened.processor == nullptr) return OCSD_ERR_INVALID_PARAM_TYPE;
    return attach_typed(opened.processor->getRawPacketMonAttachPt(), pPktRawDataMon);
  }

  ocsd_err_t attachPktIndexer(TraceComponent* pComponent, ITrcTypedBase* pPktIndexer) override {
    const Opened<Parts> opened(pComponent);
    if (opened.processor == nullptr) return OCSD_ERR_INVALID_PARAM_TYPE;
    return attach_typed(opened.processor->getTraceIDIndexerAttachPt(), pPktIndexer);
  }

  ocsd_err_t attachPktSink(TraceComponent* pComponent, ITrcTypedBase* pPktDataInSink) override {
    const Opened<Parts> opened(pComponent);
    // The decoder is the sink of its packets.
    if (opened.processor == nullptr || opened.decoder != nullptr)
      return OCSD_ERR_INVALID_PARAM_TYPE;
    return attach_typed(opened.processor->getPacketOutAttachPt(), pPktDataInSink);
  }

  ocsd_err_t getDataInputI(TraceComponent* pComponent, ITrcDataIn** ppDataIn) override {
    const Opened<Parts> opened(pComponent);
    if (opened.processor == nullptr) return OCSD_ERR_INVALID_PARAM_TYPE;
    *ppDataIn = opened.processor;
    return OCSD_OK;
  }

  ocsd_err_t createConfigFromDataStruct(CSConfig** pConfigBase, const void* pDataStruct) override {
    if (pDataStruct == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
    *pConfigBase =
        new typename Parts::Config(static_cast<const typename Parts::ConfigStruct*>(pDataStruct));
    return OCSD_OK;
  }
};

}  // namespace

std::vector<std::pair<std::string, std::unique_ptr<IDecoderMngr>>> make_builtin_managers() {
  std::vector<std::pair<std::string, std::unique_ptr<IDecoderMngr>>> all;
  all.emplace_back(OCSD_BUILTIN_DCD_STM, std::make_unique<BuiltinManager<StmParts>>());
  all.emplace_back(OCSD_BUILTIN_DCD_ETMV3, std::make_unique<BuiltinManager<EtmV3Parts>>());
  all.emplace_back(OCSD_BUILTIN_DCD_ETMV4I, std::make_unique<BuiltinManager<EtmV4Parts>>());
  all.emplace_back(OCSD_BUILTIN_DCD_PTM, std::make_unique<BuiltinManager<PtmParts>>());
  all.emplace_back(OCSD_BUILTIN_DCD_ETE, std::make_unique<BuiltinManager<EteParts>>());
  all.emplace_back(OCSD_BUILTIN_DCD_ITM, std::make_unique<BuiltinManager<ItmParts>>());
  return all;
}

}  // namespace waymark::compat

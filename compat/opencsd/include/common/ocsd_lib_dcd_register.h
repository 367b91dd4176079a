// The register of decoders: the library's own and those of clients.
#pragma once

#include <map>
#include <string>

#include "common/ocsd_dcd_mngr_i.h"
#include "opencsd/ocsd_if_types.h"

/// One of the library's own decoders.
typedef struct built_in_decoder_info {
  IDecoderMngr *pMngr;
  typedef IDecoderMngr *(*CreateMngr)(const char *name);
  CreateMngr PFn;
  const char *name;
} built_in_decoder_info_t;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class OcsdLibDcdRegister {
 public:
  /// The one register of the process.
  static OcsdLibDcdRegister *getDecoderRegister();

  /// Deletes the register and all managers.  No decode tree may be left.
  static void deregisterAllDecoders();

  /// The next of the ten custom protocols; OCSD_PROTOCOL_END if none is left.
  static const ocsd_trace_protocol_t getNextCustomProtocolID();
  static void releaseLastCustomProtocolID();

  /// Takes over the manager.  OCSD_ERR_DCDREG_NAME_REPEAT: the name is taken.
  const ocsd_err_t registerDecoderTypeByName(const std::string &name, IDecoderMngr *p_decoder_fact);

  /// OCSD_ERR_DCDREG_NAME_UNKNOWN, OCSD_ERR_DCDREG_TYPE_UNKNOWN: there is no such decoder.
  const ocsd_err_t getDecoderMngrByName(const std::string &name, IDecoderMngr **p_decoder_mngr);
  const ocsd_err_t getDecoderMngrByType(const ocsd_trace_protocol_t decoderType,
                                        IDecoderMngr **p_decoder_mngr);

  const bool isRegisteredDecoder(const std::string &name);
  const bool isRegisteredDecoderType(const ocsd_trace_protocol_t decoderType);

  /// Iterates over all names; false at the end.
  const bool getFirstNamedDecoder(std::string &name);
  const bool getNextNamedDecoder(std::string &name);

 private:
  OcsdLibDcdRegister();
  ~OcsdLibDcdRegister();
  OcsdLibDcdRegister(const OcsdLibDcdRegister &);
  OcsdLibDcdRegister &operator=(const OcsdLibDcdRegister &);

  void registerBuiltInDecoders();

  std::map<const std::string, IDecoderMngr *> m_decoder_mngrs;
  std::map<const std::string, IDecoderMngr *>::const_iterator m_iter;
  std::map<const ocsd_trace_protocol_t, IDecoderMngr *> m_typed_decoder_mngrs;
  bool m_b_registeredBuiltins;

  static OcsdLibDcdRegister *m_p_libMngr;
  static bool m_b_deregistering;
  static ocsd_trace_protocol_t m_nextCustomProtocolID;
};

#pragma GCC diagnostic pop

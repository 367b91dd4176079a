#include "echo.h"

#include <cstdio>
#include <memory>
#include <vector>

#include "opencsd/c_api/ocsd_c_api_cust_impl.h"

namespace pkt_print {
namespace {

char component[] = "ECHO_TEST";

struct Echo {
  ocsd_extern_dcd_cb_fns callbacks;
  bool decodes;
  bool reported = false;
  std::uint8_t trace_id;
};

Echo& of(const void* handle) { return *static_cast<Echo*>(const_cast<void*>(handle)); }

// The functions of the library are called once, when it knows the decoder's name.
void try_log(Echo& echo) {
  if (echo.reported) return;
  echo.reported = true;
  lib_cb_LogMsg(&echo.callbacks, OCSD_ERR_SEV_INFO, "Echo_Test_Decoder: Init - LogMsgCB test.\n");
  lib_cb_LogError(&echo.callbacks, OCSD_ERR_SEV_ERROR, OCSD_OK, 0, echo.trace_id,
                  "Echo_Test_Decoder - Init - LogErrorCB test.\n");
}

ocsd_datapath_resp_t data_in(const void* handle, const ocsd_datapath_op_t op,
                             const ocsd_trc_index_t index, const uint32_t size, const uint8_t* data,
                             uint32_t* used) {
  Echo& echo = of(handle);
  try_log(echo);
  if (op != OCSD_OP_DATA) {
    lib_cb_PktMon(&echo.callbacks, op, index, nullptr, 0, nullptr);
    if (!echo.decodes) return lib_cb_PktDataSink(&echo.callbacks, op, index, nullptr);
    if (op != OCSD_OP_EOT) return OCSD_RESP_CONT;
    ocsd_generic_trace_elem end{};
    ocsd_gen_elem_init(&end, OCSD_GEN_TRC_ELEM_EO_TRACE);
    return lib_cb_GenElemOp(&echo.callbacks, index, echo.trace_id, &end);
  }
  *used = size;
  const EchoPacket packet{.size = size, .first = data[0]};
  lib_cb_PktMon(&echo.callbacks, op, index, &packet, size, data);
  if (!echo.decodes) return lib_cb_PktDataSink(&echo.callbacks, op, index, &packet);
  ocsd_generic_trace_elem element{};
  ocsd_gen_elem_init(&element, OCSD_GEN_TRC_ELEM_CUSTOM);
  element.extended_data = 1;
  element.ptr_extended_data = &packet;
  return lib_cb_GenElemOp(&echo.callbacks, index, echo.trace_id, &element);
}

ocsd_err_t create(const int flags, const void* config, const ocsd_extern_dcd_cb_fns* callbacks,
                  ocsd_extern_dcd_inst_t* instance) {
  auto echo = std::make_unique<Echo>();
  echo->callbacks = *callbacks;
  echo->decodes = (flags & OCSD_CREATE_FLG_FULL_DECODER) != 0;
  echo->trace_id =
      static_cast<std::uint8_t>(static_cast<const EchoConfig*>(config)->trace_id & 0x7F);
  instance->fn_data_in = &data_in;
  instance->fn_update_pkt_mon = [](const void* handle, const int wanted) {
    lib_cb_updatePktCBFlags(&of(handle).callbacks, wanted);
  };
  instance->p_decoder_name = component;
  instance->cs_id = echo->trace_id;
  instance->decoder_handle = echo.release();
  return OCSD_OK;
}

ocsd_err_t destroy(const void* handle) {
  const std::unique_ptr<Echo> owner(&of(handle));
  return OCSD_OK;
}

ocsd_err_t id_of(const void* config, unsigned char* id) {
  *id = static_cast<unsigned char>(static_cast<const EchoConfig*>(config)->trace_id & 0x7F);
  return OCSD_OK;
}

ocsd_err_t to_text(const void* packet, char* buffer, const int size) {
  const auto& echo = *static_cast<const EchoPacket*>(packet);
  static_cast<void>(std::snprintf(buffer, static_cast<std::size_t>(size),
                                  "ECHO DCD: %u bytes, first 0x%02x", echo.size, echo.first));
  return OCSD_OK;
}

}  // namespace

ocsd_err_t register_echo(ocsd_trace_protocol_t& protocol) {
  ocsd_extern_dcd_fact_t factory{};
  factory.createDecoder = &create;
  factory.destroyDecoder = &destroy;
  factory.csidFromConfig = &id_of;
  factory.pktToString = &to_text;
  const ocsd_err_t error = ocsd_register_custom_decoder(kEchoName, &factory);
  protocol = factory.protocol_id;
  return error;
}

}  // namespace pkt_print

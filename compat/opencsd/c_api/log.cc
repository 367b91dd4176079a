// The log and the texts.
#include "core/custom.h"
#include "core/level_text.h"
#include "core/logger.h"
#include "core/packet_struct.h"
#include "handles.h"
#include "waymark/element/text.h"

using namespace waymark;
using namespace waymark::compat;
using namespace waymark::compat::capi;

ocsd_err_t ocsd_def_errlog_init(const ocsd_err_severity_t verbosity,
                                const int create_output_logger) {
  Logger::instance().init(verbosity, create_output_logger != 0);
  return OCSD_OK;
}

ocsd_err_t ocsd_def_errlog_config_output(const int output_flags, const char* log_file_name) {
  return Logger::instance().configure(output_flags, log_file_name) ? OCSD_OK : OCSD_ERR_NOT_INIT;
}

ocsd_err_t ocsd_def_errlog_set_strprint_cb(const dcd_tree_handle_t handle, void* p_context,
                                           FnDefLoggerPrintStrCB p_str_print_cb) {
  Tree* const tree = tree_of(handle);
  if (tree == nullptr) return OCSD_ERR_NOT_INIT;
  return Logger::instance().set_function(tree, p_str_print_cb, p_context) ? OCSD_OK
                                                                          : OCSD_ERR_NOT_INIT;
}

void ocsd_def_errlog_msgout(const char* msg) {
  if (msg != nullptr) Logger::instance().print(msg);
}

void ocsd_err_str(const ocsd_err_t err, char* buffer, const int buffer_size) {
  TextBuffer text;
  write_error(text, static_cast<ErrorNumber>(err), kNoIndex, kNoTraceId, {});
  copy_text(text.view(), buffer, buffer_size);
}

ocsd_err_t ocsd_get_last_err(ocsd_trc_index_t* index, uint8_t* chan_id, char* message,
                             const int message_len) {
  const std::optional<ErrorRecord> logged = Logger::instance().last_error();
  const ErrorRecord last = logged.value_or(ErrorRecord{});
  if (index != nullptr)
    *index =
        last.index == kNoIndex ? OCSD_BAD_TRC_INDEX : static_cast<ocsd_trc_index_t>(last.index);
  if (chan_id != nullptr) *chan_id = last.trace_id;
  TextBuffer text;
  if (logged) write_error(text, last.number, last.index, last.trace_id, last.message);
  copy_text(text.view(), message, message_len);
  return number(last.number);
}

// -- Text. ----------------------------------------------------------------------------------------

ocsd_err_t ocsd_pkt_str(const ocsd_trace_protocol_t pkt_protocol, const void* p_pkt, char* buffer,
                        const int buffer_size) {
  if (buffer == nullptr || buffer_size < 2 || p_pkt == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  buffer[0] = '\0';
  if (OCSD_PROTOCOL_IS_CUSTOM(pkt_protocol))
    return ocsd_cust_protocol_to_str(pkt_protocol, p_pkt, buffer, buffer_size);
  TextBuffer text;
  bool known = false;
  write_at_level(text,
                 [&](TextBuffer& to) { known = write_packet_struct(to, pkt_protocol, p_pkt); });
  if (!known) return OCSD_ERR_NO_PROTOCOL;
  copy_text(text.view(), buffer, buffer_size);
  return OCSD_OK;
}

ocsd_err_t ocsd_gen_elem_str(const ocsd_generic_trace_elem* p_pkt, char* buffer,
                             const int buffer_size) {
  if (buffer == nullptr || buffer_size < 2 || p_pkt == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  Element element;
  read_element(*p_pkt, element);
  TextBuffer text;
  write_at_level(text, [&](TextBuffer& to) { write_element(to, element); });
  copy_text(text.view(), buffer, buffer_size);
  return OCSD_OK;
}

void ocsd_gen_elem_init(ocsd_generic_trace_elem* p_pkt, const ocsd_gen_trc_elem_t elem_type) {
  if (p_pkt == nullptr) return;
  p_pkt->elem_type = elem_type;
  p_pkt->flag_bits = 0;
  p_pkt->ptr_extended_data = nullptr;
}

// -- Custom decoders. -----------------------------------------------------------------------------

ocsd_err_t ocsd_register_custom_decoder(const char* name, ocsd_extern_dcd_fact_t* p_dcd_fact) {
  if (name == nullptr || p_dcd_fact == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  return number(CustomRegister::instance().add(name, *p_dcd_fact));
}

ocsd_err_t ocsd_deregister_decoders(void) {
  CustomRegister::instance().clear();
  return OCSD_OK;
}

ocsd_err_t ocsd_cust_protocol_to_str(const ocsd_trace_protocol_t pkt_protocol, const void* trc_pkt,
                                     char* buffer, const int buflen) {
  if (!OCSD_PROTOCOL_IS_CUSTOM(pkt_protocol)) return OCSD_ERR_NO_PROTOCOL;
  const auto factory = CustomRegister::instance().find(pkt_protocol);
  if (!factory) return OCSD_ERR_NO_PROTOCOL;
  if (buffer == nullptr || buflen < 1) return OCSD_ERR_INVALID_PARAM_VAL;
  if (factory->pktToString != nullptr) return factory->pktToString(trc_pkt, buffer, buflen);
  TextBuffer text;
  text.put("CUSTOM_PKT[]: print unsupported; protocol(");
  text.dec(static_cast<std::uint64_t>(pkt_protocol));
  text.put(").");
  copy_text(text.view(), buffer, buflen);
  return OCSD_OK;
}

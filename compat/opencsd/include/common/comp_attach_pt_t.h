// A place where one component can be attached to another.
#pragma once

#include <vector>

#include "common/comp_attach_notifier_i.h"
#include "opencsd/ocsd_if_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// Holds one component, which it does not own.  Disabled, it keeps the component but shows none.
template <class T>
class componentAttachPt {
 public:
  componentAttachPt() : m_bEnabled(true), m_notifier(0), m_comp(0) {}
  virtual ~componentAttachPt() {}

  /// OCSD_ERR_ATTACH_INVALID_PARAM for NULL; OCSD_ERR_ATTACH_TOO_MANY if one is already attached.
  virtual ocsd_err_t attach(T *component);
  /// OCSD_ERR_ATTACH_COMP_NOT_FOUND if it is not attached.
  virtual ocsd_err_t detach(T *component);
  /// Replaces the attached component; NULL only detaches it.
  virtual ocsd_err_t replace_first(T *component);
  virtual void detach_all();

  /// The component; NULL if there is none, or if it is disabled.
  virtual T *first() { return m_bEnabled ? m_comp : 0; }
  /// Always NULL: there is only one.
  virtual T *next() { return 0; }
  virtual int num_attached() { return m_comp != 0 ? 1 : 0; }

  /// The notifier is borrowed.
  void set_notifier(IComponentAttachNotifier *notifier) { m_notifier = notifier; }

  const bool enabled() const { return m_bEnabled; }
  void set_enabled(const bool enable) { m_bEnabled = enable; }
  const bool hasAttached() const { return m_comp != 0; }
  const bool hasAttachedAndEnabled() const { return m_bEnabled && m_comp != 0; }

 private:
  void notify() {
    if (m_notifier != 0) m_notifier->attachNotify(m_comp != 0 ? 1 : 0);
  }

  bool m_bEnabled;
  IComponentAttachNotifier *m_notifier;
  T *m_comp;
};

#pragma GCC diagnostic pop

template <class T>
ocsd_err_t componentAttachPt<T>::attach(T *component) {
  if (component == 0) return OCSD_ERR_ATTACH_INVALID_PARAM;
  if (m_comp != 0) return OCSD_ERR_ATTACH_TOO_MANY;
  m_comp = component;
  notify();
  return OCSD_OK;
}

template <class T>
ocsd_err_t componentAttachPt<T>::detach(T *component) {
  if (component == 0) return OCSD_ERR_ATTACH_INVALID_PARAM;
  if (m_comp != component) return OCSD_ERR_ATTACH_COMP_NOT_FOUND;
  m_comp = 0;
  notify();
  return OCSD_OK;
}

template <class T>
ocsd_err_t componentAttachPt<T>::replace_first(T *component) {
  if (m_comp != 0) detach(m_comp);
  return component != 0 ? attach(component) : OCSD_OK;
}

template <class T>
void componentAttachPt<T>::detach_all() {
  m_comp = 0;
  notify();
}

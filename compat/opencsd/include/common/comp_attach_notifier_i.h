// Receives a notification when something is attached or detached.
#pragma once

class IComponentAttachNotifier {
 public:
  IComponentAttachNotifier() {}
  virtual ~IComponentAttachNotifier() {}
  virtual void attachNotify(const int num_attached) = 0;
};

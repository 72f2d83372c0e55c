// Starts cells in a thread of its own: a start blocks for ~100 ms, in which the event loop must not miss a
// deadline.
//
// Threads: the thread lives as long as this object, which must live as long as the worker's children:
// PDEATHSIG is bound to the thread that started them. Start is called from the event loop and answers there.
// Ownership: the loop must outlive it. Errors: the factory's, passed on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "worker/agent/cells/cell.h"
#include "worker/agent/event_loop.h"

namespace skerry::agent {

class CellStarter {
 public:
  using Started = std::function<void(Result<std::unique_ptr<Cell>>)>;

  CellStarter(EventLoop& loop, CellFactory factory);
  /// Waits for a start that is under way; a request not begun is dropped, and so are answers not delivered.
  ~CellStarter();
  CellStarter(const CellStarter&) = delete;
  CellStarter& operator=(const CellStarter&) = delete;

  void Start(Started started);

 private:
  void Serve();

  EventLoop& loop_;
  const CellFactory factory_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Started> requests_;
  bool stopping_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // read and written in the loop's thread only
  std::thread thread_;                                          // last: it uses all of the above
};

}  // namespace skerry::agent

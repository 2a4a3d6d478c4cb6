// Task: a callable of fixed size, so that launching allocates nothing.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace stallscope::trainer {

class Task {
 public:
  /// Enough for a handful of pointers and sizes by value.
  static constexpr size_t kRoom = 192;

  Task() = default;
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Task>)
  Task(F&& body) {  // NOLINT: implicit by design
    using Body = std::remove_cvref_t<F>;
    static_assert(sizeof(Body) <= kRoom, "capture pointers, not contents");
    static_assert(std::is_nothrow_move_constructible_v<Body>);
    new (room_) Body(std::forward<F>(body));
    run_ = [](void* self) { (*static_cast<Body*>(self))(); };
    move_ = [](void* to, void* from) {
      new (to) Body(std::move(*static_cast<Body*>(from)));
      static_cast<Body*>(from)->~Body();
    };
    destroy_ = [](void* self) { static_cast<Body*>(self)->~Body(); };
  }
  Task(Task&& other) noexcept { take(other); }
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      clear();
      take(other);
    }
    return *this;
  }
  ~Task() { clear(); }

  void operator()() { run_(room_); }

 private:
  void take(Task& other) {
    if (other.run_ != nullptr) other.move_(room_, other.room_);
    run_ = std::exchange(other.run_, nullptr);
    move_ = other.move_;
    destroy_ = other.destroy_;
  }
  void clear() {
    if (run_ != nullptr) destroy_(room_);
    run_ = nullptr;
  }

  alignas(16) unsigned char room_[kRoom];
  void (*run_)(void*) = nullptr;
  void (*move_)(void*, void*) = nullptr;
  void (*destroy_)(void*) = nullptr;
};

}  // namespace stallscope::trainer

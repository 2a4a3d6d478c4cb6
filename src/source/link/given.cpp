#include "source/link/given.h"

#include <algorithm>
#include <array>
#include <string>

#include "source/names/mentions.h"

namespace stallscope {

uint32_t position_of(const FunctionFacts& f, uint32_t parameter) {
  return parameter - (f.takes_self() ? 1 : 0);
}

namespace {

/// Whether a literal of that hash turns an option off; None is given by nobody.
bool is_off(uint32_t literal) {
  static const std::array<uint32_t, 5> off = {name_hash("False"), name_hash("0"),
                                              name_hash("false"), name_hash("nullptr"),
                                              name_hash("NULL")};
  return std::ranges::find(off, literal) != off.end();
}

/// The literal that a call gives a parameter, by name or by position.
std::optional<uint32_t> literal_for(const CallFacts& call, const FunctionFacts& f,
                                    uint32_t parameter) {
  const std::string& name = f.parameters[parameter];
  const bool named = (call.keywords & name_bit(name)) != 0;
  const uint32_t key = name_hash(named ? name : std::to_string(position_of(f, parameter)));
  for (const auto& [at, literal] : call.literals) {
    if (at == key) return literal;
  }
  return {};
}

}  // namespace

bool is_called_from_outside(const FunctionFacts& f) {
  return (f.flags & (kForward | kHook | kEntryPoint | kDecorated | kJitCompiled)) != 0;
}

GivenBy given(const CallFacts& call, const FunctionFacts& f, uint32_t parameter) {
  if (call.form == CallForm::reference) return GivenBy::unknown;
  const bool named = (call.keywords & name_bit(f.parameters[parameter])) != 0;
  // C++ counts all, it has no other kind.
  const uint8_t count = call.positional == kAnyArguments ? call.given : call.positional;
  if (!named && count == kAnyArguments) return GivenBy::unknown;
  if (!named && count <= position_of(f, parameter)) return GivenBy::no;
  static const uint32_t none = name_hash("None");
  return literal_for(call, f, parameter) == none ? GivenBy::no : GivenBy::yes;
}

std::optional<bool> asks_for(const CallFacts& call, const FunctionFacts& f, const Option& option) {
  // `if (!async)` of C++, whose default may stand where the function is declared
  static const uint32_t off = literal_hash("false");
  const GivenBy gives = given(call, f, option.parameter);
  if (gives != GivenBy::yes) return gives == GivenBy::unknown || option.literal == off;
  const auto literal = literal_for(call, f, option.parameter);
  if (!literal) return {};
  if (option.literal == off) return is_off(*literal);
  return option.literal != 0 ? literal == option.literal : !is_off(*literal);
}

}  // namespace stallscope

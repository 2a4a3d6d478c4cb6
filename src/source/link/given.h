// What a call gives a parameter, as far as the call itself says.
#pragma once

#include <cstdint>
#include <optional>

#include "source/facts/facts.h"

namespace stallscope {

/// What frameworks call, or what is handed on as a value, may be called in any way.
bool is_called_from_outside(const FunctionFacts& f);

/// Of a parameter among the arguments of a call.
uint32_t position_of(const FunctionFacts& f, uint32_t parameter);

enum class GivenBy : uint8_t { no, yes, unknown };

/// Whether a call gives a parameter of `f` something; None is nothing.
GivenBy given(const CallFacts& call, const FunctionFacts& f, uint32_t parameter);

/// Whether a call of `f` gives what `option`, one of its parameters, wants; nothing where that is
/// for what the caller hands on to say.
std::optional<bool> asks_for(const CallFacts& call, const FunctionFacts& f, const Option& option);

}  // namespace stallscope

#include "import/unit_ranges.h"

#include <elfutils/libdw.h>

#include <algorithm>

namespace stallscope {

UnitRanges::Unit UnitRanges::at(Dwfl_Module* module, Dwarf_Addr address) {
  Unit out;
  out.die = dwfl_module_addrdie(module, address, &out.bias);
  if (out.die != nullptr) return out;
  if (!read_) read(module);
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (after == ranges_.begin() || address >= (after - 1)->end) return {};
  return (after - 1)->unit;
}

void UnitRanges::read(Dwfl_Module* module) {
  read_ = true;
  Unit unit;
  while ((unit.die = dwfl_module_nextcu(module, unit.die, &unit.bias)) != nullptr) {
    Dwarf_Addr base = 0, begin = 0, end = 0;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(unit.die, next, &base, &begin, &end)) > 0)
      if (begin < end) ranges_.push_back({begin + unit.bias, end + unit.bias, unit});
  }
  std::ranges::sort(ranges_, {}, &Range::begin);
}

}  // namespace stallscope

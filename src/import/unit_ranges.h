#pragma once
#include <elfutils/libdwfl.h>

#include <vector>

namespace stallscope {

/// Which compilation unit of an object covers an address, read from the units'
/// own ranges: Clang writes no .debug_aranges, which libdw's search needs.
class UnitRanges {
 public:
  struct Unit {
    Dwarf_Die* die = nullptr;  ///< null: no unit covers the address
    Dwarf_Addr bias = 0;       ///< address in the module minus address in its DWARF
  };

  /// `address` is one of the module's, its bias included. The first call reads all units.
  Unit at(Dwfl_Module* module, Dwarf_Addr address);

 private:
  struct Range {
    Dwarf_Addr begin = 0, end = 0;  ///< in the module
    Unit unit;
  };
  void read(Dwfl_Module* module);

  bool read_ = false;
  std::vector<Range> ranges_;  ///< by begin
};

}  // namespace stallscope

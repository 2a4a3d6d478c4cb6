#include "source/extract/conditional_names.h"

#include <algorithm>

#include "source/syntax/words.h"

namespace stallscope {

std::vector<ConditionalName> conditional_names(const Ast& ast, const Switches& switches) {
  std::vector<ConditionalName> out;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind != NodeKind::assign) continue;
    const NodeId left = ast.child(id, Role::left), right = ast.child(id, Role::right);
    if (left == kNoNode || right == kNoNode ||
        (ast[left].kind != NodeKind::name && ast[left].kind != NodeKind::attribute))
      continue;
    uint32_t option = switches.needed_around(id);
    // self.ema = Average(net) if args.ema else None
    const NodeId otherwise =
        ast[right].kind == NodeKind::conditional ? ast.child(right, Role::alternative) : kNoNode;
    if (option == 0 && otherwise != kNoNode && is_one_of(ast.slice(otherwise), {"None", "False"}))
      option = switches.needed_by(ast.child(right, Role::condition));
    const auto length = static_cast<uint32_t>(ast[left].text.size());
    if (option != 0) out.push_back({ast[left].last_byte - length, option});
  }
  std::ranges::sort(out, {}, &ConditionalName::at);
  return out;
}

}  // namespace stallscope

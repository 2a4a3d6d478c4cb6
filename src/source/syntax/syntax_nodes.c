#include "source/syntax/syntax_nodes.h"

#include "language.h"
#include "length.h"
#include "subtree.h"
#include "tree.h"

/* A node whose children are being visited. */
struct Frame {
  Subtree node;
  Length position;
  uint32_t child, structural_child;
  uint32_t out;        /* index of the visible node it is; kHidden = its children stand for it */
  TSFieldId inherited; /* the field of a hidden node, which its children have */
};

enum { kHidden = 0xffffffffu };

struct Walk {
  const TSLanguage* language;
  struct SyntaxNode* nodes;
  uint32_t count, capacity;
  struct Frame* stack;
  uint32_t depth, room;
};

static void push(struct Walk* walk, Subtree node, Length position, uint32_t out, TSFieldId field) {
  if (walk->depth == walk->room) {
    walk->room = walk->room ? 2 * walk->room : 64;
    walk->stack = ts_realloc(walk->stack, walk->room * sizeof(struct Frame));
  }
  walk->stack[walk->depth++] = (struct Frame){node, position, 0, 0, out, field};
}

static uint32_t emit(struct Walk* walk, Subtree node, Length position, TSSymbol alias,
                     TSFieldId field) {
  if (walk->count == walk->capacity) {
    walk->capacity = 2 * walk->capacity + 64;
    walk->nodes = ts_realloc(walk->nodes, walk->capacity * sizeof(struct SyntaxNode));
  }
  const Length end = length_add(position, ts_subtree_size(node));
  const TSSymbol symbol = alias ? alias : ts_subtree_symbol(node);
  struct SyntaxNode* out = &walk->nodes[walk->count];
  out->first_byte = position.bytes;
  out->last_byte = end.bytes;
  out->first_row = position.extent.row;
  out->first_column = position.extent.column;
  out->last_row = end.extent.row;
  out->end = walk->count + 1;
  out->symbol = ts_language_public_symbol(walk->language, symbol);
  out->field = field;
  out->named =
      alias ? ts_language_symbol_metadata(walk->language, alias).named : ts_subtree_named(node);
  return walk->count++;
}

/* The field that the grammar gives to a child of `parent`; 0 = none. */
static TSFieldId field_of(const struct Walk* walk, Subtree parent, uint32_t structural_child) {
  const TSFieldMapEntry *at, *end;
  ts_language_field_map(walk->language, parent.ptr->production_id, &at, &end);
  for (; at < end; ++at) {
    if (!at->inherited && at->child_index == structural_child) return at->field_id;
  }
  return 0;
}

struct SyntaxNodes syntax_nodes(const TSTree* tree) {
  struct Walk walk = {.language = tree->language};
  walk.capacity = ts_subtree_visible_descendant_count(tree->root) + 1;
  walk.nodes = ts_malloc(walk.capacity * sizeof(struct SyntaxNode));
  const Length start = ts_subtree_padding(tree->root);
  push(&walk, tree->root, start, emit(&walk, tree->root, start, 0, 0), 0);
  while (walk.depth > 0) {
    struct Frame* frame = &walk.stack[walk.depth - 1];
    if (frame->child == ts_subtree_child_count(frame->node)) {
      if (frame->out != kHidden) walk.nodes[frame->out].end = walk.count;
      --walk.depth;
      continue;
    }
    const Subtree child = ts_subtree_children(frame->node)[frame->child];
    if (frame->child > 0) frame->position = length_add(frame->position, ts_subtree_padding(child));
    const Length position = frame->position;
    TSSymbol alias = 0;
    TSFieldId field = 0;
    if (!ts_subtree_extra(child)) {
      alias = ts_language_alias_at(walk.language, frame->node.ptr->production_id,
                                   frame->structural_child);
      field = field_of(&walk, frame->node, frame->structural_child);
      if (field == 0) field = frame->inherited;
      ++frame->structural_child;
    }
    ++frame->child;
    frame->position = length_add(frame->position, ts_subtree_size(child));
    if (alias || ts_subtree_visible(child)) {
      const uint32_t out = emit(&walk, child, position, alias, field);
      if (ts_subtree_child_count(child) > 0) push(&walk, child, position, out, 0);
    } else if (ts_subtree_visible_child_count(child) > 0) {
      push(&walk, child, position, kHidden, field);
    }
  }
  return (struct SyntaxNodes){walk.nodes, walk.count};
}

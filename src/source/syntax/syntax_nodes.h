/* A parsed file as a flat list of the grammar's nodes, in pre-order. tree-sitter's
 * own cursor finds fields and positions anew at every step; this walks once. */
#ifndef STALLSCOPE_SOURCE_SYNTAX_NODES_H
#define STALLSCOPE_SOURCE_SYNTAX_NODES_H

#include <stdbool.h>
#include <stdint.h>
#include <tree_sitter/api.h>

#ifdef __cplusplus
extern "C" {
#endif

struct SyntaxNode {
  uint32_t first_byte, last_byte;
  uint32_t first_row, first_column, last_row; /* from 0 */
  uint32_t end;                               /* index behind its last descendant */
  TSSymbol symbol;                            /* as ts_node_symbol() says */
  TSFieldId field;                            /* its part in its parent; 0 = none */
  bool named;
};

struct SyntaxNodes {
  const struct SyntaxNode* nodes; /* in parse memory; the root is the first */
  uint32_t count;
};

/* All visible nodes of the tree. */
struct SyntaxNodes syntax_nodes(const TSTree* tree);

#ifdef __cplusplus
}
#endif
#endif

/* Parses the files it is given: what a build with profiling counters is run on
 * before the parser is compiled for good (cmake/ProfiledParser.cmake).
 */
#include <stdio.h>
#include <stdlib.h>

#include "source/syntax/parse_memory.h"
#include "source/syntax/syntax_nodes.h"
#include "tree_sitter/api.h"

const TSLanguage* tree_sitter_python(void);

__thread struct ParseMemory parse_memory;

void parse_memory_grow(size_t bytes) {
  const size_t block = (size_t)1 << 20;
  const size_t size = bytes > block ? bytes : block;
  parse_memory.next = malloc(size); /* never given back: the program ends soon */
  if (!parse_memory.next) exit(1);
  parse_memory.end = parse_memory.next + size;
}

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  char* text = malloc((size_t)1 << 20);
  *size = text ? fread(text, 1, (size_t)1 << 20, file) : 0;
  fclose(file);
  return text;
}

int main(int count, char** paths) {
  for (int i = 1; i < count; ++i) {
    size_t size = 0;
    char* text = read_file(paths[i], &size);
    if (!text) {
      fprintf(stderr, "train_parser: cannot read %s\n", paths[i]);
      return 1;
    }
    TSParser* parser = ts_parser_new();
    ts_parser_set_language(parser, tree_sitter_python());
    const TSTree* tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)size);
    if (tree) syntax_nodes(tree);
    ts_parser_delete(parser);
    free(text);
  }
  return 0;
}

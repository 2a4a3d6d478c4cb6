#include "source/syntax/grammar.h"

#include <string_view>
#include <unordered_map>
#include <utility>

extern "C" {
const TSLanguage* tree_sitter_python(void);
const TSLanguage* tree_sitter_cuda(void);
}

namespace stallscope {
namespace {

using K = NodeKind;
struct Entry {
  const char* type;
  Spec spec;
};

constexpr Entry kPython[] = {
    {"module", {K::module}},
    {"block", {K::block}},
    {"function_definition", {K::function}},
    {"class_definition", {K::class_}},
    {"lambda", {K::lambda}},
    {"decorator", {K::decorator}},
    {"parameters", {K::parameters}},
    {"lambda_parameters", {K::parameters}},
    {"default_parameter", {K::parameter}},
    {"typed_parameter", {K::parameter}},
    {"typed_default_parameter", {K::parameter}},
    {"list_splat_pattern", {K::star}},
    {"dictionary_splat_pattern", {K::star}},
    {"type", {K::type, Action::leaf}},
    {"call", {K::call}},
    {"argument_list", {K::other, Action::flatten}},
    {"keyword_argument", {K::keyword}},
    {"attribute", {K::attribute}},
    {"identifier", {K::name, Action::leaf}},
    {"integer", {K::number, Action::leaf}},
    {"float", {K::number, Action::leaf}},
    {"string", {K::string}},
    {"concatenated_string", {K::string}},
    {"string_start", {K::other, Action::skip}},
    {"string_end", {K::other, Action::skip}},
    {"string_content", {K::other, Action::skip}},
    {"interpolation", {K::interpolation}},
    {"format_specifier", {K::other, Action::skip}},
    {"type_conversion", {K::other, Action::skip}},
    {"true", {K::constant, Action::leaf}},
    {"false", {K::constant, Action::leaf}},
    {"none", {K::constant, Action::leaf}},
    {"ellipsis", {K::ellipsis, Action::leaf}},
    {"subscript", {K::subscript}},
    {"slice", {K::slice}},
    {"binary_operator", {K::binary}},
    {"unary_operator", {K::unary}},
    {"not_operator", {K::unary}},
    {"comparison_operator", {K::compare}},
    {"boolean_operator", {K::boolean}},
    {"conditional_expression", {K::conditional}},
    {"parenthesized_expression", {K::other, Action::flatten}},
    {"expression_statement", {K::other, Action::flatten}},
    {"expression_list", {K::tuple}},
    {"pattern_list", {K::tuple}},
    {"tuple_pattern", {K::tuple}},
    {"list_pattern", {K::tuple}},
    {"assignment", {K::assign}},
    {"augmented_assignment", {K::aug_assign}},
    {"named_expression", {K::walrus}},
    {"return_statement", {K::return_}},
    {"yield", {K::yield}},
    {"await", {K::await}},
    {"raise_statement", {K::raise}},
    {"assert_statement", {K::assert_}},
    {"delete_statement", {K::delete_}},
    {"if_statement", {K::if_}},
    {"elif_clause", {K::elif_}},
    {"else_clause", {K::else_}},
    {"for_statement", {K::for_}},
    {"while_statement", {K::while_}},
    {"with_statement", {K::with_}},
    {"with_clause", {K::other, Action::flatten}},
    {"with_item", {K::with_item}},
    {"as_pattern", {K::other, Action::flatten}},
    {"as_pattern_target", {K::other, Action::flatten}},
    {"try_statement", {K::try_}},
    {"except_clause", {K::except_}},
    {"list_comprehension", {K::comprehension}},
    {"set_comprehension", {K::comprehension}},
    {"dictionary_comprehension", {K::comprehension}},
    {"generator_expression", {K::comprehension}},
    {"for_in_clause", {K::comp_for}},
    {"if_clause", {K::comp_if}},
    {"tuple", {K::tuple}},
    {"list", {K::list}},
    {"set", {K::set}},
    {"dictionary", {K::dict}},
    {"pair", {K::pair}},
    {"list_splat", {K::star}},
    {"dictionary_splat", {K::star}},
    {"parenthesized_list_splat", {K::star}},
    {"import_statement", {K::import}},
    {"import_from_statement", {K::import_from}},
    {"future_import_statement", {K::other, Action::skip}},
    {"dotted_name", {K::import_name, Action::leaf}},
    {"aliased_import", {K::import_name}},
    {"wildcard_import", {K::import_name, Action::leaf}},
    {"relative_import", {K::import_name, Action::leaf}},
    {"global_statement", {K::global}},
    {"nonlocal_statement", {K::global}},
    {"break_statement", {K::leave, Action::leaf}},
    {"continue_statement", {K::leave, Action::leaf}},
    {"print_statement", {K::print}},
    {"comment", {K::other, Action::skip}},
    {"line_continuation", {K::other, Action::skip}},
};

constexpr Entry kCuda[] = {
    {"translation_unit", {K::module}},
    {"compound_statement", {K::block}},
    {"declaration_list", {K::block}},
    {"field_declaration_list", {K::block}},
    {"function_definition", {K::function}},
    {"class_specifier", {K::class_}},
    {"struct_specifier", {K::class_}},
    {"base_class_clause", {K::other, Action::flatten}},
    {"lambda_expression", {K::lambda}},
    {"lambda_capture_specifier", {K::other, Action::skip}},
    {"abstract_function_declarator", {K::other, Action::flatten}},
    {"parameter_list", {K::parameters}},
    {"parameter_declaration", {K::parameter}},
    {"optional_parameter_declaration", {K::parameter}},
    {"function_declarator", {K::other, Action::declarator}},
    {"pointer_declarator", {K::other, Action::declarator}},
    {"reference_declarator", {K::other, Action::declarator}},
    {"array_declarator", {K::other, Action::declarator}},
    {"parenthesized_declarator", {K::other, Action::declarator}},
    {"structured_binding_declarator", {K::tuple}},
    {"declaration", {K::assign, Action::declaration}},
    {"field_declaration", {K::assign, Action::declaration}},
    {"field_initializer_list", {K::other, Action::flatten}},
    {"field_initializer", {K::assign, Action::initializer}},
    {"call_expression", {K::call}},
    {"kernel_call_syntax", {K::other, Action::flatten}},
    {"argument_list", {K::other, Action::flatten}},
    {"field_expression", {K::attribute}},
    {"qualified_identifier", {K::attribute, Action::qualified_name}},
    {"template_function", {K::other, Action::flatten}},
    {"template_method", {K::other, Action::flatten}},
    {"template_type", {K::type, Action::leaf}},
    {"template_argument_list", {K::other, Action::skip}},
    {"dependent_name", {K::other, Action::flatten}},
    {"identifier", {K::name, Action::leaf}},
    {"field_identifier", {K::name, Action::leaf}},
    {"namespace_identifier", {K::name, Action::leaf}},
    {"type_identifier", {K::name, Action::leaf}},
    {"this", {K::name, Action::leaf}},
    {"primitive_type", {K::type, Action::leaf}},
    {"type_descriptor", {K::type, Action::leaf}},
    {"type_qualifier", {K::other, Action::skip}},
    {"storage_class_specifier", {K::other, Action::skip}},
    {"number_literal", {K::number, Action::leaf}},
    {"string_literal", {K::string, Action::leaf}},
    {"raw_string_literal", {K::string, Action::leaf}},
    {"char_literal", {K::string, Action::leaf}},
    {"concatenated_string", {K::string, Action::leaf}},
    {"system_lib_string", {K::string, Action::leaf}},
    {"true", {K::constant, Action::leaf}},
    {"false", {K::constant, Action::leaf}},
    {"null", {K::constant, Action::leaf}},
    {"subscript_expression", {K::subscript}},
    {"subscript_argument_list", {K::other, Action::flatten}},
    {"binary_expression", {K::binary}},
    {"unary_expression", {K::unary}},
    {"pointer_expression", {K::unary}},
    {"update_expression", {K::aug_assign}},
    {"cast_expression", {K::other, Action::cast}},
    {"conditional_expression", {K::conditional}},
    {"parenthesized_expression", {K::other, Action::flatten}},
    {"expression_statement", {K::other, Action::flatten}},
    {"condition_clause", {K::other, Action::flatten}},
    {"assignment_expression", {K::assign}},
    {"return_statement", {K::return_}},
    {"throw_statement", {K::raise}},
    {"if_statement", {K::if_}},
    {"else_clause", {K::else_}},
    {"switch_statement", {K::if_}},
    {"case_statement", {K::elif_}},
    {"for_statement", {K::for_}},
    {"for_range_loop", {K::for_}},
    {"while_statement", {K::while_}},
    {"do_statement", {K::while_}},
    {"try_statement", {K::try_}},
    {"catch_clause", {K::except_}},
    {"initializer_list", {K::list}},
    {"preproc_include", {K::import}},
    {"break_statement", {K::leave, Action::leaf}},
    {"continue_statement", {K::leave, Action::leaf}},
    {"comment", {K::other, Action::skip}},
    {"preproc_def", {K::other, Action::skip}},
    {"preproc_function_def", {K::other, Action::skip}},
};

constexpr std::pair<const char*, Role> kRoles[] = {
    {"function", Role::callee},
    {"arguments", Role::argument},
    {"object", Role::object},
    {"left", Role::left},
    {"right", Role::right},
    {"key", Role::left},
    {"alias", Role::left},
    {"declarator", Role::left},
    {"condition", Role::condition},
    {"consequence", Role::consequence},
    {"alternative", Role::alternative},
    {"body", Role::body},
    {"value", Role::value},
    {"expression", Role::value},
    {"default_value", Role::value},
    {"initializer", Role::value},
    {"definition", Role::value},
    {"name", Role::name},
    {"type", Role::type},
    {"return_type", Role::type},
    {"parameters", Role::parameters},
    {"superclasses", Role::base},
    {"subscript", Role::index},
    {"indices", Role::index},
    {"argument", Role::object},
    {"scope", Role::object},
    {"path", Role::value},
    {"update", Role::none},
};

template <size_t N>
GrammarTables make(const TSLanguage* language, const Entry (&entries)[N]) {
  GrammarTables out;
  out.language = language;
  std::unordered_map<std::string_view, Spec> by_name;
  for (const Entry& e : entries) by_name[e.type] = e.spec;
  out.specs.resize(ts_language_symbol_count(language));
  for (uint32_t s = 0; s < out.specs.size(); ++s) {
    auto found = by_name.find(ts_language_symbol_name(language, static_cast<TSSymbol>(s)));
    if (found != by_name.end()) out.specs[s] = found->second;
  }
  std::unordered_map<std::string_view, Role> role_names(std::begin(kRoles), std::end(kRoles));
  out.roles.resize(ts_language_field_count(language) + 1, Role::none);
  for (uint32_t f = 1; f < out.roles.size(); ++f) {
    auto found =
        role_names.find(ts_language_field_name_for_id(language, static_cast<TSFieldId>(f)));
    if (found != role_names.end()) out.roles[f] = found->second;
  }
  auto field = [language](std::string_view name) {
    return ts_language_field_id_for_name(language, name.data(), static_cast<uint32_t>(name.size()));
  };
  out.operator_field = field("operator");
  out.operators_field = field("operators");
  out.attribute_field = field("attribute");
  out.field_field = field("field");
  out.name_field = field("name");
  return out;
}

}  // namespace

const GrammarTables& grammar_tables(Grammar grammar) {
  static const GrammarTables python = make(tree_sitter_python(), kPython);
  static const GrammarTables cuda = make(tree_sitter_cuda(), kCuda);
  return grammar == Grammar::python ? python : cuda;
}

}  // namespace stallscope

"""The statements that the rules' cases mark, made to run: names that stand for something become holes to be filled."""
import ast
import builtins
import pathlib
import re

import torch

from expected_lines import expected_lines

RULES = pathlib.Path(__file__).parents[2] / "rules"
# Attributes that a tensor has, and that say nothing of what its owner is.
PROPERTIES = {"shape", "device", "dtype", "ndim", "T", "mT", "data", "grad", "is_cuda", "requires_grad"}


def marked_statements(rule):
    """(file, line, statement, imports) of each Python line that a rule is expected to find."""
    for path in sorted((RULES / "cases" / rule).glob("fires*.py")):
        text = path.read_text()
        tree = ast.parse(text)
        imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))] + aliases(tree)
        for number, marked in expected_lines(path):
            if marked == rule:
                yield path, number, innermost(tree, number), imports


def aliases(tree):
    """Assignments such as Tensor = torch.cuda.FloatTensor, of names that mean one thing in the file."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    names = [node.targets[0].id for node in assigned]
    return [node for node in assigned if names.count(node.targets[0].id) == 1
            and isinstance(node.value, (ast.Attribute, ast.Name, ast.IfExp))]


def snippet_statements(rule, part):
    """The statements of the rule's own example: `part` is before or after."""
    text = (RULES / f"{rule}.yaml").read_text()
    found = re.search(rf"^  {part}: \|\n((?:    .*\n|\n)+)", text, re.M)
    if not found:
        return []
    try:
        return ast.parse("\n".join(line[4:] for line in found[1].splitlines())).body
    except SyntaxError:  # C++
        return []


def innermost(tree, line):
    found = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
            if found is None or node.end_lineno - node.lineno <= found.end_lineno - found.lineno:
                found = node
    return found


def is_entry(node):
    """batch["labels"], self.sums["loss"]: what lies in a dictionary, by its name."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)


def what_runs(statement):
    """The part of a statement that is executed at its line, as a statement whose result nobody needs."""
    def kept(expression):
        return ast.Expr(expression)
    if isinstance(statement, (ast.If, ast.While, ast.Assert)):
        return kept(ast.Call(ast.Name("bool", ast.Load()), [statement.test], []))
    if isinstance(statement, ast.For):
        return kept(statement.iter)
    if isinstance(statement, ast.With):
        return kept(statement.items[0].context_expr)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if isinstance(target, ast.Subscript) and not is_entry(target):
        return statement
    value = getattr(statement, "value", None)
    if isinstance(value, ast.Lambda):
        value = value.body
    elif isinstance(value, ast.Yield):
        value = value.value
    return kept(value) if value is not None else None


class Holes(ast.NodeTransformer):
    """Replaces what the statement is given by h0, h1, ...: `holes` maps the text of each to whether it is called."""

    def __init__(self, known, tensor_methods, bound):
        self.known, self.tensor_methods, self.bound = known, tensor_methods, bound
        self.holes = {}

    def hole(self, node, called=False):
        text = ast.unparse(node)
        self.holes[text] = self.holes.get(text, False) or called
        return ast.copy_location(ast.Name(f"h{list(self.holes).index(text)}", ast.Load()), node)

    def is_known(self, node):
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and (node.id in self.known or node.id in self.bound)

    def visit_Name(self, node):
        return node if self.is_known(node) or isinstance(node.ctx, ast.Store) else self.hole(node)

    def visit_Attribute(self, node):
        if self.is_known(node):
            return node
        if node.attr in PROPERTIES and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            node.value = self.visit(node.value)
            return node
        return self.hole(node)

    def visit_Subscript(self, node):
        return self.hole(node) if is_entry(node) else self.generic_visit(node)

    def visit_Call(self, node):
        function = node.func
        if isinstance(function, ast.Attribute) and not self.is_known(function):
            of_self = isinstance(function.value, ast.Name) and function.value.id == "self"
            if function.attr in self.tensor_methods and not of_self:
                function.value = self.visit(function.value)
            else:
                node.func = self.hole(function, called=True)
        elif not self.is_known(function):
            node.func = self.hole(function, called=True) if isinstance(function, ast.Name) else self.visit(function)
        node.args = [self.visit(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node


def names_bound_within(node):
    names = set()
    for each in ast.walk(node):
        if isinstance(each, ast.comprehension):
            names |= {name.id for name in ast.walk(each.target) if isinstance(name, ast.Name)}
        if isinstance(each, ast.Lambda):
            names |= {argument.arg for argument in each.args.args}
        if isinstance(each, ast.NamedExpr):
            names.add(each.target.id)
    return names


def imported(imports):
    """What the imports give that can be had here, and other names of types; others' names stay unknown."""
    space = {}
    for node in imports:
        try:
            exec(compile(ast.Module([node], []), "<imports>", "exec"), space)
        except Exception:
            continue
        if isinstance(node, ast.Assign) and not isinstance(space.get(node.targets[0].id), type):
            space.pop(node.targets[0].id, None)
    space.pop("__builtins__", None)
    return space


class Statement:
    """A statement with holes: `holes`, text to whether it is called; probe(*values) executes it. `compiled` does the
    same after other work, so that a graph is there that can end."""

    def __init__(self, statement, imports, tensor_methods):
        part = what_runs(statement)
        if part is None:
            raise ValueError("nothing runs at this line")
        self.space = imported(imports)
        known = set(self.space) | set(dir(builtins))
        holes = Holes(known, tensor_methods, names_bound_within(part))
        tree = ast.fix_missing_locations(ast.Module([holes.visit(part)], []))
        self.holes = holes.holes
        body = tree.body[0]
        arguments = ", ".join(f"h{i}" for i in range(len(self.holes)))
        self.probe = self.function(arguments, body)
        self.compiled = self.function(arguments, body, before="torch.ones(2).cumsum(0)")

    def function(self, arguments, body, before=None):
        text = f"def probe({arguments}):\n    before = {before}\n    result = None\n    return before, result"
        tree = ast.parse(text)
        place = 1 if isinstance(body, ast.Expr) else 2
        tree.body[0].body[place:2] = [ast.Assign([ast.Name("result", ast.Store())], body.value)
                                      if isinstance(body, ast.Expr) else body]
        space = {"torch": torch, **self.space}
        exec(compile(ast.fix_missing_locations(tree), "<case>", "exec"), space)
        return space["probe"]

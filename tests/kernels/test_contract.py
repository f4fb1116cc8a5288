"""The written contract of kernels, read from their source.

Kernels are functions under ``@kernel``. One with a parameter ``*_out`` works on arrays; any other is a scalar
helper.
"""

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "kernels"
ROW = re.compile(r"^(\w+) +\(((?:\w+(?:, ?\w+)*,?)?)\) +(\w+) +(\S+) +(\S.*)$")
DTYPES = {"f4", "f8", "i4", "i8", "u1", "b1"}
# Functions of scalars. Whatever else NumPy offers may allocate.
CONVERSIONS = {"float32", "float64", "int32", "int64", "uint8", "uint32", "uint64"}
NUMPY_SCALAR = CONVERSIONS | {"bool_", "isfinite", "isinf", "isnan", "floor", "ceil", "rint"}
ALLOCATING = (
    ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.JoinedStr,
)  # fmt: skip
NOT_A_KERNEL = (
    ast.Lambda, ast.FunctionDef, ast.ClassDef, ast.Raise, ast.Try, ast.With, ast.Assert, ast.Global,
    ast.Nonlocal, ast.Yield, ast.Starred, ast.Import, ast.ImportFrom,
)  # fmt: skip


def parameters(function):
    return [argument.arg for argument in function.args.args]


def outputs(function):
    return [name for name in parameters(function) if name.endswith("_out")]


def kernels_of(tree):
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [f for f in functions if any(ast.unparse(d) == "kernel" for d in f.decorator_list)]


def root(node):
    """The name an expression is a view of, or None where it is a value of its own."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def bindings(function):
    """Pairs of local name and the expression bound to it; tuples are taken apart."""

    def pair(target, value):
        if isinstance(target, ast.Tuple):
            parts = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            for t, v in zip(target.elts, parts, strict=True):
                yield from pair(t, v)
        elif isinstance(value, ast.IfExp):
            yield from pair(target, value.body)
            yield from pair(target, value.orelse)
        elif isinstance(target, ast.Name):
            yield target.id, value

    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from pair(target, node.value)
        elif isinstance(node, ast.NamedExpr | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            yield from pair(node.target, node.value)


def origins(function):
    """For every name the parameters it may be a view of; a value of its own is the origin None."""
    found = {name: {name} for name in parameters(function)}
    pairs = list(bindings(function))
    for _ in range(len(pairs) + 1):
        before = {name: set(where) for name, where in found.items()}
        for name, value in pairs:
            source = root(value)
            found.setdefault(name, set()).update(found.get(source, set()) if source else {None})
        if found == before:
            return found
    return found


def stored_names(function):
    """Roots of all subscripts that are stored to or deleted."""
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield root(node), node.lineno


def table_faults(function):
    text = ast.get_docstring(function)
    if text is None:
        return ["has no docstring"]
    lines = text.split("\n")
    if not outputs(function):
        return []
    if len(lines) < 3 or lines[1].strip():
        return ["needs a first line, a blank line and the table"]
    rows = []
    for line in lines[2:]:
        if not line.strip():
            break
        match = ROW.match(line)
        if match is None:
            return [f"table row must be 'name  (shape)  dtype  unit  meaning', got {line!r}"]
        rows.append(match)
    faults = [f"dtype must be one of {sorted(DTYPES)}, got {r[3]!r}" for r in rows if r[3] not in DTYPES]
    names = [r[1] for r in rows]
    if names != parameters(function):
        faults.append(f"table rows must be the parameters {parameters(function)}, got {names}")
    faults += [f"{r[1]}: an output must be an array" for r in rows if r[1].endswith("_out") and not r[2]]
    return faults


def signature_faults(function):
    a = function.args
    faults = []
    if a.defaults or a.kw_defaults or a.vararg or a.kwarg or a.kwonlyargs or a.posonlyargs:
        faults.append("must take plain positional parameters without defaults")
    names, out = parameters(function), outputs(function)
    if out and names[-len(out) - 2 :] != ["start", "stop", *out]:
        faults.append(f"parameters must end with start, stop and the outputs, got {names}")
    return faults


def store_faults(function, registry):
    where = origins(function)
    allowed = set(outputs(function))
    faults = []
    for name, line in stored_names(function):
        if not where.get(name) or not where[name] <= allowed:
            faults.append(f"line {line}: only outputs are stored to, got {name}")
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        # An array handed to another kernel as its output is stored to by this one.
        for parameter, argument in zip(registry.get(node.func.id, []), node.args, strict=False):
            if parameter.endswith("_out") and not (where.get(root(argument)) or {None}) <= allowed:
                faults.append(f"line {node.lineno}: {ast.unparse(argument)} is stored to by {node.func.id}")
    return faults


def allocation_faults(function):
    faults = []
    # Docstring and decorator aside.
    for node in (inner for statement in function.body for inner in ast.walk(statement)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ALLOCATING):
            faults.append(f"line {line}: allocates a {type(node).__name__}")
        elif isinstance(node, NOT_A_KERNEL):
            faults.append(f"line {line}: {type(node).__name__} does not belong in a kernel")
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if node.keywords:
                faults.append(f"line {line}: {name} is called with keywords")
            if isinstance(node.func, ast.Attribute):
                module = ast.unparse(node.func.value)
                if module != "math" and not (module == "np" and node.func.attr in NUMPY_SCALAR):
                    faults.append(f"line {line}: {name} may allocate or work in place")
            elif name in {"list", "dict", "set", "tuple", "sorted", "zip", "map", "filter", "print", "open"}:
                faults.append(f"line {line}: {name} does not belong in a kernel")
    return faults


def is_float(node, float_names):
    """Whether an expression is a Python float: a literal, one of the names, or arithmetic with one."""
    if isinstance(node, ast.UnaryOp):
        return is_float(node.operand, float_names)
    if isinstance(node, ast.BinOp):
        return is_float(node.left, float_names) or is_float(node.right, float_names)
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) in {"math.pi", "math.e", "math.tau", "math.inf", "np.pi", "np.e", "np.inf"}
    if isinstance(node, ast.Name):
        return node.id in float_names
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def float_constants(tree):
    """Module names bound to Python floats, which a kernel would read as float64."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and is_float(node.value, found):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return found


def doubles(function):
    """Local names that are float64 on purpose: f8 parameters and what np.float64(...) flows into."""
    lines = (ast.get_docstring(function) or "").split("\n")
    found = {match[1] for match in map(ROW.match, lines) if match and match[3] == "f8"}
    pairs = list(bindings(function))
    for _ in pairs:
        found |= {name for name, value in pairs if is_double(value, found)}
    return found


def is_double(node, double_names):
    if isinstance(node, ast.Name):
        return node.id in double_names
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).removeprefix("np.")
        if name in CONVERSIONS:
            return name == "float64"
    elif not isinstance(node, ast.BinOp | ast.UnaryOp | ast.IfExp):
        return False
    return any(is_double(child, double_names) for child in ast.iter_child_nodes(node))


def float_faults(function, float_names):
    """A Python float in arithmetic turns float32 into float64 and halves the width of the vector code."""
    faults = []
    double_names = doubles(function)

    def visit(node):
        if isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix("np.") in CONVERSIONS:
            return
        operands = []
        if isinstance(node, ast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, ast.AugAssign):
            operands = [node.target, node.value]
        elif isinstance(node, ast.IfExp):
            operands = [node.body, node.orelse]
        elif isinstance(node, ast.Call):
            operands = node.args
        elif isinstance(node, ast.Return) and node.value is not None:
            operands = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for operand in operands:
            direct = not isinstance(operand, ast.BinOp)
            meant = any(is_double(other, double_names) for other in operands)
            if direct and is_float(operand, float_names) and not meant:
                faults.append(f"line {operand.lineno}: {ast.unparse(operand)} must stand in np.float32(...)")
        for child in ast.iter_child_nodes(node):
            visit(child)

    for statement in function.body:
        visit(statement)
    return faults


def helper_faults(function):
    """Scalar helpers know no arrays and give something back."""
    if outputs(function):
        return []
    faults = [
        f"line {n.lineno}: a scalar helper must not index"
        for n in ast.walk(function)
        if isinstance(n, ast.Subscript)
    ]
    if not any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(function)):
        faults.append("must have an output or return something")
    return faults


def faults_of(function, registry, float_names):
    return [
        *table_faults(function),
        *signature_faults(function),
        *store_faults(function, registry),
        *allocation_faults(function),
        *float_faults(function, float_names),
        *helper_faults(function),
    ]


TREES = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.py"))}
KERNELS = {f"{stem}.{f.name}": (stem, f) for stem, tree in TREES.items() for f in kernels_of(tree)}
REGISTRY = {function.name: parameters(function) for _, function in KERNELS.values()}


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_keeps_the_contract(name):
    stem, function = KERNELS[name]
    assert faults_of(function, REGISTRY, float_constants(TREES[stem])) == []


def test_kernels_were_found():
    assert {"fk.forward", "quat.quat_mul", "quat_rows.quat_mul_rows"} <= KERNELS.keys()


@pytest.mark.parametrize("stem", TREES)
def test_numba_is_named_only_in_jit(stem):
    modules = set()
    for node in ast.walk(TREES[stem]):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            modules.add(node.module.split(".")[0])
    assert stem == "jit" or "numba" not in modules


@pytest.mark.parametrize("stem", TREES)
def test_kernel_is_the_only_decorator(stem):
    for function in kernels_of(TREES[stem]):
        assert [ast.unparse(d) for d in function.decorator_list] == ["kernel"]


GOOD = '''
@kernel
def scale(values, factor, start, stop, values_out):
    """Scale values.

    values      (M, C, N)  f4  m  any
    factor      ()         f8  1  a number
    start       ()         i8  1  first row
    stop        ()         i8  1  one past the last row
    values_out  (M, C, N)  f4  m  scaled

    More text.
    """
    f = np.float32(factor)
    for m in range(values.shape[0]):
        a, b = values[m], values_out[m]
        for c in range(3):
            v, o = a[c, start:stop], b[c, start:stop]
            for i in range(stop - start):
                o[i] = v[i] * f + HALF
'''


def check(source, constants="HALF = np.float32(0.5)"):
    tree = ast.parse(f"{constants}\n{source}")
    (function,) = kernels_of(tree)
    registry = {"scale": ["values", "factor", "start", "stop", "values_out"]}
    return faults_of(function, registry, float_constants(tree))


def test_checker_accepts_a_good_kernel():
    assert check(GOOD) == []


BAD = {
    "store to an input": ("o[i] = v[i]", "v[i] = v[i]"),
    "store to a slice of an input": ("o[i] = v[i]", "a[c, i] = v[i]"),
    "store that adds": ("o[i] = v[i]", "a[c, i] += v[i]"),
    "store to one of two by condition": (
        "v, o = a[c, start:stop], b[c, start:stop]",
        "v = a[c, start:stop]\n            o = b[c, start:stop] if c else a[c, start:stop]",
    ),
    "store through a tuple": ("o[i] = v[i]", "o[i], v[i] = f, v[i]"),
    "store to a fresh array": ("o[i] = v[i]", "f2 = g(v)\n                f2[i] = v[i]"),
    "input as another kernel's output": (
        "o[i] = v[i]",
        "scale(v, f, start, stop, v)\n                o[i] = v[i]",
    ),
    "np.zeros": ("a, b = values[m], values_out[m]", "a, b = np.zeros(3), values_out[m]"),
    "method": ("a, b = values[m], values_out[m]", "a, b = values[m].copy(), values_out[m]"),
    "fill": ("a, b = values[m], values_out[m]", "a, b = values[m], values_out[m]\n        b.fill(f)"),
    "list": ("f = np.float32(factor)", "f = [factor][0]"),
    "comprehension": ("f = np.float32(factor)", "f = sum(x for x in values)"),
    "f-string": ("f = np.float32(factor)", "f = f'{factor}'"),
    "keyword argument": ("f = np.float32(factor)", "f = g(x=factor)"),
    "raise": ("f = np.float32(factor)", "f = np.float32(factor)\n    if stop < start: raise ValueError"),
    "default": ("values_out):", "values_out=None):"),
    "varargs": ("values_out):", "values_out, *rest):"),
    "output not last": ("start, stop, values_out):", "values_out, start, stop):"),
    "float literal": ("+ HALF", "+ 0.5"),
    "float literal in the middle": ("v[i] * f + HALF", "v[i] * 0.5 * f"),
    "negative float literal": ("+ HALF", "+ -0.5"),
    "float literal in min": ("+ HALF", "+ min(f, 1.0)"),
    "float literal of a condition": ("+ HALF", "+ (f if c else 0.0)"),
    "math.pi": ("+ HALF", "+ math.pi"),
    "row missing": ("    factor      ()         f8  1  a number\n", ""),
    "row renamed": ("    factor      ()", "    factors     ()"),
    "row without unit": ("(M, C, N)  f4  m  any", "(M, C, N)  f4"),
    "dtype unknown": ("f4  m  any", "float32  m  any"),
    "output as a scalar": ("values_out  (M, C, N)", "values_out  ()       "),
    "no blank line": ("Scale values.\n\n", "Scale values.\n"),
    "no docstring": (GOOD[GOOD.index('"""') : GOOD.rindex('"""') + 3], ""),
}


@pytest.mark.parametrize("name", BAD)
def test_checker_catches(name):
    good, bad = BAD[name]
    assert GOOD.count(good) == 1
    assert check(GOOD.replace(good, bad)) != []


def test_checker_catches_float_constants_of_the_module():
    assert check(GOOD, "HALF = 0.5") != []
    assert check(GOOD, "HALF = -math.pi / 2") != []


@pytest.mark.parametrize(
    "body",
    ["return values[0]", "x = x + x", "return 0.5 * x", "return 1.0, x", "y = x\n    y *= 2.0\n    return y"],
)
def test_checker_catches_bad_helpers(body):
    source = f'@kernel\ndef helper(x, values):\n    """Return something."""\n    {body}\n'
    assert check(source) != []


def test_checker_accepts_float64_where_it_is_asked_for():
    body = "t = np.float64(x) + y\n    u = t if t > 0.0 else 0.0\n    return np.float32(min(u, 2.0) * 0.5)"
    assert check(f'@kernel\ndef helper(x, y):\n    """Return half."""\n    {body}\n') == []

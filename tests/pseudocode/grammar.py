"""The language of AMD's pseudo-code: tokens, and a parser to a tree.

Statements are parted by semicolons; newlines are blanks and // begins a comment. Operators bind as in C, `**` above
them, and an assignment is an expression.
"""

import re
from typing import Any

from tests.pseudocode import reals
from tests.pseudocode.tree import (
    Assignment,
    Binary,
    Break,
    Call,
    Cast,
    Concatenation,
    Conditional,
    Declaration,
    For,
    Function,
    If,
    Index,
    Member,
    Name,
    Number,
    Return,
    Slice,
    SliceUp,
    Unary,
)
from tests.pseudocode.values import Type, Value, of_integer, of_real


class PseudoCodeError(Exception):
    """The text is no pseudo-code (some entries are prose), or asks for what the interpreter lacks."""


_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*)
    |(?P<text>"[^"]*")
    |(?P<type>\d+'(?:BF|[UIBF])(?![A-Za-z0-9_]))
    |(?P<number>(?:\d+')?(?:0x[0-9a-fA-F]+|\d+\.\d+|\d+)(?:ULL|LL|U|F)?)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<operator>\*\*|<<|>>|<=|>=|==|!=|<>|&&|\|\||\+=|-=|\+:|[-+*/%<>=!~&|^?:;,.(){}\[\]])""",
    re.VERBOSE,
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!=", "<>"),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
    ("**",),
)
_BLOCK_ENDS = ("endif", "endfor", "else", "elsif", ")", "")


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise PseudoCodeError(f"no token at {text[at : at + 20]!r}")
        assert match.lastgroup is not None
        if match.lastgroup != "blank":
            found.append((match.lastgroup, match[0]))
        at = match.end()
    return found


def _number(text: str) -> Value:
    width_text, quote, digits = text.rpartition("'")
    width = int(width_text) if quote else 0
    if digits.startswith("0x"):
        stem = digits.rstrip("UL")
        return of_integer(
            ("u" if "U" in digits else "b", width or (64 if digits.endswith("LL") else 32)), int(stem, 16)
        )
    if "." in digits:
        real = reals.from_float(float(digits.rstrip("F")))
        return of_real(("f", width or (32 if digits.endswith("F") else 64)), real)
    stem = digits.rstrip("ULF")
    return of_integer(("u" if "U" in digits else "i", width or (64 if digits.endswith("LL") else 32)), int(stem))


def _type(text: str) -> Type:
    width, _, letters = text.partition("'")
    return letters.lower(), int(width)


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at][1] if at < len(self._tokens) else ""

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        text = self._peek()
        self._at += 1
        return text

    def _accept(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self._at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise PseudoCodeError(f"{text!r} expected, not {' '.join(t for _, t in self._tokens[self._at :][:5])!r}")

    def program(self) -> tuple[Any, ...]:
        body = self._block()
        if self._peek():
            raise PseudoCodeError(f"unexpected {self._peek()!r}")
        return body

    def _block(self) -> tuple[Any, ...]:
        body = []
        while True:
            while self._accept(";"):
                pass
            if self._peek() in _BLOCK_ENDS:
                return tuple(body)
            statement = self._statement()
            if statement is not None:
                body.append(statement)
            if self._peek() not in (";", *_BLOCK_ENDS):
                raise PseudoCodeError(f"a statement does not end at {self._peek()!r}")

    def _statement(self) -> Any:
        word = self._peek()
        if self._kind() == "text":
            self._next()
            return None
        if word == "if":
            return self._if()
        if word == "for":
            return self._for()
        if word == "declare":
            return self._declaration()
        if word == "break":
            self._next()
            return Break()
        if word == "return":
            self._next()
            return Return(self._expression())
        if self._kind() == "name" and self._peek(1) == "=" and self._peek(2) == "lambda":
            return self._function()
        return self._expression()

    def _if(self) -> If:
        cases, otherwise, word = [], (), self._next()
        while word in ("if", "elsif"):
            condition = self._expression()
            self._expect("then")
            cases.append((condition, self._block()))
            word = self._next()
        if word == "else":
            otherwise, word = self._block(), self._next()
        if word != "endif":
            raise PseudoCodeError("an if does not end")
        return If(tuple(cases), otherwise)

    def _for(self) -> For:
        self._next()
        name = self._next()
        self._expect("in")
        first = self._conditional()
        self._expect(":")
        last = self._conditional()
        self._expect("do")
        body = self._block()
        self._expect("endfor")
        return For(name, first, last, body)

    def _declaration(self) -> Declaration:
        self._next()
        name = self._next()
        self._expect(":")
        if self._kind() != "type":
            raise PseudoCodeError("a type expected")
        type_, count = _type(self._next()), None
        if self._accept("["):
            count = int(self._next())
            self._expect("]")
        return Declaration(name, type_, count)

    def _function(self) -> Function:
        name = self._next()
        self._at += 2
        self._expect("(")
        parameters = [self._next()]
        while self._accept(","):
            parameters.append(self._next())
        self._expect(")")
        self._expect("(")
        body = self._block()
        self._expect(")")
        if len(body) == 1 and not isinstance(body[0], (If, Return)):
            body = (Return(body[0]),)
        return Function(name, tuple(parameters), body)

    def _expression(self) -> Any:
        left = self._conditional()
        if self._accept("="):
            return Assignment(left, "", self._expression())
        if self._peek() in ("+=", "-="):
            return Assignment(left, self._next()[0], self._expression())
        return left

    def _conditional(self) -> Any:
        condition = self._binary(0)
        if not self._accept("?"):
            return condition
        yes = self._conditional()
        self._expect(":")
        return Conditional(condition, yes, self._conditional())

    def _binary(self, level: int) -> Any:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._kind() == "operator" and self._peek() in _LEVELS[level]:
            left = Binary(self._next(), left, self._binary(level + 1))
        return left

    def _unary(self) -> Any:
        if self._kind() == "operator" and self._peek() in ("-", "+", "~", "!"):
            return Unary(self._next(), self._unary())
        return self._postfix()

    def _postfix(self) -> Any:
        node = self._primary()
        while True:
            if self._accept("."):
                node = Member(node, self._next())
            elif self._accept("["):
                node = self._subscript(node)
            else:
                return node

    def _subscript(self, base: Any) -> Any:
        first = self._conditional()
        node: Any = Index(base, first)
        if self._accept(":"):
            node = Slice(base, first, self._conditional())
        elif self._accept("+:"):
            node = SliceUp(base, first, self._conditional())
        self._expect("]")
        return node

    def _primary(self) -> Any:
        kind, text = self._kind(), self._next()
        if kind == "number":
            return Number(_number(text))
        if kind == "type":
            self._expect("(")
            argument = self._expression()
            self._expect(")")
            return Cast(_type(text), argument)
        if kind == "name":
            if self._accept("("):
                return Call(text, self._list(")"))
            return Name(text)
        if text == "(":
            node = self._expression()
            self._expect(")")
            return node
        if text == "{":
            return Concatenation(self._list("}"))
        raise PseudoCodeError(f"unexpected {text!r}")

    def _list(self, end: str) -> tuple[Any, ...]:
        items: list[Any] = []
        while not self._accept(end):
            items.append(self._expression())
            if self._peek() != end:
                self._expect(",")
        return tuple(items)


def parse(text: str) -> tuple[Any, ...]:
    """The statements of a piece of pseudo-code. Raises PseudoCodeError."""
    return _Parser(text).program()

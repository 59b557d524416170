"""Reads calls as the documentation writes them, and prints those whose arguments do not fit."""

import ast, inspect, json, sys

import cardpress_client

wrong = []
for text in json.load(sys.stdin):
    call = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
    method = getattr(cardpress_client.Cardpress, name, None)
    target = method or getattr(cardpress_client, name)
    own = [None] if method else []
    try:
        inspect.signature(target).bind(*own, *call.args, **{one.arg: one.value for one in call.keywords})
    except TypeError as fault:
        # What stands for the rest is not written out.
        if not any(isinstance(one.value, ast.Constant) and one.value.value is ... for one in call.keywords):
            wrong.append(f"{text}: {fault}")
print(json.dumps(wrong))

"""apart.py - for machine_code.py: which votes in what nvdisasm -c prints would take their mask from
one lane where lanes may have parted since it was taken. SPDX-License-Identifier: Apache-2.0

BRA.DIV, in front of votes and shuffles, asks whether the lanes of a mask are together. Its mask is a
literal; or has a predicate in front, by which lanes with another mask go elsewhere; or is that of one
lane, copied by R2UR. The last is right if no lane can have left since a vote made the mask: on the
ways from there to BRA.DIV no lane yields, nothing is called, and nothing is added or stored behind a
branch, as some lanes do for others."""
import re

WRITES = ("RED.", "REDG.", "ATOM", "ST.", "STG.", "STS")
LEAVES = ("YIELD", "CALL", "RET")
TOGETHER, BEHIND_BRANCH, PARTED = range(3)
# Of PLOP3: of three inputs that are true each table gives its bit 7, to a predicate of its own.
CONSTANT = re.compile(r"(P\w), (P\w), PT, PT, PT, (0x[0-9a-f]+), (0x[0-9a-f]+)$")


def read(lines):
    """{function: [(address, guard, operation, operands)]}, and labels as (name, "", "", [""])"""
    functions, body = {}, []
    for line in lines:
        line = re.sub(r"/\* 0x[0-9a-f]+ \*/", "", line)
        function = re.match(r"\.text\.(\S+):", line)
        label = re.match(r"(\.L_x_\d+):", line)
        code = re.match(r"\s*/\*([0-9a-f]+)\*/\s+(?:@(!?U?P\d)\s+)?(\S+)\s*(.*?)\s*(?:;|\?.*;)", line)
        if function:
            body = functions.setdefault(function[1], [])
        elif label:
            body.append((label[1], "", "", [""]))
        elif code:
            operands = [operand.strip() for operand in code[4].split(",")]
            body.append((code[1], code[2] or "", code[3], operands))
    return functions


def ways_on(body, labels, i, known):
    """Where instruction i may go on; known: predicates that are constants."""
    _, guard, operation, operands = body[i]
    taken = known.get(guard.lstrip("!"), None)
    taken = None if taken is None else taken != guard.startswith("!")
    if operation in ("EXIT", "BRX") or operation.startswith("RET"):
        return [i + 1] if guard and not taken else []
    if not operation.startswith("BRA"):
        return [i + 1]
    target = labels.get(operands[-1].strip("`()"))
    always = not guard and operation not in ("BRA.DIV", "BRA.CONV") and "P" not in operands[0][:3]
    ways = [] if target is None or taken is False else [target]
    return ways if always or taken else ways + [i + 1]


def masks(body):
    """{index of a BRA.DIV: the register of its mask}; None: a literal, or of each lane"""
    found, uniform = {}, {}
    for i, (_, guard, operation, operands) in enumerate(body):
        if operation in ("BRA.DIV", "BRA.CONV"):
            is_known = guard or not operands[0].startswith("UR")  # whole warps, ~URZ
            found[i] = None if is_known else uniform.get(operands[0], "?")
        elif operation == "R2UR":
            uniform[operands[0]] = operands[1].split(".")[0]
        elif operation.startswith("VOTEU"):
            uniform[operands[0]] = operands[0]
        elif operands[0].startswith("UR"):
            uniform[operands[0]] = None if operands[-1] == "0xffffffff" else "?"
    return found


def parted(body, mask, uses):
    """Those of `uses` that lanes may reach after they have parted, or with no vote's mask."""
    labels = {name: i for i, (name, _, operation, _) in enumerate(body) if not operation}
    makes = [i for i, (_, _, operation, operands) in enumerate(body)
             if operation.startswith("VOTE") and operands[0] == mask]
    ways, seen, together, apart = [(i + 1, TOGETHER, ()) for i in makes], set(), set(), set()
    while ways:
        state = ways.pop()
        i, lanes, known = state
        if state in seen or i >= len(body):
            continue
        seen.add(state)
        _, guard, operation, operands = body[i]
        if i in uses:
            (apart if lanes == PARTED else together).add(i)
        if i in makes:
            continue
        predicates = dict(known)
        for operand in operands[:2]:
            predicates.pop(operand, None)
        constant = operation == "PLOP3.LUT" and CONSTANT.match(", ".join(operands))
        if constant and not guard:
            predicates.update({constant[i]: bool(int(constant[i + 2], 16) & 0x80) for i in (1, 2)})
        on = ways_on(body, labels, i, predicates)
        writes = operation.startswith(WRITES) and lanes == BEHIND_BRANCH
        if writes or operation.startswith(LEAVES):
            lanes = PARTED
        elif len(on) > 1 and operation == "BRA":
            lanes = max(lanes, BEHIND_BRANCH)
        ways += [(way, lanes, tuple(sorted(predicates.items()))) for way in on]
    return [use for use in uses if use in apart or use not in together]


def check(text):
    """An error, or none; prints what it has read."""
    one_lane = others = 0
    failed = []
    for name, body in read(text.splitlines()).items():
        found = masks(body)
        others += sum(mask is None for mask in found.values())
        for mask in set(found.values()) - {None}:
            uses = [i for i, its in found.items() if its == mask]
            one_lane += len(uses)
            failed += [f"{name} at {body[i][0]}: {mask}" for i in parted(body, mask, uses)]
    print(f"{others} masks are literal or of each lane, {one_lane} of one lane")
    if one_lane + others == 0:
        return "no mask at all"
    return failed and "\n".join(["lanes may have parted before a mask of one:", *failed[:10]])

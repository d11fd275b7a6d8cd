#!/usr/bin/env python3
"""Write a session of a given size: a long talk with tool calls, a fork now and then, ids as pi makes them.

The same arguments always give the same file.
"""
import argparse
import random

TIME = 1_764_547_200
WORDS = (
    "the parser reads a line and hands every value to the tree which keeps its place in the file so that "
    "nothing is copied twice and an error names the byte it stands on whatever came before it"
).split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--bytes", type=int, default=1 << 30, help="size of the whole file, about")
    parser.add_argument("--cwd", default="/home/user/project")
    options = parser.parse_args()
    with open(options.file, "w", encoding="utf-8", buffering=1 << 20) as file:
        file.writelines(lines(options.entries, options.bytes // options.entries, options.cwd))


def lines(entries, size, cwd):
    """The header and the entries, each of about `size` bytes."""
    dice = random.Random(1)
    stock = [prose(dice, max(20, size - 330)) for _ in range(64)]
    yield f'{{"type":"session","version":3,"id":"bench","timestamp":"{iso(0)}","cwd":"{cwd}"}}\n'
    parent, before = "null", ["null"]
    for number in range(entries):
        if number % 10_000 == 9_999:
            parent = before[0]
        own = f'"{number * 2_654_435_761 % (1 << 32):08x}"'
        yield entry(number, own, parent, stock[dice.randrange(64)])
        if number % 1_000 == 0:
            before = [own]
        parent = own


def entry(number, own, parent, text):
    """A question, a reply with a call, a result, and so on."""
    head = f'{{"type":"message","id":{own},"parentId":{parent},"timestamp":"{iso(number)}","message":'
    stamp = (TIME + number) * 1000
    if number % 3 == 0:
        return f'{head}{{"role":"user","content":"{text}","timestamp":{stamp}}}}}\n'
    if number % 3 == 1:
        usage = (
            '"usage":{"input":1200,"output":80,"cacheRead":9000,"cacheWrite":10,"totalTokens":10290,'
            '"cost":{"input":0.0012,"output":0.0004,"cacheRead":0.0009,"cacheWrite":0,"total":0.0025}}'
        )
        blocks = (
            f'[{{"type":"text","text":"{text}"}},{{"type":"toolCall","id":"call_{number}","name":"read",'
            f'"arguments":{{"path":"src/{number}.rs","limit":200}}}}]'
        )
        return (
            f'{head}{{"role":"assistant","content":{blocks},"api":"anthropic-messages","provider":"anthropic",'
            f'"model":"bench",{usage},"stopReason":"toolUse","timestamp":{stamp}}}}}\n'
        )
    return (
        f'{head}{{"role":"toolResult","toolCallId":"call_{number - 1}","toolName":"read",'
        f'"content":[{{"type":"text","text":"{text}"}}],"isError":false,"timestamp":{stamp}}}}}\n'
    )


def prose(dice, size):
    """Words with the escapes and letters of real texts among them."""
    words = []
    length = 0
    while length < size:
        word = dice.choice(WORDS)
        words.append(dice.choice(["\\n", '\\"', "\\t", "é", "→"]) + word if dice.random() < 0.1 else word)
        length += len(words[-1]) + 1
    return " ".join(words)[:size].rstrip("\\")


def iso(number):
    day, second = divmod(number, 86_400)
    hours, minutes = second // 3600, second // 60 % 60
    return f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T{hours:02d}:{minutes:02d}:{second % 60:02d}.000Z"


if __name__ == "__main__":
    main()

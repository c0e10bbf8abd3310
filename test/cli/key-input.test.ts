import { describe, expect, test } from "vitest";
import { InputLine, type KeyCommand, KeyInput } from "../faces/cli.ts";

/** Slow enough for single keys, in ms. */
const SLOWLY_MS = 1_000;

interface Typist {
  readonly input: KeyInput;
  /** Sends one chunk, so many milliseconds after the one before. */
  readonly type: (chunk: string, afterMs?: number) => readonly KeyCommand[];
}

function typist(confirmed: readonly string[] = []): Typist {
  const input = new KeyInput({
    needsConfirmation: (key) => (confirmed.includes(key) ? "do harm" : undefined),
  });
  let now = 0;
  const type = (chunk: string, afterMs = SLOWLY_MS) => {
    now += afterMs;
    return input.take(chunk, now);
  };
  return { input, type };
}

const kinds = (commands: readonly KeyCommand[]) => commands.map(({ kind }) => kind);

describe("single keys", () => {
  test.each(["l", "r", "o", "w", "?", "h", "q", "x", "L"])("%s is pressed", (key) => {
    expect(typist().type(key)).toEqual([{ kind: "press", key }]);
  });

  test("Ctrl-C quits, also in a chunk and in a line, and Ctrl-L clears the screen", () => {
    expect(kinds(typist().type("\u0003"))).toEqual(["quit"]);
    expect(kinds(typist().type("ab\u0003"))).toEqual(["quit"]);
    const { type } = typist();
    type("d");
    expect(kinds(type("\u0003"))).toEqual(["quit"]);
    expect(kinds(typist().type("\u000c"))).toEqual(["clear"]);
  });

  test("no other control character and no sequence is a key", () => {
    const codes = Array.from({ length: 0x20 }, (_, code) => code).concat(0x7f, 0x9b);
    const controls = codes.filter((code) => code !== 0x03 && code !== 0x0c);
    for (const code of controls) expect(typist().type(String.fromCharCode(code))).toEqual([]);
    for (const sequence of ["\u001b[A", "\u001bOP", "\u001bw", "\u001b[119;5u"]) {
      expect(typist().type(sequence)).toEqual([]);
    }
  });
});

describe("an accidental word", () => {
  test("that is pasted does nothing, and says so", () => {
    for (const word of ["follow", "quit", "ww", "l\n", "\u0017w", "\r\n"]) {
      expect(kinds(typist().type(word))).toEqual(["say"]);
    }
  });

  test("that is typed quickly does no more than its first key, and says so once", () => {
    const { type } = typist(["w", "f"]);
    const commands = [...type("h"), ...[..."ello wwffq"].flatMap((key) => type(key, 90))];
    expect(commands).toEqual([
      { kind: "press", key: "h" },
      { kind: "say", text: expect.stringContaining("?") },
    ]);
    expect(kinds(type("l"))).toEqual(["press"]);
  });

  test("is one command for a character of two code units", () => {
    expect(kinds(typist().type("😀"))).toEqual(["press"]);
  });
});

describe("a key that does harm", () => {
  test("acts at its second press, quick or slow", () => {
    for (const afterMs of [50, 4_000]) {
      const { type } = typist(["w"]);
      expect(type("w")).toEqual([{ kind: "say", text: "Press w again to do harm." }]);
      expect(type("w", afterMs)).toEqual([{ kind: "press", key: "w" }]);
      expect(kinds(type("w"))).toEqual(["say"]);
    }
  });

  test("asks again after another key, and after a while", () => {
    const { type } = typist(["w"]);
    type("w");
    type("l");
    expect(kinds(type("w"))).toEqual(["say"]);
    expect(kinds(type("w", 6_000))).toEqual(["say"]);
  });
});

describe("a text", () => {
  const typed = (...chunks: readonly string[]) => {
    const { input, type } = typist();
    type("d");
    return { line: input.line, commands: chunks.flatMap((chunk) => type(chunk, 5)), input };
  };

  test("is asked for, typed, and sent by Enter", () => {
    const { line, commands, input } = typed("h", "i", " ", "w", "q", "\r");
    expect(line).toContain("dm as @ada");
    expect(commands).toEqual([{ kind: "send", key: "d", text: "hi wq" }]);
    expect(input.line).toBeUndefined();
  });

  test("can be pasted: several lines are one message, and control characters are left out", () => {
    const send = (text: string) => [{ kind: "send", key: "d", text }];
    expect(typed("hello\r").commands).toEqual(send("hello"));
    expect(typed("one\ntwo\u0007\tthree", "\n").commands).toEqual(send("one two three"));
  });

  test("can be corrected", () => {
    const { input } = typed("ab😀", "\u007f", "\u007f", "c");
    expect(input.line).toMatch(/: ac$/);
    expect(typed("abc", "\u0015", "d", "\r").commands).toMatchObject([{ text: "d" }]);
    expect(typed("a", "\u001b[D", "b", "\r").commands).toMatchObject([{ text: "ab" }]);
  });

  test.each([
    ["Esc", ["h", "i", "\u001b"]],
    ["Enter without a text", ["\r"]],
    ["Enter after blanks", [" ", "\r"]],
  ])("is cancelled by %s", (_name, chunks) => {
    const { commands, input } = typed(...chunks);
    expect(kinds(commands)).toEqual(["say"]);
    expect(input.line).toBeUndefined();
  });

  test("that goes on after Enter is no command", () => {
    const { type } = typist();
    for (const chunk of ["m", "hi\r"]) type(chunk);
    expect(kinds(type("w", 10))).toEqual(["say"]);
  });
});

describe("the line below the output", () => {
  /** A terminal of 20 columns: what it shows in its lines, the last one being the line of input. */
  function screen() {
    const lines = [""];
    const overwrite = (text: string) => void lines.splice(-1, 1, text);
    const print = (text: string) => void lines.push(`${lines.pop() ?? ""}${text}`, "");
    return { lines, print, line: new InputLine({ overwrite, columns: () => 20 }) };
  }

  test("stays there while other lines are printed, and goes when it is done", () => {
    const { lines, print, line } = screen();
    line.show("dm: h");
    line.printAbove(() => print("a delivery"));
    line.show("dm: hi");
    line.printAbove(() => print("an answer"));
    expect(lines).toEqual(["a delivery", "an answer", "dm: hi"]);
    line.show(undefined);
    line.printAbove(() => print("more"));
    expect(lines).toEqual(["a delivery", "an answer", "more", ""]);
  });

  test("never takes more than one line, and commands no terminal", () => {
    const { lines, line } = screen();
    line.show(`dm: ${"x".repeat(100)}end`);
    expect(lines).toEqual([`${"x".repeat(16)}end`]);
    line.show("漢".repeat(30));
    expect(lines).toEqual(["漢".repeat(9)]);
    line.show("a\u001b[2Jb");
    expect(lines).toEqual(["a\\u001b[2Jb"]);
  });
});

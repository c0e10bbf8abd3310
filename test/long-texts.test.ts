import { expect, test } from "vitest";
import { cut, printableLines } from "./faces/cli.ts";
import {
  addressProblem,
  fill,
  fillLine,
  isPublicHost,
  literalIn,
  nearestName,
  normalizeText,
  parseJson,
  printable,
  printableStyled,
  printableText,
  readSpan,
  readTraceparent,
  scrubber,
  showError,
  spanIn,
  trimEndOf,
} from "./faces/core.ts";
import { idFamily, orderKey, ownTypeOf, parseEvent } from "./faces/events.ts";
import { mentionsIn } from "./faces/platform.ts";
import { commandPattern, hearsPattern, knownBeginning, withoutName } from "./faces/router.ts";
import { verify } from "./faces/signature.ts";
import { isLinear } from "./support/growth.ts";

/** Functions that read texts from users or the platform, in one process with the webhook. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  readSpan: (text) => attempt(() => readSpan(text, "when")),
  normalizeText: (text) => normalizeText(text),
  trimEndOf: (text) => trimEndOf(text, "./ "),
  withoutName: (text) => withoutName(text, undefined),
  "withoutName of a known name": (text) => withoutName(text, "bot"),
  commandPattern: (text) => commandPattern("remind").match(`/remind ${text}`),
  "hearsPattern of a text": (text) => hearsPattern("good morning").match(text),
  "hearsPattern of an expression": (text) => hearsPattern(/^roll (\d+)$/i).match(text),
  knownBeginning: (text) => knownBeginning(text, (words) => withoutName(words, "bot")),
  orderKey: (text) => orderKey(text),
  idFamily: (text) => idFamily(text),
  ownTypeOf: (text) => ownTypeOf(`cron:${text}`),
  parseEvent: (text) =>
    parseEvent({ id: text, type: text, createdAt: text, payload: { from: text } }),
  parseJson: (text) => attempt(() => parseJson(`{"id":${JSON.stringify(text)}}`)),
  verify: (text) => verify(new Uint8Array(), `t=1,v1=${text}`, { secrets: ["whsec_x"], now: 1 }),
  readTraceparent: (text) => readTraceparent(text),
  spanIn: (text) => spanIn(text),
  scrubber: (text) => scrubber([text.slice(1)])(text),
  "showError of a message": (text) => showError(new Error(text), (shown) => shown),
  "showError of a stack": (text) => {
    const error = Object.assign(new Error("x"), { stack: `Error: x\n    at ${text}:1:1\n` });
    return showError(error, (shown) => shown);
  },
  printable: (text) => printable(text),
  printableText: (text) => printableText(text),
  printableStyled: (text) => printableStyled(text),
  printableLines: (text) => printableLines(text, 2),
  cut: (text) => cut(text, 80),
  fill: (text) => fill("", text),
  fillLine: (text) => fillLine(text),
  nearestName: (text) => nearestName(text, ["dm.message", "mention", "repost"]),
  addressProblem: (text) => addressProblem(`https://x/${text}`),
  isPublicHost: (text) => isPublicHost(text),
  literalIn: (text) => literalIn(text),
  mentionsIn: (text) => mentionsIn(text),
};

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

/** Repeated to make a text long. */
const units = [
  ...[" ", "\n", "a", "1", "0", ".", "/", "@", ":", "-", "[", "`", "(", "<", "\\", "\u001b", "_"],
  ...["a ", " @bot", "@bot ", "1d", ":1", "./", "[`", "\u0301\u0327", "😀", "1.", "=,", "a.ts:1:1"],
] as const;

test.each(Object.entries(readers))("%s takes time in proportion to the text", (_name, read) => {
  for (const unit of units) {
    const textOf = (length: number) => `1d${unit.repeat(length / unit.length)}x`;
    expect(isLinear(read, textOf), JSON.stringify(unit)).toBe(true);
  }
});

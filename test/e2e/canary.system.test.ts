import { expect, test } from "vitest";
import { type Canary, leaks } from "./canary/forms.ts";
import { inFile } from "./canary/in-file.ts";
import { live } from "./canary/live.ts";
import { phrase, song } from "./canary/stage.ts";

const TIMEOUT_MS = 180_000;

test("a bot reveals neither secrets nor message texts, whatever it encounters", {
  timeout: TIMEOUT_MS,
}, async () => {
  await live(inFile);
});

test("the search finds a canary at any position", () => {
  const canary: Canary = { name: "one", song: song() };
  const line = JSON.stringify({ text: phrase(canary.song) });
  for (const text of [line, JSON.stringify(line), encodeURIComponent(line)]) {
    expect(leaks(text, [canary])).toEqual(["one"]);
  }
  for (const encoding of ["base64", "base64url", "hex"] as const) {
    for (const before of ["", "1", "12"]) {
      expect(leaks(Buffer.from(before + line).toString(encoding), [canary])).toEqual(["one"]);
    }
  }
  expect(leaks(line, [{ name: "another", song: song() }])).toEqual([]);
});

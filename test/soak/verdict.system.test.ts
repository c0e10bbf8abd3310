import { describe, expect, test } from "vitest";
import type { Span } from "./plan.ts";
import type { Sample } from "./sampler.ts";
import { verdictOf } from "./verdict.ts";

const MIB = 2 ** 20;
const MINUTES = 120;

const pin: Span = { kind: "pinned reader", from: 4_320, to: 4_620 };

const calm: Omit<Sample, "at"> = {
  ...{ rss: 200 * MIB, heapUsed: 50 * MIB, external: 5 * MIB, file: 20 * MIB, wal: 4 * MIB },
  ...{ descriptors: 35, handles: 10, loopP99: 30, pending: 2, deadLetters: 5 },
  ...{ handled: 0, sent: 0, mode: "auditing" },
};

function run(change: (at: number) => Partial<Sample>, minutes = MINUTES): Sample[] {
  return Array.from({ length: minutes * 12 }, (_, nth) => ({
    ...calm,
    at: nth * 5,
    ...change(nth * 5),
  }));
}

/** What the WAL is after so many seconds: it grows while it is pinned, and is cut back once nobody does. */
function walAt(at: number, after: number): number {
  const { from, to } = pin;
  if (at < from) return 4 * MIB;
  if (at < to + 30) return (4 + (at - from)) * MIB;
  return after;
}

/** The names of what has not come to rest. */
function rising(samples: Sample[], spans: Span[] = [], minutes = MINUTES): string[] {
  const { judgements } = verdictOf({ samples, spans, minutes });
  return judgements.filter(({ reached, counts }) => counts && !reached).map(({ name }) => name);
}

describe("the verdict", () => {
  test("holds where everything rests", () => {
    const verdict = verdictOf({ samples: run(() => ({})), spans: [], minutes: MINUTES });
    expect(verdict.holds).toBe(true);
    expect(verdict.judgements).toHaveLength(10);
  });

  test.each([
    ["memory of the process (RSS)", (at: number) => ({ rss: (200 + at / 60) * MIB })],
    ["heap in use, after collections", (at: number) => ({ heapUsed: (50 + at / 200) * MIB })],
    ["memory outside of the heap", (at: number) => ({ external: (5 + at / 500) * MIB })],
    ["file of the inbox", (at: number) => ({ file: (at / 100) * MIB })],
    ["WAL, while nobody pins it", (at: number) => ({ wal: (at / 100) * MIB })],
    ["open file descriptors", (at: number) => ({ descriptors: 35 + Math.floor(at / 200) })],
    ["active handles", (at: number) => ({ handles: 10 + Math.floor(at / 200) })],
    ["pending events", (at: number) => ({ pending: at / 50 })],
    ["dead letters", (at: number) => ({ deadLetters: at / 200 })],
    ["delay of the event loop, 99th percentile", (at: number) => ({ loopP99: 30 + at / 50 })],
  ])("names what leaks: %s", (name, change) => {
    const samples = run(change);
    expect(rising(samples)).toEqual([name]);
    expect(verdictOf({ samples, spans: [], minutes: MINUTES }).holds).toBe(false);
  });

  test("says nothing about the file of a run that was too short for it", () => {
    const samples = run((at) => ({ file: at * MIB }), 10);
    const { judgements, holds } = verdictOf({ samples, spans: [pin], minutes: 10 });
    const file = judgements.find(({ name }) => name === "file of the inbox");
    expect(file).toMatchObject({ counts: false, reached: false });
    expect(holds).toBe(true);
  });

  test("leaves out what this system cannot measure", () => {
    const { judgements } = verdictOf({
      samples: run(() => ({})).map(({ descriptors: _, ...sample }) => sample),
      ...{ spans: [], minutes: MINUTES },
    });
    expect(judgements.map(({ name }) => name)).not.toContain("open file descriptors");
  });
});

describe("a pinned reader", () => {
  const verdict = (samples: Sample[]) => verdictOf({ samples, spans: [pin], minutes: MINUTES });

  test("may let the WAL grow, when it comes back to its limit afterwards", () => {
    const { pins, holds } = verdict(run((at) => ({ wal: walAt(at, 64 * MIB) })));
    expect(pins).toEqual([{ before: 4, most: expect.closeTo(330, -1), after: 64, held: true }]);
    // The limit is more than the WAL had before: the pin is late, so the last quarter is told apart from the second.
    expect(holds).toBe(false);
    expect(verdict(run((at) => ({ wal: walAt(at, 4 * MIB) }))).holds).toBe(true);
  });

  test("must not have let it grow for good", () => {
    const { pins, holds } = verdict(run((at) => ({ wal: walAt(at, 330 * MIB) })));
    expect(pins).toMatchObject([{ after: 330, held: false }]);
    expect(holds).toBe(false);
  });

  test("that has held nothing has shown nothing", () => {
    const { pins, holds } = verdict(run(() => ({})));
    expect(pins).toMatchObject([{ before: 4, most: 4, held: false }]);
    expect(holds).toBe(false);
  });
});

import { describe, expect, test } from "vitest";
import { documentOf } from "./document.ts";
import { pictureOf } from "./picture.ts";
import type { Report } from "./report.ts";
import type { Sample } from "./sampler.ts";
import type { SoakRun } from "./soak.ts";
import type { Judgement, Verdict } from "./verdict.ts";

const MIB = 2 ** 20;

const samples = Array.from(
  { length: 1_440 },
  (_, nth): Sample => ({
    at: nth * 5,
    ...{ rss: 200 * MIB, heapUsed: 50 * MIB, external: 5 * MIB, file: 20 * MIB, wal: 4 * MIB },
    ...{ descriptors: 35, handles: 10, loopP99: 30, pending: 2, deadLetters: 5 },
    ...{ handled: 0, sent: 0, mode: "auditing" },
  }),
);

const run: SoakRun = {
  spans: [
    { kind: "pinned reader", from: 720, to: 1_008 },
    { kind: "stopped", from: 900, to: 901 },
  ],
  ...{ events: 144_000, answered: 143_712, hopeless: 288, faulted: 1_234, violations: [] },
  decided: { retried: 480, discarded: 288, settled: 3 },
};

const report: Report & { readonly run: SoakRun } = {
  at: "2026-11-22T14:07:00.000Z",
  environment: { node: "v24.21.0", cpu: "A CPU", cores: 2, memory: 8, system: "Linux 6" },
  ...{ seed: 7, rate: 20, minutes: 120, samples, run },
};

const rests: Judgement = {
  ...{ name: "memory", unit: "MiB", second: 200, last: 199.04, perHour: -0.96 },
  ...{ most: 1_250, allowed: 30, reached: true, counts: true },
};

const verdict: Verdict = {
  judgements: [
    rests,
    { ...rests, name: "handles", unit: "", perHour: 99, reached: false },
    { ...rests, name: "file", counts: false },
  ],
  pins: [
    { before: 4, most: 250, after: 64, held: true },
    { before: 64, most: 64, after: 64, held: false },
  ],
  holds: false,
};

describe("the document", () => {
  test("has the command, what was done, a line for each series, the pins and the plot", () => {
    expect(documentOf(report, verdict).split("\n")).toEqual([
      "`npm run soak -- --minutes 120 --rate 20 --seed 7` on 22 November 2026: Node 24.21.0, 2 cores.",
      "",
      "- 144,000 events; 143,712 answered, 288 hopeless; 0 lost, repeated or unexpected.",
      "- 2 spans of faults and pinned readers; 1,234 requests to the API refused, held, or without an answer.",
      "- Dead letters by `service-bot inbox`: 288 discarded, 480 retried, 3 retried with `--assume`.",
      "",
      "| what | unit | 2nd quarter | last quarter | trend per hour | allowed | highest |  |",
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
      "| memory | MiB | 200.0 | 199.0 | −1.0 | +30.0 | 1,250.0 | plateau |",
      "| handles |  | 200.0 | 199.0 | +99.0 | +30.0 | 1,250.0 | **rises** |",
      "| file | MiB | 200.0 | 199.0 | −1.0 | +30.0 | 1,250.0 | run too short |",
      "",
      "- WAL and pinned reader 1: 4.0 MiB before, up to 250.0 MiB, 64.0 MiB after it.",
      "- WAL and pinned reader 2: 64.0 MiB before, up to 64.0 MiB, 64.0 MiB after it: **it did not grow, or did not come back**.",
      "",
      "![Memory, WAL, file, handles and events of these 120 minutes, and what happened when](images/soak.svg)",
    ]);
  });
});

describe("the plot", () => {
  const svg = pictureOf(samples, run.spans, report.minutes);

  test("has two lines in each of four panels, within the picture and light", () => {
    const lines = [...svg.matchAll(/<polyline points="([^"]+)"/g)].map(([, points = ""]) => points);
    expect(lines).toHaveLength(8);
    for (const line of lines) {
      const places = line.split(" ").map((place) => place.split(",").map(Number));
      expect(places).toHaveLength(360);
      for (const [x = -1, y = -1] of places) {
        expect(x).toBeGreaterThanOrEqual(72);
        expect(x).toBeLessThanOrEqual(620);
        expect(y).toBeGreaterThan(0);
      }
    }
    expect(svg.length).toBeLessThan(60_000);
  });

  test("shows each span in its row, the shortest too, and the pinned reader behind the panels", () => {
    const rectangles = [...svg.matchAll(/<rect x="([^"]+)" y="[^"]+" width="([^"]+)"/g)];
    const places = rectangles.map(([, x, width]) => [Number(x), Number(width)]);
    // 548 wide for 7,200 s.
    expect(places).toEqual([
      [126.8, 21.9],
      [126.8, 21.9],
      [140.5, 2],
    ]);
  });
});

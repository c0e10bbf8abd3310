import { describe, expect, test } from "vitest";
import { lineChart, type Series, ticksUpTo } from "../../bench/support/chart.ts";

const axes = { x: "events in the file", y: "events per second" };

function series(name: string, ...points: readonly (readonly [number, number])[]): Series {
  return { name, points: points.map(([x, y]) => ({ x, y })) };
}

/** What a picture says, and where. */
function texts(svg: string): { words: string; x: number; y: number }[] {
  const found = svg.matchAll(/<text x="([^"]+)" y="([^"]+)"[^>]*>([^<]*)<\/text>/g);
  return [...found].map(([, x, y, words = ""]) => ({ words, x: Number(x), y: Number(y) }));
}

function placeOf(words: string, svg: string): { x: number; y: number } {
  const place = texts(svg).find((text) => text.words === words);
  if (place === undefined) throw new Error(`nothing in the picture says "${words}"`);
  return place;
}

describe("the ticks of an axis", () => {
  test.each([
    [47_000, [0, 10_000, 20_000, 30_000, 40_000, 50_000]],
    [17_400, [0, 5_000, 10_000, 15_000, 20_000]],
    [100, [0, 20, 40, 60, 80, 100]],
  ])("up to %d are round, and the last one is not below it", (highest, ticks) => {
    expect(ticksUpTo(highest)).toEqual(ticks);
  });
});

describe("a chart", () => {
  const svg = lineChart({
    title: "Stored & dispatched",
    axes,
    series: [
      series("stored", [0, 40], [10_000, 40], [100_000, 30], [1_000_000, 20]),
      series("dispatched", [0, 20], [10_000, 20], [100_000, 20], [1_000_000, 19]),
    ],
  });

  test("has its points as far apart as their powers of ten, and 0 one step before", () => {
    const [zero, ten, hundred, million] = ["0", "10,000", "100,000", "1 million"].map((words) => {
      const all = texts(svg).filter((text) => text.words === words);
      return all.at(-1)?.x ?? Number.NaN;
    });
    const step = Number(ten) - Number(zero);
    expect(Number(hundred) - Number(ten)).toBeCloseTo(step, 0);
    expect(Number(million) - Number(hundred)).toBeCloseTo(step, 0);
  });

  test("names each line at its end, with the last value and its share of the first", () => {
    expect(texts(svg).map(({ words }) => words)).toEqual(
      expect.arrayContaining(["stored", "20: 0.50 of the first", "dispatched"]),
    );
  });

  test("keeps the names of lines that end together apart, in the order of the lines", () => {
    const [stored, dispatched] = ["stored", "dispatched"].map((name) => placeOf(name, svg).y);
    expect(Number(dispatched) - Number(stored)).toBeGreaterThanOrEqual(40);
  });

  test("has the names where the lines end when these are far apart", () => {
    const apart = lineChart({
      title: "",
      axes,
      series: [series("stored", [0, 40], [10, 40]), series("dispatched", [0, 10], [10, 10])],
    });
    const [, end = ""] = /points="[^"]*,([0-9.]+)"/.exec(apart) ?? [];
    expect(placeOf("stored", apart).y).toBe(Number(end));
  });

  test("is XML whatever the words are", () => {
    expect(svg).toContain("<title>Stored &amp; dispatched</title>");
    expect(svg).not.toContain("NaN");
  });
});

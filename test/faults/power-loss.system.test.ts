import { describe, expect, test } from "vitest";
import { powerLoss, powerLossControl } from "./power-loss/power-loss.ts";
import { whyNoShim } from "./power-loss/shim.ts";
import { chooseSeed } from "./random.ts";

const reason = whyNoShim();
if (reason !== undefined) process.stderr.write(`${reason}\n`);

const seed = chooseSeed();
const options = { size: "small", seed, progress: () => undefined } as const;

describe.skipIf(reason !== undefined)("power loss", { timeout: 60_000 }, () => {
  test("at random moments loses nothing acknowledged and no intent of a reply: a sync comes before each is sent", async () => {
    const { figures, violations } = await powerLoss.run(options);
    expect(violations, `SEED=${seed}`).toEqual([]);
    expect(figures["power losses"]).toBeGreaterThan(10);
    expect(figures["answers with 2xx"]).toBeGreaterThanOrEqual(120);
    expect(figures["replies sent"]).toBeGreaterThanOrEqual(100);
  });

  test("would lose acknowledged events with synchronous=NORMAL, the default", async () => {
    const { figures, violations } = await powerLossControl("NORMAL").run(options);
    expect(violations, `SEED=${seed}`).toEqual([]);
    expect(figures["acknowledged events lost, all cuts added up"]).toBeGreaterThan(0);
  });
});

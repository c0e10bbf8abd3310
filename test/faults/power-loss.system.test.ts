import { expect } from "vitest";
import { powerLoss, powerLossControl } from "./power-loss/power-loss.ts";
import { testSmall } from "./test-small.ts";

testSmall(
  powerLoss,
  "a power loss loses no acknowledged event and no intent, because a sync precedes each response and reply",
  ({ figures, violations }) => {
    expect(violations).toEqual([]);
    expect(figures["power losses"]).toBeGreaterThan(10);
    expect(figures["answers with 2xx"]).toBeGreaterThanOrEqual(120);
    expect(figures["replies sent"]).toBeGreaterThanOrEqual(100);
  },
);

testSmall(
  powerLossControl("NORMAL"),
  "a power loss would lose acknowledged events with synchronous=NORMAL, the default",
  ({ figures, violations }) => {
    expect(violations).toEqual([]);
    expect(figures["acknowledged events lost, all cuts added up"]).toBeGreaterThan(0);
  },
);

import { expect } from "vitest";
import { restoresWith } from "./scenarios/restores.ts";
import { botScenarios } from "./scenarios.ts";
import { testSmall } from "./test-small.ts";

for (const scenario of botScenarios) testSmall(scenario, `no promise is broken: ${scenario.name}`);

const unmarked = restoresWith("a backup put back by hand", "by hand");
testSmall(
  unmarked,
  "a backup restored by hand repeats replies and loses nothing",
  ({ violations }) => {
    expect(violations.filter((text) => text.startsWith("duplicated:"))).not.toEqual([]);
    expect(violations.filter((text) => text.startsWith("lost:"))).toEqual([]);
  },
);

import { afterAll, beforeAll } from "vitest";
import { type Result, recorded, tabulate } from "../../faults/report.ts";
import { testSmall } from "../../faults/test-small.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../../support/scaffolded.ts";
import { makeFaultsImage } from "../support/faults-image.ts";
import { docker, withEngine } from "../support/given.ts";
import { scenariosOf } from "./scenarios.ts";

withEngine("bots in containers: no promise is broken", () => {
  const results: Result[] = [];
  let image: string;

  beforeAll(async () => {
    image = await makeFaultsImage(docker);
  }, SCAFFOLD_TIMEOUT_MS);

  afterAll(() => console.info(tabulate(results)));

  for (const scenario of scenariosOf(() => image)) {
    testSmall(recorded(scenario, results), scenario.name);
  }
});

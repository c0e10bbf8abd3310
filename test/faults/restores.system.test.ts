import { expect, test } from "vitest";
import { chooseSeed } from "./random.ts";
import { restores, restoresWith } from "./scenarios/restores.ts";
import { testSmall } from "./small.ts";

testSmall(restores);

const seed = chooseSeed();

test(`a backup that is put back by hand, and not marked, says things twice (seed ${seed})`, {
  timeout: 120_000,
}, async () => {
  const unmarked = restoresWith("a backup put back by hand", "by hand");
  const { violations } = await unmarked.run({
    size: "small",
    scale: 0.5,
    seed,
    progress: () => undefined,
  });
  expect(violations.filter((text) => text.startsWith("duplicated:"))).not.toEqual([]);
  // It loses nothing, and that is all.
  expect(violations.filter((text) => text.startsWith("lost:"))).toEqual([]);
});

import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../create/harness.ts";
import { run } from "../faces/create.ts";
import { hasPty } from "../support/at-terminal.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../support/scaffolded.ts";

test.skipIf(!hasPty)(
  "docs/start/tour.md matches the real output",
  { timeout: SCAFFOLD_TIMEOUT_MS },
  async () => {
    const argv = [join(root, "scripts/tour/main.ts"), "--check"];
    const { code, output } = await run(process.execPath, argv, { cwd: root, env: process.env });
    expect(code, output).toBe(0);
  },
);

#!/usr/bin/env node
import { requireNode } from "../core/process.ts";
import { printableText } from "../core/safe-text.ts";
import { messageOf } from "../errors.ts";

try {
  requireNode();
} catch (error) {
  process.stderr.write(`${printableText(messageOf(error))}\n`);
  process.exit(2);
}
// The reader of a pipe may leave, as `head` does.
process.stdout.on("error", () => process.exit(1));
// Loaded late: nothing native may be touched before the version of Node was checked.
const { run } = await import("./run.ts");
process.exitCode = await run(process.argv.slice(2));

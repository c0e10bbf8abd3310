#!/usr/bin/env node
import { requireNode } from "../core/process.ts";
import { printableText } from "../core/safe-text.ts";
import { environmentSecrets } from "../core/secret-scrubber.ts";
import { uncaughtErrors } from "../core/uncaught.ts";
import { messageOf } from "../errors.ts";

try {
  requireNode();
} catch (error) {
  process.stderr.write(`${printableText(messageOf(error))}\n`);
  process.exit(2);
}
uncaughtErrors.add({ secrets: () => environmentSecrets(process.env) });
// The reader of a pipe may close it, as `head` does.
process.stdout.on("error", () => process.exit(1));
// Imported after the version check, because native modules crash an old Node.
const { run } = await import("./run.ts");
process.exitCode = await run(process.argv.slice(2));

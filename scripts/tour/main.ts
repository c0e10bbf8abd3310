/**
 * Records the first five minutes in a terminal, and updates docs/start/tour.md if the session has changed. With
 * `--check`, exits with code 1 instead of writing.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { reservePort } from "../../test/support/reserve-port.ts";
import { environment, usePorts } from "./newcomer.ts";
import { asShown, differences, pageOf, type Recorded } from "./page.ts";
import { scenes } from "./scenes.ts";
import { Shell } from "./shell.ts";

const root = join(import.meta.dirname, "../..");
const file = join(root, "docs/start/tour.md");
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });

const folder = await mkdtemp(join(tmpdir(), "service-bot-tour-"));
// The comparison ignores times, so the bot may poll more often.
const hurried = { POLL_INTERVAL_MS: "300", AUDIT_INTERVAL_MS: "500", SILENCE_MS: "1500" };
const shell = new Shell(folder, root, { ...environment(), ...(values.check ? hurried : {}) });
try {
  finish(pageOf(await play()));
} finally {
  shell.close();
  await rm(folder, { recursive: true, force: true });
}

async function play(): Promise<Recorded[]> {
  const [platform, bot] = [String(await reservePort()), String(await reservePort())];
  const usual = new Map([
    [folder, "~"],
    [`:${platform}`, ":4400"],
    [`:${bot}`, ":3000"],
  ]);
  const recorded: Recorded[] = [];
  for (const { title, words, play: perform } of scenes) {
    const shown = asShown(await perform(shell), usual);
    recorded.push({ title, words, shown });
    process.stdout.write(`${title}\n`);
    if (recorded.length > 1) continue;
    shell.cd("my-bot");
    await usePorts(join(folder, "my-bot/.env"), platform, bot);
  }
  return recorded;
}

function finish(page: string): void {
  const different = differences(readPage(), page);
  if (different.length === 0) {
    console.log("docs/start/tour.md is up to date");
  } else if (values.check) {
    console.error(
      `docs/start/tour.md differs from the session. Run npm run docs -- tour. Differences:`,
    );
    console.error(different.join("\n"));
    process.exitCode = 1;
  } else {
    writeFileSync(file, page);
    console.log("docs/start/tour.md written");
  }
}

function readPage(): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

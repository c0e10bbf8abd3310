import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../create/harness.ts";
import { codeBlocks, pages } from "../docs/markdown.ts";
import { hasPty } from "../support/at-terminal.ts";
import { reservePort } from "../support/reserve-port.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../support/scaffolded.ts";
import { environment, usePorts } from "./newcomer.ts";
import { Shell } from "./shell.ts";

/** The code blocks in docs/start/first-bot.md, in order. */
const blocks = pages
  .filter(({ path }) => path === join("docs/start/first-bot.md"))
  .flatMap(codeBlocks);
const played = blocks.filter(({ note }) => note.includes("test/e2e/start.system.test.ts"));

test("every block of docs/start/first-bot.md runs, except those that need a server", () => {
  expect(played.length).toBeGreaterThan(8);
  const others = blocks.filter((block) => !played.includes(block));
  for (const { code } of others) expect(code).toContain("docker compose");
});

test.skipIf(!hasPty)(
  "docs/start/first-bot.md leads from nothing to a bot with a custom handler and test",
  { timeout: SCAFFOLD_TIMEOUT_MS },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "service-bot-start-"));
    const newcomer = new Newcomer(new Shell(folder, root, environment()));
    onTestFinished(() => {
      newcomer.shell.close();
      rmSync(folder, { recursive: true, force: true });
    });
    for (const { language, code, note } of played) {
      if (note.includes("presses w twice")) await newcomer.turnsWebhookOff();
      if (language === "ts") await newcomer.writes(code);
      else if (language === "text") expect(newcomer.shown).toContain(code.trimEnd());
      else for (const line of code.trimEnd().split("\n")) await newcomer.types(line);
    }
    await newcomer.turnsWebhookOn();
  },
);

class Newcomer {
  readonly shell: Shell;
  shown = "";

  constructor(shell: Shell) {
    this.shell = shell;
  }

  async types(line: string): Promise<void> {
    const { shell } = this;
    if (line === "npm ci") return; // The checkout has its packages.
    if (line.startsWith("cd ")) {
      shell.cd(line.slice(3).replace("../", ""));
      const ports = [String(await reservePort()), String(await reservePort())] as const;
      await usePorts(join(shell.folder, "my-bot/.env"), ...ports);
    } else if (line === "npm run dev") {
      await shell.open(line).shows(" bot ready");
      shell.opened.takes();
    } else {
      // On the page, this line runs in the clone, but this shell is in the clone's parent folder.
      const own = line.replace("node create-bot.js ../", "node service-bot/create-bot.js ");
      this.shown = await shell.run(own);
    }
  }

  /** Saves a file under the name in its first line. The bot restarts if the file is one of its sources. */
  async writes(code: string): Promise<void> {
    const [, path = ""] = /^\/\/ (\S+)\n/.exec(code) ?? [];
    this.shell.opened.takes();
    writeFileSync(join(this.shell.folder, "my-bot", path), code);
    if (path.startsWith("src/")) await this.shell.opened.shows("restarting the bot", " bot ready");
  }

  async turnsWebhookOff(): Promise<void> {
    const { opened } = this.shell;
    opened.type("w");
    await opened.shows("Press w again to switch the webhook off");
    opened.type("w");
    await opened.shows("webhook disabled: turned off by its owner");
  }

  /** Waits until the bot, which polls, is back at the webhook. `q` quits. */
  async turnsWebhookOn(): Promise<void> {
    const { opened } = this.shell;
    await opened.shows("switching to polling");
    opened.type("w");
    await opened.shows("webhook enabled");
    await this.shell.run("npx service-bot trigger dm.message --from ada --text hello --wait");
    await opened.shows("switching back to the webhook");
    opened.type("q");
    expect(await opened.ended).toBe(0);
  }
}

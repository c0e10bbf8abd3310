import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { everythingIn, root, temporaryDirectory } from "./harness.ts";
import { keys } from "./keys.ts";
import { hasPty, Pty, type PtyOptions } from "./pty.ts";

const script = join(root, "create-bot.js");

function create(argv: readonly string[], options: PtyOptions): Pty {
  return new Pty([process.execPath, script, ...argv, "--service-bot", "file:x"], options);
}

describe.skipIf(!hasPty)("at a terminal", () => {
  test("it asks for everything, and each answer leaves one line", async () => {
    const cwd = await temporaryDirectory();
    const pty = create([], { cwd });
    await pty.screen.shows("┌ create-service-bot");
    await pty.screen.shows("◆ Directory");
    pty.type(`My Bot!${keys.enter}`);
    await pty.screen.shows("◆ Template");
    pty.type(keys.enter);
    await pty.screen.shows("◆ Store");
    pty.type(keys.down);
    await pty.screen.shows("● postgres");
    pty.type(keys.enter);
    await pty.screen.shows("◆ Install with npm?");
    pty.type("n");
    await pty.screen.shows("◆ Initialize git?");
    pty.type("n");
    expect(await pty.ended, pty.screen.text).toBe(0);
    for (const line of [
      "◇ Directory       My Bot!\n",
      "◇ Template        starter\n",
      "◇ Store           postgres\n",
      "◇ Install with npm?   no\n",
      "◇ Initialize git?     no\n",
      '◇ Name            my-bot (from "My Bot!")\n',
      "cd 'My Bot!'\n",
    ]) {
      expect(pty.screen.text).toContain(line);
    }
    expect(pty.screen.text.match(/┌ create-service-bot/g)).toHaveLength(1);
    expect(await everythingIn(join(cwd, "My Bot!"))).toContain("compose.dev.yaml");
    expect(await everythingIn(join(cwd, "My Bot!"))).not.toContain(".git");
  });

  test("a terminal of unknown size is good enough", async () => {
    const cwd = await temporaryDirectory();
    const pty = create(["bot", "--no-install", "--no-git"], { cwd, size: "" });
    for (const question of ["Template", "Store"]) {
      await pty.screen.shows(`◆ ${question}`);
      pty.type(keys.enter);
    }
    expect(await pty.ended, pty.screen.text).toBe(0);
  });

  test("Ctrl-C ends it with 130, and nothing is written", async () => {
    const cwd = await temporaryDirectory();
    const pty = create(["bot"], { cwd });
    await pty.screen.shows("◆ Template");
    pty.type(keys.ctrlC);
    await pty.screen.shows("Cancelled. Nothing was written.");
    expect(await pty.ended).toBe(130);
    expect(await everythingIn(cwd)).toEqual([]);
  });

  test("no questions in CI", async () => {
    const cwd = await temporaryDirectory();
    const pty = create(["bot", "--no-install", "--no-git"], { cwd, env: { CI: "true" } });
    expect(await pty.ended, pty.screen.text).toBe(0);
    expect(pty.screen.text).not.toContain("◆");
    expect(await everythingIn(join(cwd, "bot"))).toContain("src/main.ts");
  });

  test("Ctrl-C ends an install with 130; the files stay, and the output explains how to continue", async () => {
    const cwd = await temporaryDirectory();
    // npm captures the output of scripts, so the script writes directly to the terminal.
    const env = await fakeNpm(cwd, "echo begun >/dev/tty; exec sleep 60");
    const pty = create(["bot", "--yes"], { cwd, env });
    await pty.screen.shows("⠋ npm install  0 s", "begun");
    pty.type(keys.ctrlC);
    await pty.screen.shows("✖ npm install was interrupted");
    await pty.screen.shows("  cd bot\n  npm install\n  npm run dev");
    expect(await pty.ended).toBe(130);
    expect(await everythingIn(join(cwd, "bot"))).toContain("src/main.ts");
    expect(await everythingIn(join(cwd, "bot"))).not.toContain(".git");
  });
});

async function fakeNpm(cwd: string, command: string): Promise<Record<string, string>> {
  const bin = join(cwd, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "npm"), `#!/bin/sh\n${command}\n`);
  await chmod(join(bin, "npm"), 0o755);
  return { PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
}

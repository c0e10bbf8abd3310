import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { CLI } from "../faces/files.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { message } from "../support/inbox-events.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { checkUncaughtError, serviceBot, serviceBotEnds } from "./cli.ts";

// The other CLI tests run in process (command.ts).

async function runShell(command: string, cwd: string) {
  return await promisify(execFile)("sh", ["-ec", command], { cwd });
}

describe("the process", () => {
  test("ends with the code of the command, and writes to both of its streams", async () => {
    const cwd = temporaryFolder();
    const [version, wrong] = await Promise.all([
      serviceBotEnds(["--version"], { cwd }),
      serviceBotEnds(["fly"], { cwd }),
    ]);
    expect(version).toMatchObject({ code: 0, err: "" });
    expect(version.out).toMatch(/^\d+\.\d+\.\d+/);
    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toContain('"fly"');
  });

  test("of a platform prints one line once it is ready, and ends with 0 on SIGTERM", async () => {
    const platform = serviceBot(["platform", "--port", "0", "--json"], { cwd: temporaryFolder() });
    const { url } = JSON.parse(await platform.line((line) => line.startsWith("{")));
    expect((await fetch(`${url}/`)).status).toBe(200);
    expect(await platform.end("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(platform.stdout).toHaveLength(1);
    expect(platform.stderr).toEqual([]);
  });

  test("of a platform prints an uncaught error without secrets, and ends with 1", async () => {
    await checkUncaughtError(["platform", "--port", "0"], "Ctrl+C");
  });

  test("of a list whose reader leaves ends without a stack", async () => {
    const folder = temporaryFolder();
    const inbox = new SqliteInbox({ file: join(folder, "data", "bot.db") });
    const bodies = Array.from({ length: 400 }, (_, n) => ({
      ...message(`bulk_${n}`, `b${n}`),
      body: "x".repeat(10_000),
    }));
    await inbox.put(bodies, "webhook");
    await inbox.close();
    const command = `"${process.execPath}" "${CLI}" inbox list --state all --limit 400 --json | head -c 11`;
    const { stdout, stderr } = await runShell(command, folder);
    expect({ stdout, stderr }).toEqual({ stdout: '{"events":[', stderr: "" });
  });
});

test("the commands that a platform shows work when they are pasted", async () => {
  const folder = temporaryFolder();
  const platform = serviceBot(["platform", "--port", "0"], { cwd: folder });
  await platform.line((line) => line.startsWith("Ctrl+C stops"));
  const paste = async (begins: string) => {
    const command = await platform.line((line) => line.startsWith(`  ${begins}`));
    return (await runShell(command, folder)).stdout;
  };
  expect(await paste("node ")).toBe("dm.message evt_000000000001\n");
  await platform.line((line) => /--> dm.message evt_000000000001 @ada "hello"/.test(line));
  expect(JSON.parse(await paste("curl "))).toMatchObject({
    url: "http://127.0.0.1:3000/webhook",
    enabled: true,
  });
});

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand, startCommand } from "./command.ts";

interface Ready {
  readonly url: string;
  readonly controlToken: string;
}

/** Starts a platform in a folder, with its state file at the default path. */
async function startIn(folder: string, ...flags: readonly string[]) {
  const platform = startCommand(["platform", "--port", "0", "--json", ...flags], { cwd: folder });
  const ready: Ready = JSON.parse(await platform.line((line) => line.startsWith("{")));
  return { platform, ready };
}

const fileOf = ({ url }: Pick<Ready, "url">) => `control-${new URL(url).port}.json`;

describe("the control token of a platform", () => {
  test("the token is in a file that only its owner can read, like the files beside it, and is removed at the end", async () => {
    const folder = temporaryFolder();
    const own = join(folder, ".service-bot");
    await mkdir(own, { mode: 0o755 });
    writeFileSync(join(own, "dev.db"), "", { mode: 0o644 });
    const { platform, ready } = await startIn(folder, "--state", ".service-bot/dev.db");
    const file = join(own, fileOf(ready));
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      url: ready.url,
      controlToken: ready.controlToken,
    });
    const modes = [own, ...readdirSync(own).map((name) => join(own, name))].map(
      (path) => statSync(path).mode & 0o077,
    );
    expect(modes.length).toBeGreaterThan(3);
    expect(new Set(modes)).toEqual(new Set([0]));
    await platform.stop();
    expect(readdirSync(own).filter((name) => name.startsWith("control-"))).toEqual([]);
  });

  test("is found by trigger in its folder and below", async () => {
    const folder = temporaryFolder();
    const { platform, ready } = await startIn(folder);
    const below = join(folder, "src");
    await mkdir(below);
    const args = ["trigger", "follow", "--platform", ready.url.replace("127.0.0.1", "localhost")];
    for (const cwd of [folder, below]) {
      expect((await runCommand(args, { cwd })).code).toBe(0);
    }
    await platform.stop();
    // The platform deletes its state folder if the folder is empty.
    expect(readdirSync(folder)).toEqual(["src"]);
  });

  test("is required in other folders, and comes from the variable or the address", async () => {
    const { url, portalUrl, controlToken } = await runPlatform();
    const cwd = temporaryFolder();
    const args = ["trigger", "follow", "--platform"];
    const refused = await runCommand([...args, url], { cwd });
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("SERVICE_CONTROL_TOKEN");
    expect(refused.err).toContain(join(".service-bot", fileOf({ url })));
    const { out } = await runCommand([...args, url, "--json"], { cwd });
    expect(JSON.parse(out).error.code).toBe("UNAUTHORIZED");
    const env = { SERVICE_CONTROL_TOKEN: controlToken };
    expect((await runCommand([...args, url], { cwd, env })).code).toBe(0);
    expect((await runCommand([...args, portalUrl], { cwd })).code).toBe(0);
  });

  test("of another platform's file is not sent", async () => {
    const { url } = await runPlatform();
    const cwd = temporaryFolder();
    await mkdir(join(cwd, ".service-bot"));
    const controlToken = "of_another_machine";
    const other = JSON.stringify({ url: "http://192.0.2.1:4400", controlToken });
    writeFileSync(join(cwd, ".service-bot", fileOf({ url })), other);
    const { err } = await runCommand(["trigger", "follow", "--platform", url], { cwd });
    expect(err).toContain("control token is missing");
  });

  test("is that of SERVICE_CONTROL_TOKEN where it is set, and the same with each start", async () => {
    const folder = temporaryFolder();
    const controlToken = "set_in_the_environment";
    writeFileSync(join(folder, ".env"), `SERVICE_CONTROL_TOKEN=${controlToken}\n`);
    expect((await startIn(folder)).ready.controlToken).toBe(controlToken);
    writeFileSync(join(folder, ".env"), "SERVICE_CONTROL_TOKEN=short\n");
    const { code, err } = await runCommand(["platform", "--port", "0"], { cwd: folder });
    expect({ code, named: err.includes("SERVICE_CONTROL_TOKEN: must be") }).toEqual({
      code: 2,
      named: true,
    });
  });
});

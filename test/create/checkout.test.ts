import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Call, everythingIn, root, scaffold, temporaryDirectory } from "./harness.ts";

const origin = { root, origin: "checkout" as const };
const argv = ["bot", "--no-install", "--no-git"];

/** Stands in for `npm pack`. */
async function pack({ args }: Call): Promise<Record<string, never>> {
  await writeFile(join(args.at(-1) ?? "", "service-bot-9.9.9.tgz"), "packed");
  return {};
}

async function version(): Promise<string> {
  return JSON.parse(await readFile(join(root, "package.json"), "utf8")).version;
}

describe("a bot made from a checkout", () => {
  test("carries the packed checkout and depends on it by a relative path", async () => {
    const cwd = await temporaryDirectory();
    const { code, calls } = await scaffold(argv, { cwd, origin, run: pack });
    const tarball = `vendor/service-bot-${await version()}.tgz`;
    expect(code).toBe(0);
    expect(calls.map(({ args }) => args.slice(0, 2))).toEqual([
      [join(root, "scripts/pack.ts"), "--cached"],
    ]);
    expect(await readFile(join(cwd, "bot", tarball), "utf8")).toBe("packed");
    const manifest = JSON.parse(await readFile(join(cwd, "bot/package.json"), "utf8"));
    expect(manifest.dependencies).toEqual({ "service-bot": `file:${tarball}` });
  });

  test("is not packed when --service-bot names the dependency", async () => {
    const cwd = await temporaryDirectory();
    const { code, calls } = await scaffold([...argv, "--service-bot", "1.2.3"], { cwd, origin });
    expect({ code, calls }).toEqual({ code: 0, calls: [] });
  });

  test("is not packed when existing files conflict", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "bot"), "");
    const { code, calls } = await scaffold(argv, { cwd, origin });
    expect({ code, calls }).toEqual({ code: 2, calls: [] });
  });

  test("a packing that fails writes nothing, ends with 1 and shows why", async () => {
    const cwd = await temporaryDirectory();
    const run = () => ({ code: 1, output: "src/x.ts(1,1): error TS1000: words\n" });
    const { code, err } = await scaffold(argv, { cwd, origin, run });
    expect(code).toBe(1);
    expect(err).toContain("TS1000");
    expect(err).toContain("--service-bot");
    expect(await everythingIn(cwd)).toEqual([]);
  });

  test("an interrupted packing writes nothing and exits with 130", async () => {
    const cwd = await temporaryDirectory();
    const run = () => ({ code: undefined, interrupted: true });
    const { code, err } = await scaffold(argv, { cwd, origin, run });
    expect({ code, err }).toEqual({ code: 130, err: "✖ Cancelled. Nothing was written.\n" });
    expect(await everythingIn(cwd)).toEqual([]);
  });

  test("a checkout without its dependencies gets them before it is packed", async () => {
    const cwd = await temporaryDirectory();
    const order: string[] = [];
    const prepare = () => void order.push("prepare");
    const run = (call: Call) => {
      order.push("pack");
      return pack(call);
    };
    await scaffold(argv, { cwd, origin: { ...origin, prepare }, run });
    expect(order).toEqual(["prepare", "pack"]);
  });

  test("dependencies that cannot be had end the run with 1 and the remedy", async () => {
    const cwd = await temporaryDirectory();
    const prepare = () => {
      throw new Error("npm ci failed. Run it by hand.");
    };
    const { code, err } = await scaffold(argv, { cwd, origin: { ...origin, prepare } });
    expect(code).toBe(1);
    expect(err).toContain("Run it by hand");
    expect(await everythingIn(cwd)).toEqual([]);
  });
});

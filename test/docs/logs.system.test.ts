import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isInstalled } from "../support/server-path.ts";
import { codeBlocks, root } from "./markdown.ts";

const page = {
  path: "docs/operate/logs.md",
  text: readFileSync(join(root, "docs/operate/logs.md"), "utf8"),
};
test.runIf(isInstalled(["jq", "--version"]))(
  "the queries of docs/operate/logs.md run, and find something in its own examples",
  () => {
    const examples = codeBlocks(page).filter(({ language }) => language === "json");
    const dead = { level: "error", event: "evt_00042", err: { message: "no" }, msg: "dead letter" };
    const slow = { level: "info", event: "evt_00043", ms: 6_000, msg: "handled" };
    const polling = { level: "warn", mode: "polling", reason: "no delivery" };
    const lines = [dead, slow, polling].map((line) => JSON.stringify(line));
    const input = ["not JSON", ...examples.map(({ code }) => code.trim()), ...lines].join("\n");
    const queries = codeBlocks(page)
      .filter(({ language }) => language === "sh")
      .flatMap(({ code }) => code.match(/^jq .*$/gm) ?? []);
    expect(queries.length).toBeGreaterThan(4);
    for (const query of queries) {
      const command = `set -o pipefail; ${query.replace(" bot.log", "")}`;
      const { status, stdout, stderr } = spawnSync("bash", ["-c", command], { input });
      expect({ query, status, stderr: String(stderr) }).toEqual({ query, status: 0, stderr: "" });
      expect(String(stdout), query).not.toBe("");
    }
  },
);

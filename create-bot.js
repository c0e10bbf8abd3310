#!/usr/bin/env node
// The way to the scaffolder. A published package has it bundled for every Node from 20 up; a
// checkout has its TypeScript, which an older Node runs with the Node among the dependencies.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));
const bundle = new URL("dist/create.js", import.meta.url);
const argv = process.argv.slice(2);

if (existsSync(bundle)) {
  const { main } = await import(bundle.href);
  process.exitCode = await main(argv, { root, origin: "registry" });
} else if (runsTypeScript()) {
  const { main } = await import("./src/create/main.ts");
  process.exitCode = await main(argv, { root, origin: "checkout", prepare: installCheckout });
} else {
  process.exitCode = runOnOwnNode();
}

function runsTypeScript() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

function runOnOwnNode() {
  try {
    installCheckout();
  } catch (error) {
    console.error(`✖ ${error.message}`);
    return 1;
  }
  const node = join(
    root,
    "node_modules/node/bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  const env = { ...process.env, CREATE_BOT_STARTED_ON: process.versions.node };
  const self = fileURLToPath(import.meta.url);
  const { status, error } = spawnSync(node, [self, ...argv], { stdio: "inherit", env });
  if (error) console.error(`✖ ${node} does not start: ${error.message}. Run npm ci in ${root}.`);
  return status ?? 1;
}

/** A fresh clone has no dependencies yet, and needs them here: the compiler, and a newer Node. */
function installCheckout() {
  if (
    existsSync(join(root, "node_modules/typescript")) &&
    existsSync(join(root, "node_modules/node"))
  )
    return;
  console.error("  npm ci in the checkout, once …");
  const { status } = spawnSync("npm ci --no-audit --no-fund --loglevel=error", {
    cwd: root,
    shell: true,
    // Standard output may belong to --json.
    stdio: ["ignore", 2, 2],
  });
  if (status === 0) return;
  throw new Error(`npm ci failed in ${root}. Run it there by hand, then repeat this command.`);
}

#!/usr/bin/env node
// Starts the scaffolder. The published package contains a bundle for Node 20.12 and later. A checkout contains
// TypeScript, so on an older Node this script starts the Node installed as a dependency.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

// `import` would evaluate every export of a Node module, which takes longer than the rest of this file.
const require = createRequire(import.meta.url);
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const root = fileURLToPath(new URL(".", import.meta.url));
const bundle = join(root, "dist/create.js");
const argv = process.argv.slice(2);

if (existsSync(bundle) && isAtLeast(20, 12)) {
  const { main } = require(bundle);
  process.exitCode = await main(argv, { root, origin: "registry" });
} else if (existsSync(bundle)) {
  process.exitCode = fail(
    `create-bot.js needs Node 20.12 or newer (this is ${process.versions.node}).`,
  );
} else if (isAtLeast(22, 18)) {
  const { main } = await import("./src/create/main.ts");
  process.exitCode = await main(argv, { root, origin: "checkout", prepare: installCheckout });
} else {
  process.exitCode = await runOnOwnNode();
}

function isAtLeast(wantedMajor, wantedMinor) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

async function runOnOwnNode() {
  try {
    installCheckout();
  } catch (error) {
    return fail(error.message);
  }
  const node = join(
    root,
    "node_modules/node/bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  const env = { ...process.env, CREATE_BOT_STARTED_ON: process.versions.node };
  const { spawn } = require("node:child_process");
  const child = spawn(node, [fileURLToPath(import.meta.url), ...argv], { stdio: "inherit", env });
  // The child receives Ctrl-C too, and reports the outcome.
  process.on("SIGINT", () => {});
  return await new Promise((resolve) => {
    child.on("error", ({ message }) =>
      resolve(fail(`Cannot start ${node}: ${message}. Run \`npm ci\` in ${root}.`)),
    );
    child.on("close", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}

/** Reports a failure that occurs before the scaffolder is loaded. */
function fail(message) {
  console.error(`✖ ${message}`);
  if (argv.includes("--json")) console.log(JSON.stringify({ error: { message, conflicts: [] } }));
  return 1;
}

/** Installs the compiler, the prompts and a newer Node, which a fresh clone lacks. */
function installCheckout() {
  const needed = ["typescript", "node", "@clack/core"];
  if (needed.every((name) => existsSync(join(root, "node_modules", name)))) return;
  console.error("  Running npm ci in the checkout …");
  const { spawnSync } = require("node:child_process");
  const { status } = spawnSync("npm ci --no-audit --no-fund --loglevel=error", {
    cwd: root,
    shell: true,
    // Standard output is reserved for --json.
    stdio: ["ignore", 2, 2],
  });
  if (status === 0) return;
  throw new Error(`npm ci failed in ${root}. Run \`npm ci\` there, then run this command again.`);
}

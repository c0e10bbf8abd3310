/** Runs a bot of examples/ with a local platform, which needs neither an account nor network. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.ts";

const [name = "", ...flags] = process.argv.slice(2);
const names = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);
if (!names.includes(name)) {
  console.error(`Choose an example: npm run example NAME, where NAME is ${names.join(", ")}.`);
  process.exit(2);
}
// The bot imports service-bot by its name, which leads to dist/.
await import("./build.ts");
const command = join(root, "dist", "cli", "main.js");
const cwd = join(root, "examples", name);
const dev = spawn(process.execPath, [command, "dev", ...flags], { cwd, stdio: "inherit" });
// The terminal sends Ctrl-C to both processes, and this one reports how the other ended.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => dev.kill("SIGTERM"));
const [code] = await once(dev, "close");
process.exitCode = code ?? 1;

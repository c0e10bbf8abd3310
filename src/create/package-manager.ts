import { type PackageManager, packageManagers } from "./choices.ts";

/** The package manager that started this process; npm where none did. */
export function detectPackageManager(
  env: Readonly<Record<string, string | undefined>>,
): PackageManager {
  const agent = env["npm_config_user_agent"]?.split("/")[0];
  return packageManagers.find((name) => name === agent) ?? "npm";
}

/** What installs a bot's dependencies. */
export const installArgs: Readonly<Record<PackageManager, readonly string[]>> = {
  // With NODE_ENV=production npm would leave out the compiler, and the Node that the bot brings.
  // Audit and funding would ask the registry for what nobody wants to know now.
  npm: ["install", "--include=dev", "--no-audit", "--no-fund"],
  pnpm: ["install"],
  yarn: ["install"],
  bun: ["install"],
};

export const lockFile: Readonly<Record<PackageManager, string>> = {
  npm: "package-lock.json",
  pnpm: "pnpm-lock.yaml",
  yarn: "yarn.lock",
  bun: "bun.lock",
};

/** How a person runs a script of the bot: `npm run dev`, `npm test`. */
export function scriptCommand(packageManager: PackageManager, script: string): string {
  const short = script === "test" || script === "start";
  // `bun test` is not the script but a test runner of its own.
  const word = short && packageManager !== "bun" ? "" : "run ";
  return `${packageManager} ${word}${script}`;
}

/** How a person runs a command of a dependency: `npx service-bot`. */
export function execCommand(packageManager: PackageManager, command: string): string {
  const words = { npm: "npx", pnpm: "pnpm exec", yarn: "yarn", bun: "bunx" };
  return `${words[packageManager]} ${command}`;
}

/** How a person adds a package to the bot: `npm install pg`. */
export function addCommand(packageManager: PackageManager, added: string, dev: boolean): string {
  const verb = packageManager === "npm" ? "install" : "add";
  const flag = packageManager === "npm" || packageManager === "pnpm" ? "--save-dev " : "--dev ";
  return `${packageManager} ${verb} ${dev ? flag : ""}${added}`;
}

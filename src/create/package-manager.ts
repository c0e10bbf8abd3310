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

/** Exactly what the lock file says, on a machine of a CI service that has Node and npm alone. */
export const ciInstall: Readonly<Record<PackageManager, string>> = {
  npm: "npm ci",
  pnpm: "npx --yes pnpm install --frozen-lockfile",
  yarn: "corepack enable && yarn install",
  bun: "npx --yes bun install --frozen-lockfile",
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

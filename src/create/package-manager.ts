import { Cancelled } from "./errors.ts";
import type { Io } from "./io.ts";
import { type PackageManager, packageManagers } from "./options.ts";

/** Returns the package manager that started this process; npm by default. */
export function detectPackageManager(env: Io["env"]): PackageManager {
  const agent = env["npm_config_user_agent"]?.split("/")[0];
  return packageManagers.find((name) => name === agent) ?? "npm";
}

/** Arguments that install a bot's dependencies. */
export const installArgs: Readonly<Record<PackageManager, readonly string[]>> = {
  // With NODE_ENV=production npm would leave out the compiler, and the Node that the bot brings.
  // Audit and funding would cost requests to the registry.
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

/** The command for a script of the bot: `npm run dev`, `npm test`. */
export function scriptCommand(packageManager: PackageManager, script: string): string {
  const short = script === "test" || script === "start";
  // `bun test` is not the script but a test runner of its own.
  const word = short && packageManager !== "bun" ? "" : "run ";
  return `${packageManager} ${word}${script}`;
}

/** The command for a program of a dependency: `npx service-bot`. */
export function execCommand(packageManager: PackageManager, command: string): string {
  const words = { npm: "npx", pnpm: "pnpm exec", yarn: "yarn", bun: "bunx" };
  return `${words[packageManager]} ${command}`;
}

/** The command that adds a package to the bot: `npm install pg`. */
export function addCommand(packageManager: PackageManager, added: string, dev: boolean): string {
  const verb = packageManager === "npm" ? "install" : "add";
  const flag = packageManager === "npm" || packageManager === "pnpm" ? "--save-dev " : "--dev ";
  return `${packageManager} ${verb} ${dev ? flag : ""}${added}`;
}

/** Commands for a machine with Node and npm alone, such as a CI service or the first stage of an image. */
export interface Toolchain {
  /** Installs the package manager; absent for npm. */
  readonly setup?: string;
  /** Installs exactly what the lock file says. */
  readonly ci: string;
  /** The same without devDependencies. */
  readonly production: string;
  /** The same without a lock file. */
  readonly unlocked: string;
  /** Files that the last two read beside package.json. A `*` ends the name of an optional file. */
  readonly files: readonly string[];
}

/** Major versions by default. */
const newest: Readonly<Record<PackageManager, number>> = { npm: 11, pnpm: 12, yarn: 4, bun: 1 };

const ASK_MS = 5000;

/**
 * The major version of the package manager that writes the bot's lock file. Another one may not read it, or want
 * to rewrite it.
 *
 * @param mayAsk whether the package manager may be started, if it has not started this process
 * @throws {Cancelled}
 */
export async function majorOf(
  packageManager: PackageManager,
  mayAsk: boolean,
  { env, cwd, run }: Io,
): Promise<number> {
  const major = (text = "") => /^(\d+)\.\d+\.\d+/m.exec(text)?.[1];
  const [agent, version] = (env["npm_config_user_agent"] ?? "").split(/[/ ]/);
  let known = agent === packageManager ? major(version) : undefined;
  if (known === undefined && mayAsk && packageManager !== "npm") {
    const answer = await run(packageManager, ["--version"], { cwd, env, timeoutMs: ASK_MS });
    if (answer.interrupted) throw new Cancelled();
    if (answer.code === 0) known = major(answer.output);
  }
  return known === undefined ? newest[packageManager] : Number(known);
}

export function toolchainOf(packageManager: PackageManager, major: number): Toolchain {
  const lock = `${lockFile[packageManager]}*`;
  switch (packageManager) {
    case "npm":
      return {
        ci: "npm ci",
        production: "npm ci --omit=dev",
        unlocked: "npm install --omit=dev",
        files: [lock],
      };
    case "pnpm":
      return {
        setup: `npm install --global pnpm@${major}`,
        ci: "pnpm install --frozen-lockfile",
        production: "pnpm install --prod --frozen-lockfile",
        unlocked: "pnpm install --prod",
        files: [lock, "pnpm-workspace.yaml*"],
      };
    case "yarn":
      return { ...yarn(major), files: [lock, ".yarnrc.yml"] };
    case "bun":
      return {
        // npm 12 runs no install script that is not named.
        setup: `npm install --global --allow-scripts=bun bun@${major}`,
        ci: "bun install --frozen-lockfile",
        production: "bun install --production --frozen-lockfile",
        unlocked: "bun install --production",
        files: [lock],
      };
  }
}

function yarn(major: number): Omit<Toolchain, "files"> {
  // --force, because images of Node have a yarn 1 that npm does not know of.
  const setup = "npm install --global --force";
  if (major === 1) {
    return {
      setup: `${setup} yarn@1`,
      ci: "yarn install --frozen-lockfile",
      production: "yarn install --production --frozen-lockfile",
      unlocked: "yarn install --production",
    };
  }
  // Before yarn 4 this was a plugin.
  const focus = major < 4 ? "" : " && yarn workspaces focus --production";
  return {
    setup: `${setup} @yarnpkg/cli-dist@${major}`,
    ci: "yarn install --immutable",
    production: `yarn install --immutable${focus}`,
    unlocked: `yarn install${focus}`,
  };
}

import { Cancelled } from "./errors.ts";
import type { Io } from "./io.ts";
import { type PackageManager, packageManagers } from "./options.ts";

/** Commands for a machine with only Node and npm, such as a CI service or the first stage of an image. */
export interface Toolchain {
  /** Absent for npm, which comes with Node. */
  readonly setup?: string;
  /** Installs exactly the versions in the lock file. */
  readonly ci: string;
  /** Like `ci`, but without devDependencies. */
  readonly production: string;
  /** Like `production`, but without a lock file. */
  readonly unlocked: string;
}

interface PackageManagerFacts {
  readonly lockFile: string;
  /** Files that an install reads in addition to package.json. A trailing `*` marks an optional file. */
  readonly files: readonly string[];
  readonly installArgs: readonly string[];
  readonly exec: string;
  readonly add: string;
  readonly addDev: string;
  readonly newestMajor: number;
  toolchain(major: number): Toolchain;
}

export const packageManagerFacts: Readonly<Record<PackageManager, PackageManagerFacts>> = {
  npm: {
    lockFile: "package-lock.json",
    files: ["package-lock.json*"],
    // With NODE_ENV=production, npm would omit the compiler and the bot's own Node. Audit and funding would send extra
    // requests to the registry.
    installArgs: ["install", "--include=dev", "--no-audit", "--no-fund"],
    exec: "npx",
    add: "npm install",
    addDev: "npm install --save-dev",
    newestMajor: 11,
    toolchain: () => ({
      ci: "npm ci",
      production: "npm ci --omit=dev",
      unlocked: "npm install --omit=dev",
    }),
  },
  pnpm: {
    lockFile: "pnpm-lock.yaml",
    files: ["pnpm-lock.yaml*", "pnpm-workspace.yaml*"],
    installArgs: ["install"],
    exec: "pnpm exec",
    add: "pnpm add",
    addDev: "pnpm add --save-dev",
    newestMajor: 12,
    toolchain: (major) => ({
      setup: `npm install --global pnpm@${major}`,
      ci: "pnpm install --frozen-lockfile",
      production: "pnpm install --prod --frozen-lockfile",
      unlocked: "pnpm install --prod",
    }),
  },
  yarn: {
    lockFile: "yarn.lock",
    files: ["yarn.lock*", ".yarnrc.yml"],
    installArgs: ["install"],
    exec: "yarn",
    add: "yarn add",
    addDev: "yarn add --dev",
    newestMajor: 4,
    toolchain: (major) => (major === 1 ? yarn1 : yarn(major)),
  },
  bun: {
    lockFile: "bun.lock",
    files: ["bun.lock*"],
    installArgs: ["install"],
    exec: "bunx",
    add: "bun add",
    addDev: "bun add --dev",
    newestMajor: 1,
    toolchain: (major) => ({
      // npm 12 runs only install scripts that are listed.
      setup: `npm install --global --allow-scripts=bun bun@${major}`,
      ci: "bun install --frozen-lockfile",
      production: "bun install --production --frozen-lockfile",
      unlocked: "bun install --production",
    }),
  },
};

/** Needs `--force`, because Node images include yarn 1. */
const SETUP_YARN = "npm install --global --force";

const yarn1: Toolchain = {
  setup: `${SETUP_YARN} yarn@1`,
  ci: "yarn install --frozen-lockfile",
  production: "yarn install --production --frozen-lockfile",
  unlocked: "yarn install --production",
};

function yarn(major: number): Toolchain {
  // Before yarn 4, `focus` was a plugin.
  const focus = major < 4 ? "" : " && yarn workspaces focus --production";
  return {
    setup: `${SETUP_YARN} @yarnpkg/cli-dist@${major}`,
    ci: "yarn install --immutable",
    production: `yarn install --immutable${focus}`,
    unlocked: `yarn install${focus}`,
  };
}

export function scriptCommand(packageManager: PackageManager, script: string): string {
  const short = script === "test" || script === "start";
  // `bun test` runs bun's own test runner instead of the script.
  const word = short && packageManager !== "bun" ? "" : "run ";
  return `${packageManager} ${word}${script}`;
}

export function detectPackageManager(env: Io["env"]): PackageManager {
  const agent = env["npm_config_user_agent"]?.split("/")[0];
  return packageManagers.find((name) => name === agent) ?? "npm";
}

const VERSION_TIMEOUT_MS = 5_000;

/**
 * Returns the major version of the package manager that writes the bot's lock file. Another major version may rewrite
 * the file or fail to read it.
 *
 * @param mayAsk true to start the package manager if it did not start this process
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
    const answer = await run(packageManager, ["--version"], {
      cwd,
      env,
      timeoutMs: VERSION_TIMEOUT_MS,
    });
    if (answer.interrupted) throw new Cancelled();
    if (answer.code === 0) known = major(answer.output);
  }
  return known === undefined ? packageManagerFacts[packageManager].newestMajor : Number(known);
}

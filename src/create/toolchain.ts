import type { PackageManager } from "./choices.ts";
import { Cancelled } from "./errors.ts";
import type { Io } from "./io.ts";
import { lockFile } from "./package-manager.ts";

/** What a machine that has Node and npm alone does for a bot: one of a CI service, or the first stage of an image. */
export interface Toolchain {
  /** Puts the package manager there, as a program of its own; undefined where npm is enough. */
  readonly setup?: string;
  /** Installs exactly what the lock file says. */
  readonly ci: string;
  /** The same without devDependencies. */
  readonly production: string;
  /** What installs without devDependencies where there is no lock file. */
  readonly unlocked: string;
  /** What the last two read beside package.json; a `*` at the end of what may be missing. */
  readonly files: readonly string[];
}

/** What is taken where nobody can be asked. */
const newest: Readonly<Record<PackageManager, number>> = { npm: 11, pnpm: 12, yarn: 4, bun: 1 };

const ASK_MS = 5000;

/**
 * The major version of the package manager that writes the bot's lock file. Another one may not read it, or want
 * to rewrite it.
 *
 * @param mayAsk whether the package manager may be started for it, when it has not started this process
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
    const told = await run(packageManager, ["--version"], { cwd, env, timeoutMs: ASK_MS });
    if (told.interrupted) throw new Cancelled();
    if (told.code === 0) known = major(told.output);
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
  // By force: images of Node have a yarn 1 that npm does not know of.
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

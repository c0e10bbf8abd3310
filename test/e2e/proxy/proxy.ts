import { TestProcess } from "../../support/process.ts";
import { isInstalled, SERVER_PATH as PATH } from "../../support/server-path.ts";
import type { Certificates } from "./certificates.ts";

export interface ProxyOptions {
  /** Holds everything that the proxy writes. */
  readonly folder: string;
  readonly certificates: Certificates;
  /** Where https is spoken, on 127.0.0.1. */
  readonly port: number;
  /** The origin of the bot. */
  readonly bot: string;
  /** The configuration for Caddy that passes on to `bot:3000`; by default that of the template. */
  readonly caddyfile?: string;
}

/** How a proxy is run in the foreground, with the configuration that we recommend. */
export interface ProxyKind {
  readonly name: string;
  /** What to install, in Debian's words. */
  readonly debianPackage: string;
  /** Tells its version and ends. */
  readonly version: readonly [command: string, ...args: string[]];
  /** Writes its configuration, and says how it is started. */
  prepare(options: ProxyOptions): ProxyCommand;
}

export interface ProxyCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** In a line of its log that comes once it listens. */
  readonly listening: string;
}

/** A proxy that runs. */
export interface RunningProxy {
  /** Resolves when it does not listen any more. */
  stop(): Promise<void>;
}

export async function startProxy(kind: ProxyKind, options: ProxyOptions): Promise<RunningProxy> {
  const { command, args, env, listening } = kind.prepare(options);
  const running = new TestProcess(args, {
    command,
    bareEnv: true,
    cwd: options.folder,
    env: { ...env, PATH },
  });
  await running.line((line) => line.includes(listening), running.stderr);
  return {
    stop: async () => {
      running.kill("SIGTERM");
      await running.exited;
    },
  };
}

/** Why there can be no test behind this proxy here; undefined when there can. */
export function whyNoProxy({ name, debianPackage, version }: ProxyKind): string | undefined {
  const needed = [version, ["openssl", "version"] as const];
  const missing = needed.filter((one) => !isInstalled(one));
  if (missing.length === 0) return undefined;
  const commands = missing.map(([command]) => command).join(" and ");
  const install = `apt-get install --no-install-recommends ${debianPackage} openssl`;
  return `https behind ${name} is not tested: there is no ${commands} (Debian: ${install})`;
}

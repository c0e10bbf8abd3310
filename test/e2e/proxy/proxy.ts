import { TestProcess } from "../../support/process.ts";
import { isInstalled, SERVER_PATH as PATH } from "../../support/server-path.ts";
import type { Certificates } from "./certificates.ts";

export interface ProxyOptions {
  readonly folder: string;
  readonly certificates: Certificates;
  readonly port: number;
  readonly bot: string;
}

export interface ProxyKind {
  readonly name: string;
  readonly debianPackage: string;
  readonly version: readonly [command: string, ...args: string[]];
  prepare(options: ProxyOptions): ProxyCommand;
}

export interface ProxyCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Part of a log line that appears once the proxy is listening. */
  readonly listening: string;
}

export interface RunningProxy {
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
      await running.end("SIGTERM");
    },
  };
}

/** Returns the reason why tests behind this proxy cannot run here, or `undefined` if they can. */
export function whyNoProxy({ name, debianPackage, version }: ProxyKind): string | undefined {
  const needed = [version, ["openssl", "version"] as const];
  const missing = needed.filter((one) => !isInstalled(one));
  if (missing.length === 0) return undefined;
  const commands = missing.map(([command]) => command).join(" and ");
  const install = `apt-get install --no-install-recommends ${debianPackage} openssl`;
  return `https behind ${name} is skipped: there is no ${commands} (Debian: ${install})`;
}

import { type Run, run } from "./run.ts";

/** Everything that the scaffolder takes from its process, so that tests can hand in their own. */
export interface Io {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The Node that the user started, which is not always the one that runs this. */
  readonly nodeVersion: string;
  /** Milliseconds, from any fixed moment. */
  now(): number;
  out(text: string): void;
  err(text: string): void;
  readonly run: Run;
}

/** Where create-bot.js leaves the user's own Node version when it goes on with a newer Node. */
const STARTED_ON = "CREATE_BOT_STARTED_ON";

/** The world as it is. */
export function processIo(): Io {
  const { [STARTED_ON]: startedOn, ...env } = process.env;
  return {
    cwd: process.cwd(),
    env,
    platform: process.platform,
    nodeVersion: startedOn ?? process.versions.node,
    now: () => performance.now(),
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    run,
  };
}

import { type Run, run } from "./run.ts";
import { processTerminal, type Terminal } from "./terminal.ts";

/** Everything that the scaffolder takes from its process, so that tests can hand in their own. */
export interface Io {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The Node that the user started, which is not always the one that runs this. */
  readonly nodeVersion: string;
  /** Milliseconds, from any fixed moment. */
  now(): number;
  /** Calls again and again, `ms` apart, until what it returns is called. */
  every(ms: number, what: () => void): () => void;
  out(text: string): void;
  err(text: string): void;
  /** Which of the two can rewrite a line. */
  readonly rewrites: { readonly out: boolean; readonly err: boolean };
  /** Where questions can be asked; undefined without a terminal. */
  readonly terminal: Terminal | undefined;
  readonly run: Run;
}

/** Where create-bot.js leaves the user's own Node version when it goes on with a newer Node. */
const STARTED_ON = "CREATE_BOT_STARTED_ON";

/** The world as it is. */
export function processIo(): Io {
  const { [STARTED_ON]: startedOn, ...env } = process.env;
  // Whoever reads may have gone, as `head` does; the bot is made all the same.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return {
    cwd: process.cwd(),
    env,
    platform: process.platform,
    nodeVersion: startedOn ?? process.versions.node,
    now: () => performance.now(),
    every: (ms, what) => {
      const timer = setInterval(what, ms);
      return () => clearInterval(timer);
    },
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    rewrites: { out: canRewrite(process.stdout), err: canRewrite(process.stderr) },
    terminal: processTerminal(),
    run,
  };
}

function canRewrite({ isTTY }: NodeJS.WriteStream): boolean {
  return isTTY === true && process.env["TERM"] !== "dumb";
}

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import {
  type Io,
  main,
  type RunOptions,
  type RunResult,
  type Source,
  type Terminal,
} from "../faces/create.ts";

export const root: string = fileURLToPath(new URL("../..", import.meta.url));

export interface Call extends RunOptions {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Setup {
  readonly cwd: string;
  readonly origin?: Omit<Source, "version">;
  readonly env?: Record<string, string>;
  readonly nodeVersion?: string;
  readonly platform?: NodeJS.Platform;
  /** Terminal to ask questions on. By default, there is none. */
  readonly terminal?: Terminal;
  readonly rewrites?: Io["rewrites"];
  readonly now?: Io["now"];
  readonly every?: Io["every"];
  /** Stands in for every program that the scaffolder starts. By default, each program succeeds and does nothing. */
  readonly run?: (call: Call) => Partial<RunResult> | Promise<Partial<RunResult>>;
}

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly calls: readonly Call[];
}

/** Runs the scaffolder in this process. It behaves like the published scaffolder unless `setup` says otherwise. */
export async function scaffold(argv: readonly string[], setup: Setup): Promise<Outcome> {
  let out = "";
  let err = "";
  const calls: Call[] = [];
  const io: Io = {
    cwd: setup.cwd,
    env: setup.env ?? {},
    platform: setup.platform ?? "linux",
    nodeVersion: setup.nodeVersion ?? "24.0.0",
    now: setup.now ?? (() => 0),
    every: setup.every ?? (() => () => {}),
    rewrites: setup.rewrites ?? { out: false, err: false },
    terminal: setup.terminal,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    run: async (command, args, options) => {
      const call = { command, args, ...options };
      calls.push(call);
      const ended = { code: 0, missing: false, interrupted: false, output: "" };
      return { ...ended, ...(await setup.run?.(call)) };
    },
  };
  const code = await main(argv, setup.origin ?? { root, origin: "registry" }, io);
  return { code, out, err, calls };
}

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "create bot "));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export async function everythingIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !/(?:^|\/)\.git\//.test(path))
    .sort();
}

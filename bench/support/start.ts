import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { onCore } from "../harness/cores.ts";

/** A server that is started as its user starts it. */
export interface Program {
  readonly cwd: string;
  /** The file that Node runs. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  /** Is answered with 200 once it is ready. */
  readonly path: string;
}

/** One that is ready. */
export interface Started {
  /** From the start of the process to the first 200, in milliseconds. */
  readonly ms: number;
  /** Resident memory now, in MiB. */
  memory(): number;
  stop(): Promise<void>;
}

/** How often it is asked, in milliseconds. */
const ASK_MS = 2;

/** The port is one that nobody has. @throws {Error} it ended before it was ready */
export async function start({ cwd, file, env, path }: Program, port: number): Promise<Started> {
  const inherited = { PATH: process.env.PATH, SystemRoot: process.env.SystemRoot };
  const options = { cwd, env: { ...inherited, ...env, PORT: String(port) } };
  const began = performance.now();
  const [program, ...args] = onCore("measured", [process.execPath, file]);
  const child = spawn(program, args, { ...options, stdio: "ignore" });
  const exited = once(child, "exit");
  while ((await ask(port, path)) !== 200) {
    if (child.exitCode !== null) throw new Error(`${file} ended with ${child.exitCode}`);
    await pause(ASK_MS);
  }
  const ms = performance.now() - began;
  return {
    ms,
    memory: () => residentMiB(child.pid ?? 0),
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** The status that is answered; undefined while nobody answers. Lighter than a client of HTTP, for cores are shared. */
function ask(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    let status: number | undefined;
    socket.on("connect", () => socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`));
    socket.once("data", (head: Buffer) => {
      status = Number(head.toString("latin1", 9, 12));
      socket.destroy();
    });
    // What comes before the server listens is refused; "close" follows.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(status));
  });
}

function residentMiB(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kib = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, "utf8"))?.[1]
    : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return Number(kib) / 1024;
}

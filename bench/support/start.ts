import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { onCore } from "../harness/cores.ts";

export interface Program {
  readonly cwd: string;
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  /** Path that responds with 200 once the server is ready. */
  readonly path: string;
}

export interface Started {
  /** Time from the start of the process to the first 200, in ms. */
  readonly ms: number;
  /** Current resident memory, in MiB. */
  memory(): number;
  stop(): Promise<void>;
}

/** Polling interval until the server is ready, in ms. */
const ASK_MS = 2;

/** Starts a program on a free port. @throws {Error} if it ends before it is ready */
export async function start({ cwd, file, env, path }: Program, port: number): Promise<Started> {
  const inherited = { PATH: process.env.PATH, SystemRoot: process.env.SystemRoot };
  const options = { cwd, env: { ...inherited, ...env, PORT: String(port) } };
  const began = performance.now();
  const [program, ...args] = onCore("measured", [process.execPath, file]);
  const child = spawn(program, args, { ...options, stdio: "ignore" });
  const exited = once(child, "exit");
  while ((await ask(port, path)) !== 200) {
    if (child.exitCode !== null) throw new Error(`${file} exited with code ${child.exitCode}`);
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

/**
 * Returns the response status, or `undefined` if the server does not respond. Uses a plain socket, because an HTTP
 * client would take CPU time from the process that is starting.
 */
function ask(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    let status: number | undefined;
    socket.on("connect", () => socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`));
    socket.once("data", (head: Buffer) => {
      status = Number(head.toString("latin1", 9, 12));
      socket.destroy();
    });
    // Connections are refused until the server is listening. A "close" follows each "error".
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

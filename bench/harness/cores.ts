import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Which core a process runs on. The measured process has one core to itself. Everything else shares another core. */
export type Side = "measured" | "load";

type Cores = Readonly<Record<Side, number>>;

let cores: Cores | undefined | "unknown" = "unknown";

/** Pins this process, and every process it starts later, to the load core. */
export function useLoadCore(): void {
  const found = findCores();
  if (found === undefined) return;
  execFileSync("taskset", ["-a", "-p", "-c", String(found.load), String(process.pid)]);
}

/**
 * Prefixes a command with `taskset` for its side's core. Returns the command unchanged if processes cannot be pinned.
 */
export function onCore(side: Side, command: readonly string[]): [string, ...string[]] {
  const found = findCores();
  const [program = "", ...args] =
    found === undefined ? command : ["taskset", "-c", String(found[side]), ...command];
  return [program, ...args];
}

/** Leaves all processes on all cores, because on one core the profiler would sample mostly system calls. */
export function useAllCores(): void {
  cores = undefined;
}

export function coresLine(): string {
  const found = findCores();
  if (found === undefined) return "not pinned to cores";
  return `measured on core ${found.measured}, load on core ${found.load}`;
}

/** Returns the first and the last core of this process, or `undefined` with only one core or without `taskset`. */
function findCores(): Cores | undefined {
  if (cores === "unknown") cores = readCores();
  return cores;
}

function readCores(): Cores | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  const status = readFileSync("/proc/self/status", "utf8");
  const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? "";
  // The list looks like 0-3,8. Its first and last cores are rarely two threads of one physical core.
  const numbers = allowed.split(/[-,]/).map(Number);
  const [load = 0, measured = load] = [numbers[0], numbers.at(-1)];
  return load === measured ? undefined : { measured, load };
}

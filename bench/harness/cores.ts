import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Side of a benchmark: what is measured has a core to itself, and everything else shares another one. */
export type Side = "measured" | "load";

type Cores = Readonly<Record<Side, number>>;

let cores: Cores | undefined | "unknown" = "unknown";

/** Puts this process on the load's core, with everything that it starts from now on. */
export function useLoadCore(): void {
  const found = findCores();
  if (found === undefined) return;
  execFileSync("taskset", ["-a", "-p", "-c", String(found.load), String(process.pid)]);
}

/** A command that runs on the core of its side; the command itself where processes cannot be pinned. */
export function onCore(side: Side, command: readonly string[]): [string, ...string[]] {
  const found = findCores();
  const [program = "", ...args] =
    found === undefined ? command : ["taskset", "-c", String(found[side]), ...command];
  return [program, ...args];
}

/** Where the two sides run, for the line about the machine. */
export function coresLine(): string {
  const found = findCores();
  if (found === undefined) return "not pinned to cores";
  return `measured on core ${found.measured}, load on core ${found.load}`;
}

/** The first and the last core of this process; `undefined` with one core, or without `taskset`. */
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
  // Such as 0-3,8: the first and the last are rarely two threads of one core.
  const numbers = allowed.split(/[-,]/).map(Number);
  const [load = 0, measured = load] = [numbers[0], numbers.at(-1)];
  return load === measured ? undefined : { measured, load };
}

import { cpus, release, totalmem, type } from "node:os";
import { coresLine } from "./cores.ts";

export interface Environment {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  /** Total memory in GiB. */
  readonly memory: number;
  readonly system: string;
  readonly pinned: string;
}

export function environment(): Environment {
  return {
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memory: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    pinned: coresLine(),
  };
}

export function environmentLine({ node, cpu, cores, memory, system, pinned }: Environment): string {
  return `Node ${node}, ${cpu}, ${cores} cores, ${memory} GiB, ${system}; ${pinned}`;
}

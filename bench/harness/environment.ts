import { availableParallelism, cpus, release, totalmem, type } from "node:os";

/** Where the figures come from. */
export interface Environment {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  /** In GiB. */
  readonly memory: number;
  readonly system: string;
}

export function environment(): Environment {
  return {
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memory: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
  };
}

export function environmentLine({ node, cpu, cores, memory, system }: Environment): string {
  return `Node ${node}, ${cpu}, ${cores} cores, ${memory} GiB, ${system}`;
}

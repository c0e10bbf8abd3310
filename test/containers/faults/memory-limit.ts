import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Docker } from "../engine/docker.ts";
import type { State } from "../support/container.ts";

/** A program that prints the memory limit that Node detects, and then allocates as many bytes as its argument says. */
const GREEDY = `
console.log(process.constrainedMemory());
const taken = [];
for (let left = process.argv[1]; left > 0; left -= 1_048_576) taken.push(Buffer.alloc(1_048_576, 1));
`;

const CGROUPS = "/sys/fs/cgroup";

interface RunningState extends State {
  readonly Pid: number;
}

export class MemoryLimit {
  readonly bytes: number;
  readonly #docker: Docker;

  constructor(docker: Docker, bytes: number) {
    this.#docker = docker;
    this.bytes = bytes;
  }

  get flags(): readonly string[] {
    return ["--memory", `${this.bytes}b`, "--memory-swap", `${this.bytes}b`];
  }

  /** Returns a sentence if the engine allows twice the limit, or if Node detects another limit. */
  async checkEngine(image: string): Promise<string[]> {
    const docker = this.#docker;
    const name = `greedy-${process.pid}`;
    const greedy = ["node", "-e", GREEDY, String(2 * this.bytes)];
    await docker.succeeds("run", "--name", name, ...this.flags, image, ...greedy);
    try {
      const { OOMKilled } = await docker.inspect<State>(name, "json .State");
      const [seen] = await docker.logs(name);
      return [
        ...(OOMKilled ? [] : [`unexpected: the engine allowed ${name} to exceed its memory limit`]),
        ...(Number(seen) === this.bytes
          ? []
          : [`unexpected: Node detected a limit of ${seen} bytes`]),
      ];
    } finally {
      await docker.run("rm", "--force", name);
    }
  }

  /** Returns the pid if the container is running. */
  async checkContainer(name: string): Promise<{ pid?: number; violations: string[] }> {
    const docker = this.#docker;
    const { OOMKilled, Pid, Running } = await docker.inspect<RunningState>(name, "json .State");
    if (OOMKilled || !Running)
      return { violations: [`${name} was killed for using too much memory, or has exited`] };
    const { Memory } = await docker.inspect<{ Memory: number }>(name, "json .HostConfig");
    const { limit, kills } = readController(Pid);
    const violations: string[] = [];
    if (kills > 0)
      violations.push(`${kills} processes of ${name} were killed for using too much memory`);
    if (Memory !== this.bytes || limit !== this.bytes) {
      violations.push(
        `unexpected: ${name} has a configured limit of ${Memory} bytes and an actual limit of ${limit}`,
      );
    }
    return { pid: Pid, violations };
  }
}

/** Reads a process's memory limit in bytes and its number of OOM kills, from cgroups v1 or v2. */
function readController(pid: number): { limit: number; kills: number } {
  const groups = readFileSync(`/proc/${pid}/cgroup`, "utf8");
  const [, first] = /^\d+:memory:(.*)$/m.exec(groups) ?? [];
  const [, second = ""] = /^0::(.*)$/m.exec(groups) ?? [];
  const folder = first === undefined ? join(CGROUPS, second) : join(CGROUPS, "memory", first);
  const read = (...names: readonly string[]) => {
    const found = names.map((name) => join(folder, name)).find(existsSync);
    if (found === undefined) throw new Error(`${folder} has no ${names.join(" and no ")}`);
    return readFileSync(found, "utf8");
  };
  const [, kills] = /^oom_kill (\d+)$/m.exec(read("memory.oom_control", "memory.events")) ?? [];
  return { limit: Number(read("memory.limit_in_bytes", "memory.max")), kills: Number(kills) };
}

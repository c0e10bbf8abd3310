import type { Figure, Samples } from "../harness/benchmark.ts";

interface Measured {
  cpuMs(): Promise<number>;
}

function cpuOf(sample: string): string {
  return `${sample} cpu`;
}

export async function withCpu(
  name: string,
  process: Measured,
  events: number,
  work: () => Promise<Samples>,
): Promise<Samples> {
  const before = await process.cpuMs();
  const samples = await work();
  const cpuMs = (await process.cpuMs()) - before;
  return { ...samples, [cpuOf(name)]: (cpuMs * 1000) / events };
}

/** CPU time per event, compared with a peer. These figures hold even on a busy machine. */
export function cpuFigures(ours: Figure, peer: Figure): Figure[] {
  const figure = ({ name, sample }: Figure): Figure => ({
    ...{ name: `${name}: CPU time`, sample: cpuOf(sample), unit: "µs per event" },
  });
  return [figure(peer), { ...figure(ours), against: cpuOf(peer.sample) }];
}

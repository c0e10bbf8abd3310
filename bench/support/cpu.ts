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

/** CPU time per event. Holds even on a busy machine. @param peer what the figure is compared with */
export function cpuFigure({ name, sample }: Figure, peer?: Figure): Figure {
  return {
    ...{ name: `${name}: CPU time`, sample: cpuOf(sample), unit: "µs per event" },
    ...(peer && { against: cpuOf(peer.sample) }),
  };
}

/** CPU time per event of a peer, and of ours compared with it. */
export function cpuFigures(ours: Figure, peer: Figure): Figure[] {
  return [cpuFigure(peer), cpuFigure(ours, peer)];
}

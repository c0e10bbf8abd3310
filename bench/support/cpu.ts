import type { Figure, Samples } from "../harness/benchmark.ts";

/** A process that reports its time of the processor. */
interface Measured {
  cpuMs(): Promise<number>;
}

/** The sample of the processor's time for an event. */
function cpuOf(sample: string): string {
  return `${sample} cpu`;
}

/** Runs work of so many events in a process, and samples the time of the processor that an event takes there. */
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

/** Time of the processor for an event, ours beside a peer's: what holds on a busy machine, too. */
export function cpuFigures(ours: Figure, peer: Figure): Figure[] {
  const figure = ({ name, sample }: Figure): Figure => ({
    ...{ name: `${name}: processor`, sample: cpuOf(sample), unit: "µs per event" },
  });
  return [figure(peer), { ...figure(ours), against: cpuOf(peer.sample) }];
}

import type { Samples, Subject } from "./benchmark.ts";

export type Measured = ReadonlyMap<string, readonly number[]>;

/**
 * Measures every subject once per round, after warm-up rounds that are discarded. The order rotates from round to
 * round, so that other work on the machine affects all subjects equally.
 *
 * @param isWarm called before the first round that counts
 */
export async function measureRounds(
  subjects: readonly Subject[],
  rounds: number,
  warmUpRounds = 1,
  isWarm: () => Promise<void> | undefined = () => undefined,
): Promise<Measured> {
  for (let round = 0; round < warmUpRounds; round += 1) await measureRound(subjects);
  await isWarm();
  const measured = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const [name, value] of Object.entries(await measureRound(order))) {
      measured.set(name, [...(measured.get(name) ?? []), value]);
    }
  }
  return measured;
}

async function measureRound(subjects: readonly Subject[]): Promise<Samples> {
  const samples: Record<string, number> = {};
  for (const subject of subjects) {
    for (const [name, value] of Object.entries(await subject())) {
      if (name in samples)
        throw new Error(`two subjects of one benchmark use the sample name "${name}"`);
      samples[name] = value;
    }
  }
  return samples;
}

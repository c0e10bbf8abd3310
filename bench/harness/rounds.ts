import type { Samples, Subject } from "./benchmark.ts";

/** The samples of every round by their names. */
export type Measured = ReadonlyMap<string, readonly number[]>;

/**
 * Measures every subject once in each round, after one round to warm up that is thrown away. The order turns with
 * every round: what the machine does meanwhile meets all of them alike.
 *
 * @param isWarm called before the first round that counts
 */
export async function measureRounds(
  subjects: readonly Subject[],
  rounds: number,
  warmUp = true,
  isWarm: () => Promise<void> | undefined = () => undefined,
): Promise<Measured> {
  if (warmUp) await measureRound(subjects);
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
      if (name in samples) throw new Error(`two subjects of one benchmark sample "${name}"`);
      samples[name] = value;
    }
  }
  return samples;
}

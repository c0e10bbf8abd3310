import { ALIKE, answerTo } from "./texts.ts";

/** A message that somebody wrote to the bot. */
export interface Written {
  readonly id: string;
  readonly lane: string;
  readonly text: string;
  /** How many answers it must get; 0 where its handler never succeeds. */
  readonly answers: number;
  /** How it must end. Default done. */
  readonly ends?: "done" | "dead";
}

/** An event as the inbox has it. */
export interface Stored {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly error: string | null;
}

/** Everything that was seen of a run, from outside of the bot. */
export interface Observed {
  /** In the order in which it was written. */
  readonly written: readonly Written[];
  /** What the bot said, as the platform has it, oldest first, by lane. */
  readonly said: ReadonlyMap<string, readonly string[]>;
  /** The ids in deliveries that were answered with 2xx. */
  readonly acknowledged: ReadonlySet<string>;
  readonly stored: readonly Stored[];
  /** What `pragma integrity_check` says. */
  readonly integrity: string;
}

export interface Rules {
  /** `any` where events themselves come out of order. Default `lane`. */
  readonly order?: "lane" | "any";
  /** How often each of these texts may be said besides what is due. */
  readonly mayRepeat?: ReadonlyMap<string, number>;
}

/** Holds what was seen against what was promised; every broken promise is one sentence. */
export function check(observed: Observed, rules: Rules = {}): string[] {
  return [...checkStored(observed), ...checkSaid(observed, rules), ...checkIntegrity(observed)];
}

/** A violation for each of these, which were acknowledged and are not in the inbox. */
export function lost(missing: readonly string[], moment?: string): string[] {
  const when = moment === undefined ? "" : ` ${moment}`;
  return missing.map((id) => `lost: ${id} was acknowledged and is not in the inbox${when}`);
}

function checkIntegrity({ integrity }: Observed): string[] {
  return integrity === "ok" ? [] : [`integrity_check: ${integrity}`];
}

function checkStored({ written, stored, acknowledged }: Observed): string[] {
  const violations: string[] = [];
  const rows = new Map(stored.map((row) => [row.id, row]));
  const known = new Set(written.map(({ id }) => id));
  violations.push(...lost([...acknowledged].filter((id) => !rows.has(id))));
  for (const { id, text, ends = "done" } of written) {
    const row = rows.get(id);
    if (row?.state === ends) continue;
    const why = row?.error === null || row === undefined ? "" : `: ${row.error}`;
    const runs = row === undefined ? "" : ` after ${row.attempts} attempts`;
    violations.push(
      `${row === undefined ? "lost" : "unexpected"}: ${id} "${text}" is ${row?.state ?? "not stored"}` +
        `${runs}, not ${ends}${why}`,
    );
  }
  for (const { id } of stored) {
    if (!known.has(id)) violations.push(`unexpected: ${id} is in the inbox, and nobody wrote it`);
  }
  return violations;
}

/** Lost, duplicated, unexpected and reordered answers, lane by lane. */
function checkSaid(observed: Observed, { order = "lane", mayRepeat = new Map() }: Rules): string[] {
  const expected = expectedIn(observed);
  const { said } = observed;
  const lanes = new Set([...expected.keys(), ...said.keys()]);
  return [...lanes].flatMap((lane) => {
    const [wanted, actual] = [expected.get(lane) ?? [], said.get(lane) ?? []];
    const reordered = order === "any" ? [] : checkOrder(lane, wanted, actual);
    return [...compare(lane, wanted, actual, mayRepeat), ...reordered];
  });
}

/** What the bot has to say, by lane, in the order in which it was asked. */
function expectedIn({ written }: Observed): Map<string, string[]> {
  const expected = new Map<string, string[]>();
  for (const { lane, text, answers } of written) {
    const texts = expected.get(lane) ?? [];
    for (let n = 1; n <= answers; n++) texts.push(answerTo(text, n));
    expected.set(lane, texts);
  }
  return expected;
}

/** How many answers were said more often than they were due. */
export function repeats(observed: Observed): number {
  const wanted = count([...expectedIn(observed).values()].flat());
  const actual = count([...observed.said.values()].flat());
  let more = 0;
  for (const [text, times] of actual) more += Math.max(0, times - (wanted.get(text) ?? times));
  return more;
}

function compare(
  lane: string,
  expected: readonly string[],
  said: readonly string[],
  mayRepeat: ReadonlyMap<string, number>,
): string[] {
  const violations: string[] = [];
  const [wanted, actual] = [count(expected), count(said)];
  for (const [text, times] of actual) {
    const due = wanted.get(text) ?? 0;
    if (due === 0) {
      violations.push(`unexpected: "${text}" was said in ${lane}, and nobody asked for it`);
    } else if (times > due + (mayRepeat.get(text) ?? 0)) {
      violations.push(`duplicated: "${text}" was said ${times} times in ${lane}, not ${due}`);
    }
  }
  for (const [text, due] of wanted) {
    const times = actual.get(text) ?? 0;
    if (times === 0) violations.push(`lost: "${text}" was never said in ${lane}`);
    else if (times < due) {
      violations.push(`lost: "${text}" was said ${times} times in ${lane}, not ${due}`);
    }
  }
  return violations;
}

function count(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function checkOrder(lane: string, expected: readonly string[], said: readonly string[]): string[] {
  const places = new Map(expected.map((text, place) => [text, place]));
  let last = -1;
  let before = "";
  for (const text of new Set(said)) {
    const place = places.get(text);
    if (place === undefined || text === ALIKE) continue;
    if (place < last) return [`reordered: "${text}" was said after "${before}" in ${lane}`];
    last = place;
    before = text;
  }
  return [];
}

import { ALIKE } from "../bot/behaviours.ts";

export interface Written {
  readonly id: string;
  readonly lane: string;
  readonly text: string;
  /** The replies due, in order. Empty if the handler never succeeds. */
  readonly says: readonly string[];
  /** Default: done. */
  readonly ends?: "done" | "dead";
}

export interface Stored {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly source?: "webhook" | "poll";
}

export interface Run {
  readonly id: string;
  readonly lane: string;
  readonly late: boolean;
}

export interface Contents {
  readonly stored: readonly Stored[];
  /** `ok`, or a description of what is wrong in the file or the lanes. */
  readonly integrity: string;
}

export interface Observed extends Contents {
  readonly written: readonly Written[];
  /** The bot's replies per lane, oldest first, as stored by the platform. */
  readonly said: ReadonlyMap<string, readonly string[]>;
  readonly acknowledged: ReadonlySet<string>;
}

export interface Rules {
  /** `any` if the events themselves arrive out of order. Default: `lane`. */
  readonly order?: "lane" | "any";
  /** `some events` if the inbox deletes old events during the run, so that only the replies count. Default: `all`. */
  readonly keeps?: "all" | "some events";
  /** How often each text may be sent in addition to the replies due. */
  readonly mayRepeat?: ReadonlyMap<string, number>;
}

/** Returns one sentence per broken promise. */
export function check(observed: Observed, rules: Rules = {}): string[] {
  const { integrity } = observed;
  const damage = integrity === "ok" ? [] : [`integrity_check: ${integrity}`];
  const lost = rules.keeps === "some events" ? [] : checkStored(observed);
  return [...lost, ...checkSaid(observed, rules), ...damage];
}

export function reportLost(missing: readonly string[], moment = "in the end"): string[] {
  return missing.map((id) => `lost: ${id} was acknowledged but is not in the inbox ${moment}`);
}

function checkStored({ written, stored, acknowledged }: Observed): string[] {
  const rows = new Map(stored.map((row) => [row.id, row]));
  const known = new Set(written.map(({ id }) => id));
  const wrong = written.flatMap(({ id, text, ends = "done" }) => {
    const row = rows.get(id);
    if (row === undefined) return [`lost: ${id} "${text}" is not stored`];
    const { state, attempts, error } = row;
    if (state === ends) return [];
    return [`unexpected: ${id} "${text}" is ${state} after ${attempts} attempts: ${error}`];
  });
  const invented = stored.filter(({ id }) => !known.has(id) && !isOwn(id));
  return [
    ...reportLost([...acknowledged].filter((id) => !rows.has(id))),
    ...wrong,
    ...invented.map(({ id }) => `unexpected: ${id} is in the inbox but was never written`),
  ];
}

/** Events that the bot created itself are checked by `driver/timers.ts`. */
export function isOwn(id: string): boolean {
  return /^(timer|cron):/.test(id);
}

export function checkSaid(
  observed: Pick<Observed, "written" | "said">,
  { order = "lane", mayRepeat = new Map() }: Rules = {},
): string[] {
  const expected = expectedAnswers(observed);
  const { said } = observed;
  const lanes = new Set([...expected.keys(), ...said.keys()]);
  return [...lanes].flatMap((lane) => {
    const [wanted, actual] = [expected.get(lane) ?? [], said.get(lane) ?? []];
    const due = countTexts(wanted);
    const counts = countTexts(actual);
    const wrong = [...new Set([...wanted, ...actual])].flatMap((text) => {
      const [times, most] = [counts.get(text) ?? 0, due.get(text) ?? 0];
      const found = `"${text}" was said ${times} times in ${lane}, not ${most}`;
      if (times < most) return [`lost: ${found}`];
      if (most === 0) return [`unexpected: ${found}`];
      return times > most + (mayRepeat.get(text) ?? 0) ? [`duplicated: ${found}`] : [];
    });
    return order === "any" ? wrong : [...wrong, ...checkOrder(lane, wanted, actual)];
  });
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

function expectedAnswers({ written }: Pick<Observed, "written">): Map<string, string[]> {
  const expected = new Map<string, string[]>();
  for (const { lane, says } of written) {
    const texts = expected.get(lane) ?? [];
    texts.push(...says);
    expected.set(lane, texts);
  }
  return expected;
}

/** A lane for all of the bot's comments and posts. Their order is not checked. */
export const COMMENTS = "comments";

export function countRepeats(observed: Observed): number {
  const due = countTexts([...expectedAnswers(observed).values()].flat());
  const actual = countTexts([...observed.said.values()].flat());
  let more = 0;
  for (const [text, times] of actual) more += Math.max(0, times - (due.get(text) ?? times));
  return more;
}

export function countTexts(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

export function countRuns(runs: readonly Run[]): Map<string, number> {
  return countTexts(runs.map(({ id }) => id));
}

/**
 * Checks the handler runs of a test without failures. Each event runs once. A run is `late` if and only if a later
 * event in its lane ran first. All ids have the same length, so they can be compared as strings.
 */
export function checkRuns(written: readonly Written[], runs: readonly Run[]): string[] {
  const violations: string[] = [];
  const newest = new Map<string, string>();
  for (const { id, lane, late } of runs) {
    const before = newest.get(lane) ?? "";
    if (late !== id < before) {
      violations.push(
        `reordered: ${id} ran with late=${late} after ${before || "nothing"} in ${lane}`,
      );
    }
    if (id > before) newest.set(lane, id);
  }
  const counts = countRuns(runs);
  for (const { id } of written) {
    const count = counts.get(id) ?? 0;
    if (count !== 1)
      violations.push(`${count === 0 ? "lost" : "duplicated"}: ${id} had ${count} runs`);
  }
  return violations;
}

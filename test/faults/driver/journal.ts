/** One line of what the bots under test asked of an inbox in PostgreSQL. */
export interface JournalEntry {
  readonly pid: number;
  /**
   * `claim`: it got this event; `intend`: it is about to record an intent; `record`: the step has an outcome;
   * `end`: it has said that the event is done or dead; `heal`: it has looked for lanes that were stranded.
   */
  readonly what: "claim" | "intend" | "record" | "end" | "heal";
  readonly id?: string;
  readonly lane?: string;
  readonly fence?: number;
  readonly step?: string;
  /** What the step is about to do, as JSON. */
  readonly request?: string;
  /** Whether the lease still held, so that the outcome was taken. */
  readonly held?: boolean;
  /** How many lanes were stranded. */
  readonly lanes?: number;
}

/** Reads the lines; one that a process has died in is passed over. */
export function readJournal(text: string): JournalEntry[] {
  const lines = text.split("\n");
  return lines.slice(0, -1).map((line): JournalEntry => JSON.parse(line));
}

/** What the journal tells about leases. */
export interface Leases {
  readonly violations: readonly string[];
  /** Outcomes that were taken although somebody else had the event by then. */
  readonly stale: number;
  /** Outcomes that came after the lease was lost, and were dropped. */
  readonly dropped: number;
  /** Lanes that had pending events and that nobody would have claimed. */
  readonly stranded: number;
}

/** @param fences of the last claim of each event, as the inbox has it */
export function checkLeases(
  journal: readonly JournalEntry[],
  fences: ReadonlyMap<string, number>,
): Leases {
  const violations: string[] = [];
  const claims = new Set<string>();
  const ended = new Set<string>();
  const count = { stale: 0, dropped: 0, stranded: 0 };
  for (const { what, pid, id = "", lane = "", fence = 0, held = false, lanes = 0 } of journal) {
    if (what === "claim") {
      const key = `${lane} ${fence}`;
      if (claims.has(key))
        violations.push(`two leases: ${lane} was leased twice by the fence ${fence}`);
      claims.add(key);
    } else if (what === "end" && !held) {
      count.dropped += 1;
    } else if (what === "end") {
      if (ended.has(id)) violations.push(`two endings: ${id} has ended twice`);
      ended.add(id);
      if (fences.get(id) === fence) continue;
      count.stale += 1;
      violations.push(
        `stale: process ${pid} ended ${id} by the fence ${fence}, and the last claim is ${fences.get(id)}`,
      );
    } else if (what === "heal" && lanes > 0) {
      count.stranded += lanes;
      violations.push(
        `stranded: ${lanes} lanes had pending events, and nobody would have claimed them`,
      );
    }
  }
  return { violations, ...count };
}

/** The texts that a process was in the middle of saying, as far as the journal goes: intended, without outcome. */
export function beingSaid(journal: readonly JournalEntry[], pid: number): string[] {
  const open = new Map<string, string>();
  for (const entry of journal) {
    if (entry.pid !== pid) continue;
    const key = `${entry.id} ${entry.step}`;
    if (entry.what === "intend") open.set(key, entry.request ?? "");
    else if (entry.what === "record") open.delete(key);
  }
  return [...open.values()].map((request) => {
    const { text }: { text: string } = JSON.parse(request);
    return text;
  });
}

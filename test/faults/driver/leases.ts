export interface JournalEntry {
  readonly pid: number;
  /**
   * - `claim`: the process claimed this event.
   * - `intend`: the process is about to record an intent.
   * - `record`: the step has an outcome.
   * - `end`: the process reported the event as done or dead.
   * - `heal`: the process searched for stranded lanes.
   */
  readonly what: "claim" | "intend" | "record" | "end" | "heal";
  readonly id?: string;
  readonly lane?: string;
  readonly fence?: number;
  readonly step?: string;
  readonly request?: string;
  /** True if the process still held the lease, so that its outcome counted. */
  readonly held?: boolean;
  readonly lanes?: number;
}

/** Drops an incomplete last line, which a process that died while writing may have left. */
export function readJournal(text: string): JournalEntry[] {
  const lines = text.split("\n");
  return lines.slice(0, -1).map((line): JournalEntry => JSON.parse(line));
}

export interface Leases {
  readonly violations: readonly string[];
  /** Number of outcomes that counted although another process had claimed the event since. */
  readonly stale: number;
  readonly dropped: number;
  /** Number of lanes with pending events that no process could claim. */
  readonly stranded: number;
}

/** @param fences the fence of each event's last claim, read from the inbox */
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
        violations.push(`two leases: ${lane} was leased twice with the fence ${fence}`);
      claims.add(key);
    } else if (what === "end" && !held) {
      count.dropped += 1;
    } else if (what === "end") {
      if (ended.has(id)) violations.push(`two endings: ${id} ended twice`);
      ended.add(id);
      if (fences.get(id) === fence) continue;
      count.stale += 1;
      violations.push(
        `stale: process ${pid} ended ${id} with the fence ${fence}, but the last claim is ${fences.get(id)}`,
      );
    } else if (what === "heal" && lanes > 0) {
      count.stranded += lanes;
      violations.push(`stranded: ${lanes} lanes had pending events but could not be claimed`);
    }
  }
  return { violations, ...count };
}

/** Lists the texts that a process was sending when it stopped: its steps with an intent but no outcome. */
export function findUnfinishedTexts(journal: readonly JournalEntry[], pid: number): string[] {
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

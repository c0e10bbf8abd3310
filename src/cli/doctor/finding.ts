/** What is looked at, in this order. */
export type Area =
  | "node"
  | "environment"
  | "platform"
  | "clock"
  | "scopes"
  | "database"
  | "storage"
  | "inbox"
  | "bot"
  | "webhook";

/** What one look has found. */
export interface Finding {
  readonly area: Area;
  /**
   * `fail` keeps the bot from its work. `warn` puts a secret or an event at risk while the bot works. `note` is good to
   * know, and may be intended.
   */
  readonly level: "ok" | "note" | "warn" | "fail";
  readonly what: string;
  /** What to do about it; absent where all is well. */
  readonly remedy?: string;
}

/** Makes the findings of an area. */
export function findingsOf(area: Area): {
  ok(what: string): Finding;
  note(what: string, remedy: string): Finding;
  warn(what: string, remedy: string): Finding;
  fail(what: string, remedy: string): Finding;
} {
  return {
    ok: (what) => ({ area, level: "ok", what }),
    note: (what, remedy) => ({ area, level: "note", what, remedy }),
    warn: (what, remedy) => ({ area, level: "warn", what, remedy }),
    fail: (what, remedy) => ({ area, level: "fail", what, remedy }),
  };
}

const marks = { ok: "ok  ", note: "note", warn: "WARN", fail: "FAIL" } as const;

/** Describes a finding in one line, and its remedy in another. */
export function findingLines({ level, what, remedy }: Finding): readonly string[] {
  const line = `${marks[level]} ${what}`;
  return remedy === undefined ? [line] : [line, `     → ${remedy}`];
}

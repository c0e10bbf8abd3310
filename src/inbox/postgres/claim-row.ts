import type { Claim } from "../inbox.ts";

/** The claim of a lane with its first event. */
export interface ClaimRow {
  readonly key: string;
  readonly fence: number;
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly source: Claim["source"];
  readonly attempts: number;
  readonly crashes: number;
  readonly received_at: number;
  readonly trace: string | null;
  readonly late: boolean;
}

export function toClaim(row: ClaimRow): Claim {
  return {
    lane: row.key,
    fence: row.fence,
    id: row.id,
    type: row.type,
    body: row.body,
    source: row.source,
    attempt: row.attempts,
    crashes: row.crashes,
    late: row.late,
    receivedAt: row.received_at,
    trace: row.trace ?? undefined,
  };
}

import type { FaultsChange } from "../../../types.ts";
import { type Mode, modes, type Target } from "./modes.ts";

/** A fault as it is typed: fields of numbers are text, and empty where nothing is said. */
export interface FaultDraft {
  readonly mode: Mode;
  readonly status: string;
  /** Seconds. */
  readonly delay: string;
  /** Seconds. */
  readonly retryAfter: string;
  readonly match: "all" | "write";
  /** Percent. */
  readonly share: string;
  readonly times: string;
}

export function newDraft(target: Target): FaultDraft {
  const mode = modes[target][0]?.value ?? "status";
  const status = target === "api" ? "503" : "500";
  return { mode, status, delay: "5", retryAfter: "", match: "all", share: "", times: "1" };
}

/**
 * What is sent to the platform. Fields that the mode does not have are left out, also where something is typed.
 *
 * @throws {Error} a field holds what it cannot, with what it can
 */
export function changeOf(target: Target, draft: FaultDraft): FaultsChange {
  const fields = modes[target].find(({ value }) => value === draft.mode)?.fields ?? [];
  const status = fields.includes("status")
    ? numberIn(draft.status, "The status", { min: 300, max: 599, whole: true })
    : undefined;
  const delay = fields.includes("delay")
    ? numberIn(draft.delay, "The delay", { min: 0.001, max: 86_400 })
    : undefined;
  const wait = fields.includes("retryAfter")
    ? numberIn(draft.retryAfter, "Retry-After", { min: 0, max: 86_400, whole: true })
    : undefined;
  if (fields.includes("delay") && delay === undefined) throw new Error("Say how late, in seconds.");
  const share = numberIn(draft.share, "The share", { min: 0.1, max: 100 });
  const times = numberIn(draft.times, "How many", { min: 1, max: 1_000_000, whole: true });
  const fault = {
    mode: draft.mode,
    ...(status === undefined ? {} : { status }),
    ...(delay === undefined ? {} : { [delayNames[target]]: Math.round(delay * 1_000) }),
    ...(wait === undefined ? {} : { retryAfterSeconds: wait }),
    ...(target === "api" ? { match: draft.match } : {}),
    ...(share === undefined || share === 100 ? {} : { rate: share / 100 }),
    ...(times === undefined ? {} : { times }),
  };
  // The modes of a target are those that the platform takes for it.
  return { [target]: fault } as FaultsChange;
}

/** What a delay is called; requests have none. */
const delayNames: Readonly<Record<Target, string>> = {
  webhook: "delayMs",
  events: "lateMs",
  api: "delayMs",
};

interface Range {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
}

function numberIn(typed: string, name: string, { min, max, whole = false }: Range) {
  if (typed.trim() === "") return undefined;
  const value = Number(typed);
  if (value >= min && value <= max && (!whole || Number.isInteger(value))) return value;
  throw new Error(`${name} must be a ${whole ? "whole " : ""}number from ${min} to ${max}.`);
}

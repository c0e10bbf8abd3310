import { hasCode } from "../../errors.ts";
import type { InboxAdmin } from "../../inbox/admin.ts";
import type { EventDetails } from "../../inbox/records.ts";
import { print, printJson } from "../output.ts";
import { grouped } from "../text.ts";
import { nameOf } from "./action.ts";
import { eventTable } from "./list.ts";

/** So many are shown; --json has all ids. */
const SHOWN = 20;

interface Intention {
  readonly state: "dead" | "pending";
  /** What would become of them. */
  readonly verb: string;
  readonly json: boolean;
}

/** Tells which events a decision would be about. Changes nothing. */
export async function dryRun(
  admin: InboxAdmin,
  ids: readonly string[],
  { state, verb, json }: Intention,
): Promise<number> {
  if (json) {
    printJson({ dryRun: true, chosen: ids.length, ids });
    return 0;
  }
  if (ids.length === 0) {
    print(`No ${nameOf(state, 2)} to choose from.`);
    return 0;
  }
  const events: EventDetails[] = [];
  for (const id of ids.slice(0, SHOWN)) {
    const event = await find(admin, id);
    if (event !== undefined) events.push(event);
  }
  print(eventTable(events));
  if (ids.length > SHOWN) print(`and ${grouped(ids.length - SHOWN)} more`);
  const n = ids.length;
  print(`\nwould be ${verb}: ${grouped(n)} ${nameOf(state, n)}; nothing was changed`);
  return 0;
}

/** Undefined where it is gone meanwhile, or never was. */
async function find(admin: InboxAdmin, id: string): Promise<EventDetails | undefined> {
  try {
    return await admin.show(id);
  } catch (error) {
    if (hasCode(error, "EVENT_NOT_FOUND")) return undefined;
    throw error;
  }
}

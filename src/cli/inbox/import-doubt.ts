import type { AttachedInbox } from "../../inbox/attached.ts";
import { mayBeInDoubt, type RestoreMark } from "../../inbox/restored.ts";
import type { WholeEvent } from "../../inbox/transfer.ts";
import { CommandError } from "../usage.ts";

/** What an export says of the restore of its inbox. */
export interface Doubt {
  readonly restored: RestoreMark | undefined;
  /** How many of its events may have been handled before that, and may run again. */
  readonly doubtful: number;
}

/** Whether an event may run, and may have been handled before the restore of its inbox. */
export function isInDoubt(
  { state, body }: Pick<WholeEvent, "state" | "body">,
  restored: RestoreMark | undefined,
): boolean {
  if (restored === undefined || body === undefined) return false;
  if (state !== "pending" && state !== "dead") return false;
  return mayBeInDoubt(restored, createdAtOf(body));
}

function createdAtOf(body: string): unknown {
  try {
    const event: unknown = JSON.parse(body);
    return typeof event === "object" && event !== null && "createdAt" in event
      ? event.createdAt
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Marks the inbox as one whose events are in doubt, before they come. A bot that runs would not notice.
 *
 * @throws {CommandError} while a bot uses the inbox
 */
export async function takeDoubt(
  { transfer, served }: Pick<AttachedInbox, "transfer" | "served">,
  { restored, doubtful }: Doubt,
): Promise<void> {
  if (restored === undefined || doubtful === 0) return;
  const refuseServed = async () => {
    if (await served()) throw inUse(doubtful);
  };
  await refuseServed();
  await transfer.takeMark(restored);
  // One that has begun in between may have read what was there before.
  await refuseServed();
}

function inUse(doubtful: number): CommandError {
  return new CommandError(
    `The inbox that these events are from was restored from a backup, and nobody knows whether ${doubtful} of them were handled ` +
      "before. A bot learns of that at its start: stop it, import, and start it again. Nothing was imported.",
  );
}

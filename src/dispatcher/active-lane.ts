import type { Linked } from "../core/churn.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Claim } from "../inbox/inbox.ts";
import type { Abort } from "./abort.ts";
import type { ClaimedEvent } from "./recent-events.ts";

/** A lane that is being worked on, with the event whose turn it is. */
export class ActiveLane implements Linked<ActiveLane>, ClaimedEvent {
  previous: ActiveLane | undefined;
  next: ActiveLane | undefined;
  claim: Claim;
  event: AnyEvent | undefined;
  /** Aborts the current run. */
  abort: Abort;
  /** True if the event occupies one of its type's slots. */
  hasSlot: boolean;
  /** Time when the lane was claimed, on the dispatcher's clock. */
  readonly since: number;
  /** Resolves when the lane is no longer worked on. */
  ended: Promise<void> | undefined;

  constructor(claim: Claim, abort: Abort, hasSlot: boolean, since: number) {
    this.claim = claim;
    this.abort = abort;
    this.hasSlot = hasSlot;
    this.since = since;
  }
}

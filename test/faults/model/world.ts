import type { AsyncCommand } from "fast-check";
import type { Claim, Inbox } from "../../faces/inbox.ts";
import type { ManualClock } from "../../faces/testing.ts";
import type { InboxModel } from "./inbox-model.ts";

/** One store under test, empty at first. */
export interface Store {
  readonly inbox: Inbox;
  /** Opens it anew, as the process does that comes after one that died. */
  reopen(): Promise<void>;
  /** Makes a lane idle although it has pending events: what a lost wake-up would leave behind. */
  strand(lane: string): Promise<void>;
  close(): Promise<void>;
}

/** What an implementation of the inbox gives to be tested against the model. */
export type OpenStore = (options: {
  readonly clock: ManualClock;
  readonly maxBacklog: number;
}) => Promise<Store>;

/** The real thing, beside the model. */
export interface World {
  readonly store: Store;
  readonly clock: ManualClock;
  /** As they were given out; the index is the claim's number in the model. */
  readonly claims: Claim[];
  /** The store's names for the versions of the model. */
  readonly versions: Map<number, string>;
  /** How many commands were executed. */
  executed: number;
}

/** One random act: does it to both, and throws when they differ. */
export type Command = AsyncCommand<InboxModel, World>;

/** @param text how the act is shown in the report of a failure */
export function command(
  text: string,
  run: (model: InboxModel, world: World) => Promise<void>,
  applies: (model: Readonly<InboxModel>) => boolean = () => true,
): Command {
  return {
    check: applies,
    run: (model, world) => {
      world.executed += 1;
      return run(model, world);
    },
    toString: () => text,
  };
}

/** An act on a claim: one of the newest, which may have lost its lease long ago. */
export function onClaim(
  back: number,
  text: string,
  run: (
    claim: { readonly n: number; readonly real: Claim },
    model: InboxModel,
    world: World,
  ) => Promise<void>,
): Command {
  const pick = ({ claims }: Readonly<InboxModel>) =>
    claims.length - 1 - (back % Math.max(claims.length, 1));
  return command(
    `${text} of claim -${back}`,
    async (model, world) => {
      const n = pick(model);
      const real = world.claims[n];
      if (real === undefined) throw new Error(`the store never gave claim ${n}`);
      await run({ n, real }, model, world);
    },
    (model) => pick(model) >= 0,
  );
}

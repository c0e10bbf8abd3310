import type { AsyncCommand } from "fast-check";
import type { Claim, Inbox } from "../../faces/inbox.ts";
import type { ManualClock } from "../../faces/testing.ts";
import type { InboxModel } from "./inbox-model.ts";

export interface Store {
  readonly inbox: Inbox;
  reopen(): Promise<void>;
  /** Makes a lane idle although it has pending events, as a lost wake-up would. */
  strand(lane: string): Promise<void>;
  close(): Promise<void>;
}

export type OpenStore = (options: {
  readonly clock: ManualClock;
  readonly maxBacklog: number;
}) => Promise<Store>;

/** A store and the claims on it, which a run of commands compares with the model. */
export interface Trial {
  readonly store: Store;
  readonly clock: ManualClock;
  /** All claims. The index is the claim's number in the model. */
  readonly claims: Claim[];
  readonly versions: Map<number, string>;
  executed: number;
}

/** A random command that runs on both the model and the store, and throws if they differ. */
export type Command = AsyncCommand<InboxModel, Trial>;

/** @param text describes the command in a failure report */
export function command(
  text: string,
  run: (model: InboxModel, trial: Trial) => Promise<void>,
  applies: (model: Readonly<InboxModel>) => boolean = () => true,
): Command {
  return {
    check: applies,
    run: (model, trial) => {
      trial.executed += 1;
      return run(model, trial);
    },
    toString: () => text,
  };
}

/** Builds a command that uses one of the newest claims. The claim may have lost its lease long ago. */
export function onClaim(
  back: number,
  text: string,
  run: (
    claim: { readonly n: number; readonly real: Claim },
    model: InboxModel,
    trial: Trial,
  ) => Promise<void>,
): Command {
  const pick = ({ claims }: Readonly<InboxModel>) =>
    claims.length - 1 - (back % Math.max(claims.length, 1));
  return command(
    `${text} of claim -${back}`,
    async (model, trial) => {
      const n = pick(model);
      const real = trial.claims[n];
      if (real === undefined) throw new Error(`the store never returned claim ${n}`);
      await run({ n, real }, model, trial);
    },
    (model) => pick(model) >= 0,
  );
}

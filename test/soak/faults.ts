import { setTimeout as wait } from "node:timers/promises";
import type { Child } from "../../bench/harness/child.ts";
import type { ControlClient } from "../faces/cli.ts";
import type { Span } from "./plan.ts";
import type { Reader } from "./reader.ts";

/** What is asked of the platform, each as often as needed. */
export type Ask = (what: (control: ControlClient) => Promise<unknown>) => Promise<void>;

export interface Target {
  readonly ask: Ask;
  readonly botPid: number;
  readonly reader: Child<Reader>;
  readonly databaseFile: string;
}

/** How long a slow platform may hold a request, in milliseconds. */
const HOLD_MS = 1_500;

const ATTEMPTS = 10;
const PAUSE_MS = 500;

/** Does to the bot what a span says until `over` resolves, and puts it right again. */
export async function inflict(
  kind: Span["kind"],
  over: Promise<void>,
  target: Target,
): Promise<void> {
  const { ask, botPid, reader, databaseFile } = target;
  switch (kind) {
    case "api":
      await ask((control) => control.setFaults({ api: { mode: "mix", rate: 0.2 } }));
      await over;
      await ask((control) => control.setFaults({ api: { mode: "none" } }));
      return;
    case "slow":
      await slow(ask, over);
      return;
    case "webhook off":
      await ask((control) => control.saveWebhook({ enabled: false }));
      await over;
      await ask((control) => control.saveWebhook({ enabled: true }));
      return;
    case "stopped":
      process.kill(botPid, "SIGSTOP");
      // Also where the load fails: a process that stands still cannot be told to end.
      await over.finally(() => process.kill(botPid, "SIGCONT"));
      return;
    case "pinned reader":
      await reader.call("pin", databaseFile);
      await over;
      await reader.call("release");
  }
}

/** Requests and deliveries take their time. A new fault lets go of what the one before has held. */
async function slow(ask: Ask, over: Promise<void>): Promise<void> {
  let ended = false;
  const end = over.then(() => {
    ended = true;
  });
  await ask((control) =>
    control.setFaults({ webhook: { mode: "delay", delayMs: HOLD_MS, rate: 0.5 } }),
  );
  while (!ended) {
    await ask((control) => control.setFaults({ api: { mode: "hold", match: "all", rate: 0.3 } }));
    await Promise.race([wait(HOLD_MS), end]);
  }
  await ask((control) => control.setFaults({ api: { mode: "none" }, webhook: { mode: "none" } }));
}

/** Tries again what has come to nothing, for a run of hours must not end with a connection. */
export function insisting(control: ControlClient): Ask {
  return async (what) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await what(control);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
        await wait(PAUSE_MS);
      }
    }
  };
}

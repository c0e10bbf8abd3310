import type { Config } from "../faces/bot.ts";
import type { Inbox } from "../faces/inbox.ts";
import type { GaugeSources } from "../faces/observe.ts";
import { ManualClock } from "../faces/testing.ts";

const config: GaugeSources["config"] = {
  apiKey: "for-tests-only",
  webhookSecrets: ["whsec_of_this_test"],
  delivery: "webhook",
  database: { kind: "sqlite", file: "bot.db" },
  concurrency: 16,
  pollIntervalMs: 4_000,
  auditIntervalMs: 60_000,
};

/** Returns the sources of an idle bot that never reads the event log. */
export function gaugeSources(
  inbox: Pick<Inbox, "measure" | "shared">,
  {
    config: settings,
    ...sources
  }: Partial<Omit<GaugeSources, "config">> & { readonly config?: Partial<Config> } = {},
): GaugeSources & { isReady(): Promise<boolean> } {
  const clock = new ManualClock(1_800_000_000_000);
  return {
    ...{ clock, wall: clock, startedAt: clock.now() },
    isReady: async () => true,
    isStarted: () => true,
    receiver: { lastDeliveryAt: undefined, secret: undefined, refused: 0, lastRefusal: undefined },
    earlier: { lastDeliveryAt: undefined },
    poller: undefined,
    dispatcher: { running: 0 },
    client: { requests: undefined, circuits: [], platformNow: () => undefined },
    storeHealth: { failure: undefined },
    loopGuard: undefined,
    inbox: { problem: undefined, capabilities: { guardsDisk: false }, ...inbox },
    config: { ...config, ...settings },
    ...sources,
  };
}

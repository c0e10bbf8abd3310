import { emitKeypressEvents } from "node:readline";
import { messageOf } from "../../errors.ts";
import type { EventType } from "../../events/types.ts";
import type { Platform } from "../../platform/index.ts";

/** What the keys do, as shown at the start. */
export const KEYS =
  "o open  d dm  m mention  l like  r replay  f fail next  w webhook on/off  q quit";

export interface KeyOptions {
  readonly platform: Platform;
  readonly say: (line: string) => void;
  readonly quit: () => void;
  /** Opens an address in the browser; false where that fails. */
  readonly open: (url: string) => Promise<boolean>;
}

/** Listens to single keys while standard input is a terminal. Returns what ends that. */
export function listenToKeys(options: KeyOptions): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const onKey = (_text: string | undefined, key: { name?: string; ctrl?: boolean }) => {
    press(key.ctrl && key.name === "c" ? "q" : (key.name ?? ""), options).catch((error: unknown) =>
      options.say(messageOf(error)),
    );
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on("keypress", onKey);
  return () => {
    stdin.off("keypress", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
}

const acts: Readonly<Record<string, { readonly type: EventType; readonly text?: string }>> = {
  d: { type: "dm.message", text: "hello" },
  m: { type: "mention" },
  l: { type: "like" },
};

/** Exported for tests. */
export async function press(key: string, { platform, say, quit, open }: KeyOptions): Promise<void> {
  const { control } = platform;
  const act = acts[key];
  if (act !== undefined) control.act({ ...act, from: "ada" });
  else if (key === "q") quit();
  else if (key === "f") control.setFaults({ webhook: { mode: "status", times: 1 } });
  else if (key === "w") control.saveWebhook({ enabled: !control.webhook.enabled });
  else if (key === "r") await replay(platform, say);
  else if (key === "o" && !(await open(platform.portalUrl))) {
    say(`No browser can be opened from here. The portal is at ${platform.portalUrl}`);
  }
}

/** Sends the newest event again, as a platform does whose acknowledgement was lost. */
async function replay({ control }: Platform, say: KeyOptions["say"]): Promise<void> {
  const { lastEventId } = control.state();
  if (lastEventId === null) {
    say("Nothing to replay yet: press d first.");
    return;
  }
  await control.deliver({ eventIds: [lastEventId] });
}

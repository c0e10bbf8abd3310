import { spawn } from "node:child_process";
import { messageOf } from "../../errors.ts";
import type { EventType } from "../../events/types.ts";
import type { Platform } from "../../platform/index.ts";
import { type KeyCommand, KeyInput } from "./key-input.ts";

/** The keys and what they do, as shown at the start and by `?`. */
export const KEYS =
  "o open  d dm  m mention  l like  r replay  f fail next  w webhook on/off  ? keys  q quit";

export interface KeyOptions {
  readonly platform: Platform;
  readonly say: (line: string) => void;
  readonly quit: () => void;
  /** Opens an address in the browser. Resolves to false if that fails. */
  readonly open: (url: string) => Promise<boolean>;
  /** Clears the screen. */
  readonly clear: () => void;
  /** Shows the line in which a text is typed; `undefined` removes it. */
  readonly showLine: (line: string | undefined) => void;
}

/** Listens to keys while standard input is a terminal. Returns a function that ends it. */
export function listenToKeys(options: KeyOptions): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const input = new KeyInput({
    needsConfirmation: (key) => effectToConfirm(key, options.platform),
  });
  const onData = (chunk: string) => {
    const commands = input.take(chunk, performance.now());
    options.showLine(input.line);
    for (const command of commands) {
      perform(command, options).catch((error: unknown) => options.say(messageOf(error)));
    }
  };
  stdin.setEncoding("utf8");
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on("data", onData);
  return () => {
    options.showLine(undefined);
    stdin.off("data", onData);
    stdin.setRawMode(false);
    stdin.pause();
  };
}

/** Returns the effect of a key that disturbs the bot; `undefined` for a key that acts at once. */
export function effectToConfirm(key: string, { control }: Platform): string | undefined {
  if (key === "f") return "let the next delivery fail";
  return key === "w" && control.webhook.enabled ? "switch the webhook off" : undefined;
}

const written: Readonly<Record<string, EventType>> = { d: "dm.message", m: "mention" };

/** Carries out a command of the user. */
export async function perform(command: KeyCommand, options: KeyOptions): Promise<void> {
  switch (command.kind) {
    case "press":
      return await press(command.key, options);
    case "send": {
      const type = written[command.key];
      if (type === undefined) return;
      options.platform.control.act({ type, from: "ada", text: command.text });
      return;
    }
    case "say":
      return options.say(command.text);
    case "clear":
      return options.clear();
    case "quit":
      return options.quit();
  }
}

async function press(key: string, { platform, say, quit, open }: KeyOptions): Promise<void> {
  const { control } = platform;
  if (key === "l") control.act({ type: "like", from: "ada" });
  else if (key === "q") quit();
  else if (key === "?" || key === "h") say(KEYS);
  else if (key === "f") control.setFaults({ webhook: { mode: "status", times: 1 } });
  else if (key === "w") control.saveWebhook({ enabled: !control.webhook.enabled });
  else if (key === "r") await replay(platform, say);
  else if (key === "o" && !(await open(platform.portalUrl))) {
    say(`No browser can be opened from here. The portal is at ${platform.portalUrl}`);
  }
}

/** Sends the newest event again, as a platform does that has lost the acknowledgement. */
async function replay({ control }: Platform, say: KeyOptions["say"]): Promise<void> {
  const { lastEventId } = control.state();
  if (lastEventId === null) {
    say("Nothing to replay yet: press d first.");
    return;
  }
  await control.deliver({ eventIds: [lastEventId] });
}

/** The program that opens an address, by system. Others have `xdg-open`. */
const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // `start` is a word of the shell, and takes its first quoted argument for the title of a window.
  win32: ["cmd", "/c", "start", ""],
};

/** Opens an address in the browser. Resolves to false where that fails, and to true once the opener has ended well. */
export function openInBrowser(
  url: string,
  system: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const [command, ...args] = openers[system] ?? ["xdg-open"];
  return new Promise((resolve) => {
    // Detached: the browser may be a child of the opener, and stays when this ends.
    const child = spawn(command, [...args, url], { stdio: "ignore", detached: true, env });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    child.unref();
  });
}

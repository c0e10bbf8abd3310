import { spawn } from "node:child_process";
import { messageOf } from "../../errors.ts";
import type { EventType } from "../../events/types.ts";
import type { Platform } from "../../platform/index.ts";

/** Time in ms within which a key after another one belongs to a word, which was meant for another window. */
const WORD_MS = 300;

/** Time in ms within which a second press confirms. */
const CONFIRM_MS = 5_000;

const ESCAPE = "\u001b";

/** Keys that ask for a text, with the words before it. */
const prompts: Readonly<Record<string, string>> = { d: "dm as @ada", m: "mention as @ada" };

/** Something that a user asks for with keys. */
export type KeyCommand =
  | { readonly kind: "press"; readonly key: string }
  | { readonly kind: "send"; readonly key: string; readonly text: string }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "clear" }
  | { readonly kind: "quit" };

export interface KeyInputOptions {
  /** Returns what a key does, if it is to be pressed twice; otherwise `undefined`. */
  readonly needsConfirmation: (key: string) => string | undefined;
}

/**
 * Turns what a terminal sends into commands. Single printable keys act. A word or a pasted text does not, because it was
 * most likely meant for another window; nor do control characters, Ctrl-C and Ctrl-L apart.
 */
export class KeyInput {
  readonly #options: KeyInputOptions;
  #prompt: { readonly key: string; text: string } | undefined;
  /** Time of the last key, in ms. */
  #lastAt = Number.NEGATIVE_INFINITY;
  #isWordReported = false;
  #unconfirmed: { readonly key: string; readonly at: number } | undefined;

  constructor(options: KeyInputOptions) {
    this.#options = options;
  }

  /** The line in which a text is typed; `undefined` while single keys act. */
  get line(): string | undefined {
    if (this.#prompt === undefined) return undefined;
    const { key, text } = this.#prompt;
    return `${prompts[key]} (Enter sends, Esc cancels): ${text}`;
  }

  /** @param now time in ms, on any clock */
  take(chunk: string, now: number): readonly KeyCommand[] {
    if (chunk.includes("\u0003")) return [{ kind: "quit" }];
    const lastAt = this.#lastAt;
    this.#lastAt = now;
    if (this.#prompt !== undefined) return this.#takeText(chunk, this.#prompt);
    if (chunk === "\f") return [{ kind: "clear" }];
    // One control character, or the sequence of a key such as an arrow.
    if (/^\p{Cc}$/u.test(chunk) || chunk.startsWith(ESCAPE)) return [];
    const { key: unconfirmed, at = 0 } = this.#unconfirmed ?? {};
    this.#unconfirmed = undefined;
    const isConfirmed = chunk === unconfirmed && now - at <= CONFIRM_MS;
    const isWord = Array.from(chunk).length > 1 || now - lastAt < WORD_MS;
    if (isWord && !isConfirmed) return this.#refuseWord();
    this.#isWordReported = false;
    return this.#takeKey(chunk, isConfirmed, now);
  }

  #takeKey(key: string, isConfirmed: boolean, now: number): readonly KeyCommand[] {
    if (Object.hasOwn(prompts, key)) {
      this.#prompt = { key, text: "" };
      return [];
    }
    const effect = isConfirmed ? undefined : this.#options.needsConfirmation(key);
    if (effect === undefined) return [{ kind: "press", key }];
    this.#unconfirmed = { key, at: now };
    return [{ kind: "say", text: `Press ${key} again to ${effect}.` }];
  }

  /** Says so once for each word. */
  #refuseWord(): readonly KeyCommand[] {
    if (this.#isWordReported) return [];
    this.#isWordReported = true;
    return [
      {
        kind: "say",
        text: "Ignored: more than one key at once. d writes a message, ? shows the keys.",
      },
    ];
  }

  #takeText(chunk: string, prompt: { readonly key: string; text: string }): readonly KeyCommand[] {
    const isEscape = chunk === ESCAPE;
    // Arrows and other keys that send a sequence.
    if (chunk.startsWith(ESCAPE) && !isEscape) return [];
    const isEnd = isEscape || /[\r\n]$/.test(chunk);
    // A pasted text of several lines is one message.
    for (const character of isEscape ? "" : chunk.replace(/[\r\n]+$/, "")) {
      prompt.text = edited(prompt.text, character);
    }
    if (!isEnd) return [];
    this.#prompt = undefined;
    const text = prompt.text.trim();
    if (isEscape || text === "") return [{ kind: "say", text: "Cancelled." }];
    return [{ kind: "send", key: prompt.key, text }];
  }
}

/** Returns a line after one more character: Backspace and Ctrl-U delete, other control characters become a space or go. */
function edited(text: string, character: string): string {
  if (character === "\u007f" || character === "\b") return Array.from(text).slice(0, -1).join("");
  if (character === "\u0015") return "";
  if (/[\r\n\t]/.test(character)) return `${text} `;
  return /\p{Cc}/u.test(character) ? text : text + character;
}

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
